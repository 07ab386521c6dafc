"""Shell builtins and small programs that compute, print or wait; and what prints the environment.

Which forms of env, set, export and declare print values was measured with a canary variable in bash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import Context, Description
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import acts, aimed, executes, filters, neutral, program, silent

_DUMP: Final = Description(known=True, operations=(Operation.ENVIRONMENT_READ,))


def _env(parsed: Parsed, _context: Context) -> Description:
    """env without a command prints everything it has; -i leaves nothing but what is assigned."""
    commands = [word for word in parsed.operands if "=" not in word.value]
    if commands or (parsed.has("split-string") and parsed.text("split-string").strip()):
        return Description(known=True, operations=(Operation.EXECUTE,), details=("child-command",))
    return Description(known=True) if parsed.has("ignore-environment") or "-" in _texts(parsed) else _DUMP


def _texts(parsed: Parsed) -> list[str]:
    return [word.value for word in parsed.words]


_SECRET_NAME: Final = re.compile(
    r"TOKEN|SECRET|PASS|KEY|CRED|AUTH|COOKIE|SESSION|PRIVATE|DSN|DATABASE_URL|_PAT\b|\0", re.IGNORECASE
)


def _names_secret(parsed: Parsed) -> bool:
    """Whether a name among the operands is one of a secret, or not known."""
    return any(_SECRET_NAME.search(word.value) for word in parsed.operands)


def _printenv(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True) if parsed.operands and not _names_secret(parsed) else _DUMP


def prints_environment(words: Sequence[Argument]) -> bool:
    """Whether a command prints an environment: `env` alone, `printenv` of more than plain names."""
    name, rest = (words[0].value.rpartition("/")[2], words[1:]) if words else ("", ())
    if name == "printenv":
        return not rest or any(_SECRET_NAME.search(word.value) for word in rest)
    return name == "env" and all("=" in word.value or word.value.startswith("-") for word in rest)


def _set(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, writes_stdout=False) if parsed.words else _DUMP


def _export(parsed: Parsed, _context: Context) -> Description:
    names = [word for word in parsed.operands if not word.value.startswith("-")]
    if names or parsed.has("n", "f"):
        return Description(known=True, writes_stdout=False)
    return _DUMP


def _declare(parsed: Parsed, _context: Context) -> Description:
    """declare prints values bare, with -p, or with attributes alone; -f and -F print functions."""
    if parsed.has("f", "F"):
        return Description(known=True)
    if not parsed.operands and not parsed.has("i", "a", "A", "r", "n", "l", "u"):
        return _DUMP
    if parsed.has("p") and parsed.operands:
        return _DUMP if _names_secret(parsed) else Description(known=True)
    return Description(known=True, writes_stdout=False)


def _history(parsed: Parsed, _context: Context) -> Description:
    if parsed.has("c", "d", "w", "r") or any(word.value == "clear" for word in parsed.operands):
        return Description(known=True, operations=(Operation.CONFIG_CHANGE,), details=("history-tamper",))
    return Description(known=True, operations=(Operation.READ,))


def _unset(parsed: Parsed, _context: Context) -> Description:
    tampers = any(word.value in ("HISTFILE", "HISTSIZE", "HISTCONTROL") for word in parsed.operands)
    return Description(known=True, details=("history-tamper",) if tampers else (), writes_stdout=False)


def _cd(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, targets=aimed(Access.METADATA, parsed.operands[:1]), writes_stdout=False)


def _test(parsed: Parsed, _context: Context) -> Description:
    """test and [: only file tests touch the disk, and only its metadata."""
    words = parsed.words
    tested = [
        words[at + 1]
        for at, word in enumerate(words[:-1])
        if word.value in _FILE_TESTS and words[at + 1].value not in ("]", "-a", "-o", "=")
    ]
    return Description(known=True, targets=aimed(Access.METADATA, tested), writes_stdout=False)


_FILE_TESTS: Final = frozenset(f"-{letter}" for letter in "bcdefghkprsuwxGLNOS")


def _alias(parsed: Parsed, _context: Context) -> Description:
    sets = any("=" in word.value for word in parsed.operands)
    return Description(known=True, operations=(Operation.CONFIG_CHANGE,) if sets else ())


def _trap(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, operations=(Operation.EXECUTE,), details=("child-command",))


def _mapfile(parsed: Parsed, _context: Context) -> Description:
    return Description(known=True, reads_stdin=True, writes_stdout=False)


def _names(parsed: Parsed, _context: Context) -> Description:
    """compgen and which: print names."""
    return Description(known=True, details=("names-only",))


PROGRAMS: Final = (
    program(
        "env genv",
        "i,ignore-environment 0,null u,unset= C,chdir= S,split-string= v,debug block-signal? default-signal? "
        "ignore-signal? list-signal-handling P= a,argv0=",
        _env,
        {
            "env": "environment_read",
            "env -0": "environment_read",
            "env A=1": "environment_read",
            "env -u X": "environment_read",
            "env -i": "",
            "env -i A=1": "",
            "env A=1 make": "execute +child-command",
            "env -S 'make x'": "execute +child-command",
            "env --help": "preview",
        },
        style=Style.LEADING,
    ),
    program(
        "printenv gprintenv",
        "0,null",
        _printenv,
        {
            "printenv": "environment_read",
            "printenv HOME": "",
            "printenv API_TOKEN": "environment_read",
            "printenv HOME DB_PASSWORD": "environment_read",
            "printenv $X": "environment_read",
            "printenv --version": "preview",
        },
    ),
    program(
        "set",
        "~",
        _set,
        {"set": "environment_read", "set -e": ">none", "set -- a b": ">none", "set +o": ">none"},
        previews="",
    ),
    program(
        "export",
        "p n f",
        _export,
        {
            "export": "environment_read",
            "export -p": "environment_read",
            "export A=1": ">none",
            "export -n A": ">none",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "declare typeset",
        "p x f F i a A r n l u g t I",
        _declare,
        {
            "declare": "environment_read",
            "declare -p": "environment_read",
            "declare -x": "environment_read",
            "declare -px A": "",
            "declare -p API_TOKEN": "environment_read",
            "declare -x A=1": ">none",
            "declare -f": "",
            "declare -i n": ">none",
        },
        style=Style.LEADING,
        previews="",
    ),
    program(
        "local readonly",
        "p f a A r x i n l u g",
        silent,
        {"local a=1": ">none", "readonly -p": ">none"},
        previews="",
    ),
    program(
        "history fc",
        "~ c d= a n r w p s e= l",
        _history,
        {
            "history": "read",
            "history -c": "config_change +history-tamper",
            "history -d 5": "config_change +history-tamper",
            "history 20": "read",
        },
        previews="",
    ),
    program(
        "unset", "f v n", _unset, {"unset A": ">none", "unset HISTFILE": "+history-tamper >none"}, previews=""
    ),
    program(
        "echo gecho printf gprintf",
        "~",
        neutral,
        {"echo a b": "", "echo -n -- --help": "", "printf %s a": ""},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "cd pushd popd dirs chdir z zoxide",
        "L P e n l p v",
        _cd,
        {"cd a": "metadata:a >none", "cd": ">none", "cd -": ">none", "popd": ">none"},
        previews="",
    ),
    program(
        "test [",
        "~",
        _test,
        {"test -f a": "metadata:a >none", "[ -d a -a x = y ]": "metadata:a >none", "test x = y": ">none"},
        previews="",
    ),
    program("[[", "~", _test, {"[[ -e a ]]": "metadata:a >none"}, previews=""),
    program(
        "true false : exit return break continue shift wait getopts let ulimit umask shopt bind enable "
        "disown fg bg jobs hash "
        "times suspend logout caller complete compopt builtin coproc setopt unsetopt autoload zmodload "
        "emulate zstyle compinit",
        "~",
        silent,
        {"true": ">none", ": ": ">none", "shopt -s globstar": ">none", "exit 1": ">none"},
        previews="",
    ),
    program("alias unalias", "p a", _alias, {"alias": "", "alias g=git": "config_change"}, previews=""),
    program("trap", "l p", _trap, {"trap 'rm x' EXIT": "execute +child-command"}, previews=""),
    program("eval", "", executes, {"eval x": "execute"}, style=Style.LEADING, previews=""),
    program(
        "read mapfile readarray",
        "~ a= d= i= n= N= p= t= u= O= s= c= C=",
        _mapfile,
        {"read -r a": "<stdin >none", "mapfile -t a": "<stdin >none"},
        previews="",
    ),
    program(
        "type which whence where whereis compgen",
        "~ A= G= W= P= S= X= C= F=",
        _names,
        {"which ls": "+names-only", "compgen -v": "+names-only"},
        previews="",
    ),
    program(
        "command",
        "p v V",
        lambda parsed, context: (
            Description(known=True, details=("names-only",))
            if parsed.has("v", "V")
            else executes(parsed, context)
        ),
        {"command -v git": "+names-only", "command ls": "execute"},
        style=Style.LEADING,
        previews="",
    ),
    program(
        "sleep gsleep usleep yes gyes seq gseq jot shuf gshuf numfmt factor expr gexpr bc dc cal ncal "
        "date gdate basename "
        "gbasename dirname gdirname pwd gpwd clear reset tput tty stty locale getconf nproc arch "
        "pathchk tsort  cowsay "
        "figlet banner fortune sl cmatrix lolcat uuidgen mcookie pwgen apg units",
        "# ~ d,date= f,file= s,set= r,reference= a,multiple suffix= n,count= w=",
        neutral,
        {"sleep 1": "", "date +%F": "", "seq 1 10": "", "basename a/b .c": "", "expr 1 + 2": ""},
    ),
    program(
        "whoami gwhoami id gid groups who w users last lastb lastlog finger logname uname guname "
        "hostname hostid uptime "
        "arch_ lscpu lsmem lspci lsusb lsmod lshw dmidecode sw_vers system_profiler free vmstat iostat "
        "mpstat sar nvidia-smi "
        "sensors acpi timedatectl locale-gen  lsb_release neofetch fastfetch screenfetch inxi getfacl "
        "lsattr getcap "
        "ipcs quota modinfo",
        "~ c= d= n= s= u= b= t=",
        neutral,
        {"whoami": "", "uname -a": "", "free -h": "", "id -u me": ""},
    ),
    program(
        "xclip xsel pbcopy wl-copy clip",
        "~ selection= i o d= t=",
        filters,
        {"pbcopy": "<stdin", "xclip -selection clip": "<stdin"},
    ),
    program("pbpaste wl-paste", "~", neutral, {"pbpaste": ""}),
    program(
        "script asciinema tmux screen zellij",
        "~ c,command= S= L= t= f= n= s=",
        executes,
        {"tmux ls": "execute", "screen -r x": "execute"},
    ),
    program(
        "logger wall write notify-send terminal-notifier say open xdg-open start",
        "~ t= p= f= a= u=",
        acts(Operation.EXECUTE),
        {"logger x": "execute", "open .": "execute"},
    ),
)
