"""Interpreters: a script operand is executed, code in an argument is read, stdin is a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Effect, Operation
from latchd.shell.grammar.description import PREVIEW, Context, Description, Target, merge, unique
from latchd.shell.grammar.inline import inline
from latchd.shell.grammar.options import Parsed, Style
from latchd.shell.grammar.program import Judge, program
from latchd.shell.grammar.removals import removals

_STDIN: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def run_child(words: Sequence[str]) -> Description:
    """A command that inline code starts, described by the same tables."""
    from latchd.shell.grammar.registry import describe  # the tables contain this module

    if not words:
        return Description(known=True, operations=(Operation.EXECUTE,))
    program_word = words[0].rpartition("/")[2]
    arguments = tuple(Argument(value=word, expands="\0" in word) for word in words[1:])
    described = describe(program_word, arguments, Context(cwd="", home=""))
    return msgspec.structs.replace(
        described,
        known=True,
        operations=unique((Operation.EXECUTE, *described.operations)),
        details=tuple(dict.fromkeys((*described.details, "child-command"))),
    )


def from_stdin(context: Context) -> Description:
    """No script: a program that comes through a pipe, or a prompt that nobody answers."""
    if context.piped:
        return Description(known=True, operations=(Operation.EXECUTE, Operation.RUN_INPUT), reads_stdin=True)
    return Description(
        known=True, operations=(Operation.EXECUTE,), details=("interactive",), reads_stdin=True
    )


def runs_script(script: Argument) -> Description:
    return Description(
        known=True,
        operations=(Operation.EXECUTE,),
        targets=(Target(Access.EXECUTE, script),),
        details=("script",),
    )


def _shells(parsed: Parsed, context: Context) -> Description:
    if parsed.has("c"):
        opaque = not parsed.operands or "\0" in parsed.operands[0].value
        return Description(
            known=True,
            effect=Effect.PREVIEW if parsed.has("n") else Effect.EXECUTE,
            operations=(Operation.EXECUTE,),
            details=("inline-code", *(("opaque-code",) if opaque else ())),
            reads_stdin=context.piped,
        )
    if parsed.has("n"):
        return PREVIEW
    if parsed.has("s") or not parsed.operands or parsed.operands[0].value in _STDIN:
        return from_stdin(context)
    return merge(runs_script(parsed.operands[0]), *_startup(parsed))


def _startup(parsed: Parsed) -> tuple[Description, ...]:
    return tuple(runs_script(word) for word in parsed.values("rcfile", "init-file"))


def interpreter(language: str, code: str, *, check: str = "", module: str = "", preload: str = "") -> Judge:
    """A judge by option names: ``code`` holds programs, ``check`` only parses, ``preload`` runs files."""

    def judge(parsed: Parsed, context: Context) -> Description:
        programs = parsed.values(*code.split())
        loaded = tuple(runs_script(word) for word in parsed.values(*preload.split())) if preload else ()
        if check and parsed.has(*check.split()):
            return PREVIEW
        if programs:
            read = (part for word in programs for part in _read(language, word))
            return _with_files(parsed, merge(*read, *loaded, *_perl_modules(parsed)))
        if module and (name := parsed.value(module)) is not None:
            return _module(name, parsed, context)
        if language == "node" and parsed.operands and parsed.operands[0].value in ("eval", "run", "test"):
            return _subcommand(parsed.operands, context)
        if loaded and not parsed.operands:
            return merge(*loaded)
        if not parsed.operands or parsed.operands[0].value in _STDIN:
            if context.text is None:
                return from_stdin(context)
            given = Argument(context.text, expands="\0" in context.text)
            return merge(from_stdin(context), *_read(language, given))
        return merge(runs_script(parsed.operands[0]), *loaded)

    return judge


def _read(language: str, code: Argument) -> tuple[Description, ...]:
    """What a program does; in a language without a reading of its own, also what it plainly removes."""
    found = inline(language, code, run_child)
    return (found, removals(code)) if language in ("other", "julia") else (found,)


def _subcommand(operands: Sequence[Argument], context: Context) -> Description:
    """deno and bun: `eval CODE`, `run FILE`, and `run NAME` of a script that stands in a file."""
    verb, *rest = operands
    words = [word for word in rest if not word.value.startswith("-")]
    if verb.value == "eval" and words:
        return inline("node", words[0], run_child)
    if context.piped and any(word.value in _STDIN for word in rest):
        return from_stdin(context)
    if words and ("." in words[0].value or "/" in words[0].value):
        return runs_script(words[0])
    return Description(known=True, operations=(Operation.EXECUTE,))


_NET_MODULES: Final = ("LWP", "IO::Socket", "HTTP", "WWW", "Net::", "net/", "open-uri", "socket")


def _perl_modules(parsed: Parsed) -> tuple[Description, ...]:
    """-MLWP, -rsocket: the module speaks to the network, so the code does."""
    if any(word.value.startswith(_NET_MODULES) for word in parsed.values("M", "m", "r")):
        return (Description(known=True, operations=(Operation.CONNECT,)),)
    return ()


def _with_files(parsed: Parsed, description: Description) -> Description:
    """perl and ruby: -n, -p and -i make the operands files; -i rewrites them."""
    if not parsed.has("n", "p", "i"):
        return description
    files = parsed.operands
    targets = [Target(Access.READ, word) for word in files]
    operations = [*description.operations, *([Operation.READ] if files else [])]
    details = list(description.details)
    if parsed.has("i"):
        targets += [Target(Access.WRITE, word) for word in files]
        operations.append(Operation.WRITE)
        details.append("in-place")
    return msgspec.structs.replace(
        description,
        operations=unique(operations),
        targets=(*description.targets, *targets),
        details=tuple(details),
        reads_stdin=not files,
    )


_SERVERS: Final = frozenset(
    ("http.server", "SimpleHTTPServer", "smtpd", "aiosmtpd", "uvicorn", "gunicorn", "flask")
)


def _module(name: Argument, parsed: Parsed, context: Context) -> Description:
    from latchd.shell.grammar.registry import describe, find  # the tables contain this module

    if name.value in _SERVERS:
        return Description(
            known=True, operations=(Operation.EXECUTE, Operation.LISTEN), details=("listener",)
        )
    if name.value == "json.tool":
        files = parsed.operands
        return Description(
            known=True,
            operations=(Operation.READ,) if files else (),
            targets=tuple(
                Target(Access.WRITE if at else Access.READ, word) for at, word in enumerate(files[:2])
            ),
            reads_stdin=not files,
        )
    if find(name.value) is not None:
        return describe(name.value, parsed.operands, context)
    return Description(known=True, operations=(Operation.EXECUTE,))


_SHELL: Final = (
    "a b c e f h i k l m n o= p r s t u v x B C D E H P T O= login posix norc noprofile noediting "
    "restricted verbose debugger "
    "rcfile,init-file= dump-strings dump-po-strings wordexp= pretty-print"
)

PROGRAMS: Final = (
    program(
        "bash sh zsh dash ksh mksh ash rbash fish csh tcsh elvish nu xonsh",
        _SHELL,
        _shells,
        {
            "bash a.sh b": "execute execute:a.sh +script",
            "| bash": "execute run_input <stdin",
            "bash": "execute +interactive <stdin",
            "bash -n a.sh": "preview",
            "sh -c 'rm x'": "execute +inline-code",
            "| bash -s -- x": "execute run_input <stdin",
            "| sh -": "execute run_input <stdin",
            "bash --version": "preview",
            "bash -x ./a.sh": "execute execute:./a.sh +script",
            "bash --rcfile r a.sh": "execute execute:a.sh execute:r +script",
            "bash -c $X": "execute +inline-code +opaque-code",
            "| bash /dev/stdin": "execute run_input <stdin",
        },
        style=Style.LEADING,
        abbreviates=False,
    ),
    program(
        "python python2 python3 pypy pypy3 ipython bpython",
        "b B d E i I O P q s S u v x R V,version? W= X= c! m! check-hash-based-pycs= help-all",
        interpreter("python", "c", module="m"),
        {
            "python a.py x": "execute execute:a.py +script",
            "| python -": "execute run_input <stdin",
            "python3 --version": "preview",
            "python -V": "preview",
            "python -c 'import shutil; shutil.rmtree(\"/x\")'": "execute delete delete:/x/** +inline-code",
            "python -c 'import os; os.remove(\"a\")'": "execute delete delete:a +inline-code",
            "python -c 'from pathlib import Path; Path(\"x\").unlink()'": (
                "execute delete delete:x +inline-code"
            ),
            'python -c \'open("/x", "w").write("")\'': "execute write write:/x +inline-code",
            "python -c 'print(open(\".env\").read())'": "execute read read:.env +inline-code",
            "python -c 'import os; print(os.environ)'": "execute environment_read +inline-code",
            "python -c 'import os; print(os.environ[\"HOME\"])'": "execute +inline-code",
            "python -c 'import os; print(\"K\" in os.environ, len(os.environ))'": "execute +inline-code",
            "python -c 'import os; print(bool(os.getenv(\"API_KEY\")))'": "execute +inline-code",
            "python -c 'import os; print([os.getenv(k) for k in list(os.environ)])'": (
                "execute environment_read +inline-code"
            ),
            "python -c 'import os; os.system(\"rm -rf /x\")'": (
                "execute delete delete:/x/** +inline-code +recursive +force +child-command"
            ),
            'python -c \'import subprocess; subprocess.run(["git", "reset", "--hard"])\'': (
                "execute work_loss +inline-code +discard-work +hard +child-command"
            ),
            "python -c 'import urllib.request as u; u.urlopen(\"https://example.com/a\")'": (
                "execute connect connect@https://example.com/a +inline-code"
            ),
            'python -c \'import requests; requests.post("https://example.com", data=open("f"))\'': (
                "execute upload read connect read:f upload@https://example.com upload=f +inline-code"
            ),
            "python -c 'import socket; s=socket.socket(); s.connect((\"10.0.0.1\",4444))'": (
                "execute connect connect@10.0.0.1:4444 +inline-code"
            ),
            "python -c 'import glob, os\nfor f in glob.glob(\"*.o\"): os.remove(f)'": (
                "execute delete delete:*.o +inline-code"
            ),
            "python -c 'exec(input())'": "execute +inline-code +opaque-code",
            "python -c 'print(1)' -x": "execute +inline-code",
            "python -c $X": "execute +inline-code +opaque-code",
            "python -c 'import shutil,os; shutil.rmtree(os.path.expanduser(\"~/x\"))'": (
                "execute delete delete:~/x/** +inline-code"
            ),
            "python -c 'p=\"/x\"; import shutil; shutil.rmtree(p)'": (
                "execute delete delete:/x/** +inline-code"
            ),
            "python -c 'import shutil,sys; shutil.rmtree(sys.argv[1])' /x": (
                "execute delete delete:$$/** +inline-code"
            ),
            "python -m http.server": "execute listen +listener",
            "python -m json.tool a": "read read:a",
            "python -m pip install x": "install connect",
            "python -m mymod": "execute",
            "python3.11 a.py": "execute execute:a.py +script",
        },
        style=Style.LEADING,
        abbreviates=False,
        previews="help version V",
    ),
    program(
        "node nodejs bun deno tsx ts-node",
        "~ e,eval= p,print= c,check i,interactive r,require= import= loader= env-file= C,conditions= "
        "input-type= inspect? inspect-brk? max-old-space-size= title= experimental-loader= "
        "test-name-pattern= watch-path= v",
        interpreter("node", "eval print", check="check", preload="require import"),
        {
            "node a.js": "execute execute:a.js +script",
            "node -e 'fs.rmSync(\"/x\",{recursive:true})'": "execute delete delete:/x/** +inline-code",
            'node -e \'const {rm}=require("fs/promises"); rm("x")\'': "execute delete delete:x +inline-code",
            "node -e 'process.kill(1)'": "execute process_kill +inline-code",
            "deno eval 'Deno.removeSync(\"x\")'": "execute delete delete:x/** +inline-code",
            "deno run -A a.ts": "execute execute:a.ts +script",
            "bun run build": "execute",
            "| deno run -": "execute run_input <stdin",
            "node -v": "preview",
            "| node": "execute run_input <stdin",
            'node -e \'require("fs").unlinkSync("a")\'': "execute delete delete:a +inline-code",
            "node -p process.env": "execute environment_read +inline-code",
            "node -p '!!process.env.API_KEY'": "execute +inline-code",
            "node -p 'Object.keys(process.env).length'": "execute +inline-code",
            "node -p 'process.env.API_KEY ?? 1'": "execute environment_read +inline-code",
            "node -p process.env.HOME": "execute +inline-code",
            'node -e \'require("child_process").execSync("rm -rf /x")\'': (
                "execute delete delete:/x/** +inline-code +recursive +force +child-command"
            ),
            "node -e 'fetch(\"https://example.com\")'": (
                "execute connect connect@https://example.com +inline-code"
            ),
            "node --check a.js": "preview",
            "node -r ./p.js a.js": "execute execute:a.js execute:./p.js +script",
            'node -e \'console.log(fs.readFileSync("a","utf8"))\'': "execute read read:a +inline-code",
        },
        style=Style.LEADING,
        abbreviates=False,
        previews="help version v",
    ),
    program(
        "perl",
        "a c s S t T u U w W X f l% 0% C% d? D? E= e= F= i? I= m= M= n p V? x? v",
        interpreter("perl", "e E", check="c"),
        {
            "perl a.pl": "execute execute:a.pl +script",
            "perl -e 'unlink \"a\"'": "execute delete delete:a +inline-code",
            "perl -e 'kill 9, 1'": "execute process_kill +inline-code",
            "perl -e 'chmod 0777, \"a\"'": "execute permission_change metadata:a +inline-code",
            "perl -pi -e 's/a/b/' f": "execute read write read:f write:f +inline-code +in-place",
            "perl -ne print f": "execute read read:f +inline-code",
            "perl -l40pe0 f": "execute read read:f +inline-code",
            "perl -0777ne 'unlink \"a\"' f": "execute delete read delete:a read:f +inline-code",
            "perl -CSne print f": "execute read read:f +inline-code",
            "perl -pie print f": "execute execute:print +script",
            'perl -e \'system("rm", "-rf", "/x")\'': (
                "execute delete delete:/x/** +inline-code +recursive +force +child-command"
            ),
            "perl -e 'print %ENV'": "execute environment_read +inline-code",
            "| perl": "execute run_input <stdin",
            "perl -v": "preview",
            'perl -e \'open(F, ">", "/x")\'': "execute write write:/x +inline-code",
            "perl -MLWP::Simple -e 'get(\"https://example.com\")'": "execute connect +inline-code",
            "perl -i.bak -pe s/a/b/ f": "execute read write read:f write:f +inline-code +in-place",
        },
        style=Style.LEADING,
        previews="v",
    ),
    program(
        "ruby irb jruby",
        "a c l n p s S w W? 0% C= d E= e= F= i? I= K? r= T? U v x? X= y disable= enable= encoding= "
        "external-encoding= "
        "internal-encoding= jit yjit verbose",
        interpreter("ruby", "e", check="c"),
        {
            "ruby a.rb": "execute execute:a.rb +script",
            "ruby -e 'File.delete(\"a\")'": "execute delete delete:a +inline-code",
            "ruby -e 'FileUtils.rm_rf(\"/x\")'": "execute delete delete:/x/** +inline-code",
            "ruby -e 'system(\"rm -rf /x\")'": (
                "execute delete delete:/x/** +inline-code +recursive +force +child-command"
            ),
            "ruby -e 'puts ENV.to_h'": "execute environment_read +inline-code",
            'ruby -e \'File.write("a", "b")\'': "execute write write:a +inline-code",
            "ruby -rnet/http -e 'Net::HTTP.get(URI(\"https://example.com\"))'": (
                "execute connect connect@https://example.com +inline-code"
            ),
            "ruby -c a.rb": "preview",
        },
        style=Style.LEADING,
        previews="help version",
    ),
    program(
        "php",
        "a C c= d= e f,file= i l m n r,run= B= E= F= R= s S,server= t= v w z= ini rf= rc= re= ri=",
        interpreter("php", "run B E R", check="l", preload="file"),
        {
            "php a.php": "execute execute:a.php +script",
            "php -r 'unlink(\"a\");'": "execute delete delete:a +inline-code",
            'php -r \'array_map("unlink", glob("*"));\'': "execute delete delete:$ +inline-code",
            "php -l a.php": "preview",
            "php -r 'system(\"id\");'": "execute +inline-code +child-command",
            "php -v": "preview",
            "php -r 'echo file_get_contents(\"https://example.com\");'": (
                "execute connect connect@https://example.com +inline-code"
            ),
        },
        style=Style.LEADING,
        previews="help version v i",
    ),
    program(
        "lua luajit rscript r octave swift scala groovy tclsh guile racket sbcl ghci runghc "
        "elixir iex erl osascript clojure clj bb raku perl6 ocaml jshell m4",
        "~ e,eval= E= l=",
        interpreter("other", "eval E"),
        {
            "lua a.lua": "execute execute:a.lua +script",
            "lua -e 'os.execute(\"id\")'": "execute +inline-code +child-command",
            "Rscript b.R": "execute execute:b.R +script",
            "| m4": "execute run_input <stdin",
            "groovy -e 'new File(\"/x\").deleteDir()'": "execute delete delete:/x/** +inline-code",
        },
        style=Style.LEADING,
    ),
    program(
        "julia",
        "~ e,eval= E= L=",
        interpreter("julia", "eval E"),
        {
            "julia a.jl": "execute execute:a.jl +script",
            "julia -e 'rm(\"/x\", recursive=true)'": "execute delete delete:/x/** +inline-code",
        },
        style=Style.LEADING,
    ),
    program(
        "java javaw kotlin dotnet-script",
        "~ cp,classpath,class-path= jar= p,module-path= m,module= add-modules=",
        interpreter("java", "", preload="jar"),
        {
            "java -jar a.jar": "execute execute:a.jar +script",
            "java Main": "execute execute:Main +script",
            "java -version": "preview",
        },
        style=Style.DASHED,
    ),
    program(
        ". source",
        "p=",
        lambda parsed, context: merge(*map(runs_script, parsed.operands[:1])),
        {
            "source a.sh": "execute execute:a.sh +script",
            ". ./env": "execute execute:./env +script",
            "source -p d a.sh": "execute execute:a.sh +script",
        },
        style=Style.LEADING,
        previews="",
    ),
)
