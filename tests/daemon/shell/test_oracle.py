"""Real bash is the oracle: no command that it runs is missing from facts that call themselves complete.

Every text runs in an empty directory with a PATH of five harmless names; `mk` stands for any command.
Only texts made in this file are run, never one of a corpus.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora import needs_shared_data, rows
from latch_contracts.facts import Issue, Status
from latchd.shell.facts import analyze

BASH = shutil.which("bash") or ""
_READERS = ("bash", "source", ".")  # `bash mk` reads mk as a script: that is no command of the text
_TOOLS = ("bash", "cat", "env", "xargs")


class Oracle:
    """Runs texts below one directory."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir()
        self.log = root / "ran"
        self.home = root / "empty"
        marker = self.bin / "mk"
        marker.write_text(f"#!/bin/sh\n: > '{self.log}'\n")
        marker.chmod(0o755)
        for tool in _TOOLS:
            found = shutil.which(tool)
            if found:
                (self.bin / tool).symlink_to(found)

    def ran(self, text: str) -> bool:
        """Whether `bash -c text` ran mk. A text that doesn't end in two seconds counts by what it did."""
        self.log.unlink(missing_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        environment = {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(
            [BASH, "--norc", "--noprofile", "-c", f"FUNCNEST=9; ulimit -t 2\n{text}"],
            cwd=self.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                process.communicate(timeout=2)  # until the last child lets go of the pipe
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return self.log.exists()


def vouched_without(text: str) -> bool:
    """Whether the facts are complete and mk is not among their commands."""
    facts = analyze(text, cwd="/w", home="/h")
    if facts.status is not Status.COMPLETE:
        return False
    return all(
        command.program != "mk" and not (command.program in _READERS and "mk" in command.argv[1:])
        for command in facts.commands
    )


needs_bash = pytest.mark.skipif(not BASH, reason="no bash on this machine")

_SIMPLE = [
    "mk",
    "mk",
    "mk",
    "'mk'",
    "m\\k",
    '"mk"',
    "$'mk'",
    '$"mk"',
    "m''k",
    "x=1 mk",
    "mk a b",
    "true",
    "false",
    ":",
    ">f mk",
    "<f mk",
    "mk >f 2>&1",
    "2>e mk",
    "command mk",
    "builtin command mk",
    "exec mk",
    "env mk",
    "env x=1 mk",
    "xargs mk",
    "echo mk",
    "printf 'mk\\n'",
    "x=mk",
    "x=mk; $x",
    "x=m; ${x}k",
    "a=(1 mk)",
    "time mk",
    "time -p mk",
    "! mk",
    "! ! mk",
    "coproc mk",
    "cat",
    "bash",
    "eval",
    "eval m k",
    "eval mk",
    "trap mk EXIT",
    "trap 'mk' DEBUG",
    "let 'a[$(mk)]=1'",
    "[[ -v 'a[$(mk)]' ]]",
    "test -v 'a[$(mk)]'",
    "read 'a[$(mk)]' <<< 1",
    "printf -v 'a[$(mk)]' x",
    "unset 'a[$(mk)]'",
    "declare 'a[$(mk)]=1'",
    "x='a[$(mk)]'; : $((x))",
    "x='$(mk)'; : \"${x@P}\"",
    "alias q=mk",
    "mapfile -C mk -c 1 <<< a",
    "set -e",
    "shopt -s expand_aliases",
    "PS4='$(mk)'; set -x",
    "unset x",
    "cd .",
    "exit",
    "return",
    "break",
    "{a,mk}",
    "m{k,}",
    "[ -n a ]",
    "[[ a =~ b|c ]]",
    "((1+1))",
    "let x=1",
    "export y=2",
    "declare -i z=1",
    "local q",
    "x+=k",
]

_LITERALS = [
    "a",
    "'b c'",
    '"d e"',
    "$x",
    '"$x"',
    "~",
    "*",
    "[ab]",
    "\\ ",
    "#",
    "a#b",
    "'#'",
    "$'\\''",
    '"\\""',
    "{a,b}",
    "\\`",
    "'`'",
    '"$"',
    "$",
    "\\$(mk)",
    "'$(mk)'",
    "$#",
    "${#x}",
    "${x:1}",
    "-",
    "--",
    "!",
    "é",
    "a=b",
    "}",
    "]]",
    "\\{",
]

# @ = a program, & = a program quoted as one word, % = a program in backticks
_WORDS = [
    "$(@)",
    '"$(@)"',
    "%",
    '"%"',
    "${x:-$(@)}",
    "${x:-%}",
    "\"${x:-'$(@)'}\"",
    "${x#$(@)}",
    "${x%$(@)}",
    "$((1 + $(@)))",
    "$((% + 1))",
    "<(@)",
    "{a,$(@)}",
    "a%b",
    '"a $(@) b"',
    '"${x:-%}"',
    "$(( $(@) ))",
    "${x:$(@)}",
]

# ? = a word, the rest as above
_COMMANDS = [
    "echo ? ?",
    ": ? ?",
    "mk ? ?",
    "cat ?",
    "x=1 : ?",
    "x=?",
    "x=? :",
    "a=(? b)",
    "export x=?",
    "[[ ? == a ]]",
    "[ ? = a ]",
    ": > ?",
    "cat <<< ?",
    "for i in ?; do mk; done",
    "case ? in a|?) @;; *) mk;; esac",
    "@; @",
    "@\n@",
    "@ && @",
    "@ || @",
    "@ | @",
    "@ |& @",
    "@ & @",
    "(@)",
    "{ @; }",
    "{\n@\n} > f",
    "if @; then @; fi",
    "if @\nthen @\nelse @\nfi",
    "while @; do mk; break; done",
    "for i in 1; do @; done",
    "for ((i=0;i<1;i++)); do @; done",
    "f() { @; }; f",
    "function g { @; }; g",
    "f() (@)\nf",
    "! @",
    "time @",
    "coproc N { @; }",
    "time { @; }",
    "coproc { @; }",
    "eval &",
    "trap & EXIT",
    "bash -c &",
    "bash -ec & x",
    "echo & | bash",
    "bash <<< &",
    "cat <<E\n@\nE",
    "cat <<'E'\n@\nE",
    "cat <<-E | bash\n\t@\n\tE",
    'cat <<"E" && @\n$\nE\nmk',
    "bash <<E\n@\nE",
    "cat <<A; cat <<B\n$(@)\nA\n$\nB",
    "cat <<A\n%\nA",
    "cat <<A\n${x:-%}\nA",
    ": # @\nmk",
    "alias q=&\nq",
    "xargs env <<< &",
    "select i in a; do @; break; done",
    "until @; do mk; break; done",
    "[[ -n $(@) ]]",
    "(( $(@) ))",
    "let x=$(@)",
    "echo ${a[$(@)]}",
    "a[$(@)]=1",
    "declare x=$(@)",
    "case a in a) @;& b) @;; esac",
    "@ &",
    "{ @; } | { @; }",
    "for i in ? &; do $i; done",
    'for i in ? & m*; do eval "$i"; done',
    'for i in & a; do bash -c "$i"; @; done',
    "for x in a & ?; do @; $x; done",
    "for i in ? b; do for j in $i &; do $j; done; done",
    'for i in & ?; do echo "$i"; done | bash',
    "for i in & ?; do x=$i; $x; done",
    "${y:-mk} ?",
    "x=${y:-mk}; $x",
    ": ${y:=&}; eval $y",
    'echo "${y-mk}" | bash',
    'bash -c "${y:-mk}"',
]


def _ticks(inner: str) -> str:
    return "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"


@st.composite
def programs(draw: st.DrawFn, depth: int = 3) -> str:
    """A program of a few commands, mk among them more often than not."""
    return _program(draw, depth)


def _program(draw: st.DrawFn, depth: int) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(_SIMPLE))
    return _fill(draw, draw(st.sampled_from(_COMMANDS)), depth)


def _fill(draw: st.DrawFn, template: str, depth: int) -> str:
    parts: list[str] = []
    amp_is_quote = "&" in template.replace("&&", "").replace("|&", "").replace(" & ", "").replace(
        ";&", ""
    ).removesuffix(" &")
    for index, char in enumerate(template):
        quoted = char == "&" and amp_is_quote and template[index - 1 : index] in (" ", "=")
        if char == "@":
            parts.append(_program(draw, depth - 1))
        elif char == "?":
            word = draw(st.sampled_from(_LITERALS + _WORDS))
            parts.append(word if word in _LITERALS else _fill(draw, word, depth))
        elif char == "%" and template != "${x%$(@)}":
            parts.append(_ticks(_program(draw, depth - 1)))
        elif quoted:
            parts.append(shlex.quote(_program(draw, depth - 1)))
        else:
            parts.append(char)
    return "".join(parts)


_NOISE = [
    "\\\n",
    "\n",
    " ",
    "'",
    '"',
    "`",
    "$",
    "(",
    ")",
    "{",
    "}",
    ";",
    "&",
    "|",
    "<",
    ">",
    "#",
    "\\",
    "<<E",
    "mk",
    "$(",
    "!",
    "=",
    "\t",
]


@st.composite
def disturbed(draw: st.DrawFn) -> str:
    """A program with a few characters put in or taken out anywhere."""
    text = _program(draw, 2)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        if draw(st.booleans()):
            text = text[:place] + draw(st.sampled_from(_NOISE)) + text[place:]
        else:
            text = text[:place] + text[place + 1 :]
    return text


_HARD = [
    "cat <<E\n$\nE\nmk\n",
    "cat <<E\n`mk`\nE\n",
    "cat <<E; mk\nx\nE\n",
    "cat <<A | bash\nmk\nA\n",
    "cat <<A && mk\nx\nA\n",
    'cat <<"E"OF\nx\nEOF\nmk\n',
    "cat <<E\nfoo\\\nE\nE\nmk\n",
    "echo `true` `mk`",
    "echo `echo \\`mk\\``",
    '"$\\\n(mk)"',
    "m\\\nk",
    "i\\\nf mk; then :; fi",
    ": # \\\nmk",
    "coproc N { mk; }; wait",
    "time -p mk",
    "! ! mk",
    "x=a; : ${x#$(mk)}",
    "\"${x:-'$(mk)'}\"",
    "((n=${m:-`mk; echo 2`}))",
    "x='a[$(mk)]'; : $((x))",
    "x='a[$(mk)]'; : ${!x}",
    "[[ -v 'a[$(mk)]' ]]",
    "printf -v 'a[$(mk)]' x",
    "declare -i n='a[$(mk)]'",
    "echo mk | { read -n0; bash; }",
    "echo 'true #mk' | { read -n 6; bash; }",
    "{ echo mk; } | { echo ${a[$(bash)]}; }",
    "printf '\\155k' | bash",
    "bash <<< 'eval \"m\"k'",
    "trap mk EXIT; exit",
    "x=mk; command $x",
    "x=true; for i in 1 2; do $x; x=mk; done",
    "x=true; f() { x=mk; }; f; $x",
    "x=true; read x <<< mk; $x",
    "x=true; eval x=mk; $x",
    "x=true; : $((x=1)) ${x:=mk}; $x",
    "shopt -s expand_aliases\nalias q=mk\nq",
    "PS4='$(mk)'; set -x; :",
    "BASH_ENV=<(printf mk) bash -c true",
    ". <(echo mk)",
    "<f mk; : >f; <f mk",
    "exec 3<>f; mk",
    "function g { mk; }; g",
    "case a in a) mk;& b) :;; esac",
    "env -S 'mk a'",
    "xargs -I{} env {} <<< mk",
    "mapfile -C 'mk' -c 1 <<< a",
    "git() { mk; }; git status",
]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


@needs_bash
@pytest.mark.parametrize("text", _HARD)
def test_facts_of_a_hard_text_list_what_bash_ran_or_are_not_complete(oracle: Oracle, text: str) -> None:
    assert not (vouched_without(text) and oracle.ran(text))


@needs_bash
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(text=programs())
def test_facts_of_a_program_list_what_bash_ran_or_are_not_complete(oracle: Oracle, text: str) -> None:
    assert not (vouched_without(text) and oracle.ran(text))


@needs_bash
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(text=disturbed())
def test_facts_of_a_disturbed_program_list_what_bash_ran_or_are_not_complete(
    oracle: Oracle, text: str
) -> None:
    assert not (vouched_without(text) and oracle.ran(text))


@needs_bash
@pytest.mark.slow
@settings(
    max_examples=8000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(text=st.one_of(programs(4), disturbed()))
def test_facts_of_many_programs_list_what_bash_ran_or_are_not_complete(oracle: Oracle, text: str) -> None:
    assert not (vouched_without(text) and oracle.ran(text))


@needs_shared_data
def test_no_silent_miss_among_the_texts_measured_with_bash() -> None:
    """Texts that were run elsewhere, once; here they are only read."""
    ran = [
        row
        for row in rows("oracle.jsonl")
        if "command" in row and "True" in (row["bash_c_ran"], row["bash_file_ran"])
    ]

    silent = [row["id"] for row in ran if vouched_without(row["command"])]

    assert silent == []


@needs_shared_data
def test_nearly_all_texts_measured_with_bash_have_the_marker_listed() -> None:
    ran = [
        row
        for row in rows("oracle.jsonl")
        if "command" in row and "True" in (row["bash_c_ran"], row["bash_file_ran"])
    ]

    listed = [row for row in ran if any(item.program == "mk" for item in analyze(row["command"]).commands)]

    assert len(listed) / len(ran) > 0.9


@needs_shared_data
def test_commands_that_people_wrote_have_complete_facts_nineteen_times_of_twenty() -> None:
    found = [analyze(row["command"], cwd="/w", home="/h") for row in rows("nl2bash.jsonl")]

    assert not [facts for facts in found if Issue.INTERNAL_PARSER_FAILURE in facts.issues]
    assert sum(facts.status is Status.COMPLETE for facts in found) / len(found) > 0.95
