"""Shell programs made by a grammar: real nesting, every construct, harmless words.

A source of numbers decides everything, so a seed or a hypothesis draw gives the same text each time. No
word names a file or program that exists outside the recorder's directory; nothing here reads a corpus.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from shellfuzz.vocabulary import LITERALS, NOISE, SMALL, VARIABLES

Draw = Callable[[int], int]  # a number from 0 to below the given one
T = TypeVar("T")

NAMES: Final = ("mk", "k2", "run-x", "a.b")  # programs that record how they were called
_NEWLINE: Final = "\ue000"  # a newline that the shell's grammar sees: here-documents begin after it
_HEREDOC: Final = "\ue001"  # stands before a character that numbers a here-document's body
_FIRST: Final = 0xE100


class Writer:
    """Writes one program; ``draw`` decides, ``tags`` number the recorded commands."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.tags = 0
        self.bodies: list[str] = []
        self.functions: list[str] = []

    def pick(self, options: Sequence[T]) -> T:
        return options[self.draw(len(options))]

    def form(self, *forms: Callable[[], str]) -> str:
        """One of several ways to write something; only the chosen one draws on."""
        return self.pick(forms)()

    def one_in(self, count: int) -> bool:
        return self.draw(count) == 0

    def code(self, depth: int) -> str:
        """A whole text: what a file, a substitution or `-c` holds."""
        text = self.lines(depth)
        pending: list[str] = []
        out: list[str] = []
        for part in re.split(f"({_NEWLINE}|{_HEREDOC}.)", text):
            if part == _NEWLINE:
                out += ["\n", *pending]
                pending.clear()
            elif part.startswith(_HEREDOC):
                pending.append(self.bodies[ord(part[1]) - _FIRST])
            else:
                out.append(part)
        if pending:
            out += ["\n", *pending]
        return "".join(out)

    def lines(self, depth: int) -> str:
        """Statements at one level of the grammar."""
        text = self.statement(depth)
        for _ in range(self.pick((0, 0, 0, 1, 1, 2))):
            join = self.pick(
                (
                    "; ",
                    _NEWLINE,
                    _NEWLINE,
                    " && ",
                    " || ",
                    " & ",
                    " ;",
                    f" # c mk{_NEWLINE}",
                    "&&",
                    f" &&{_NEWLINE}",
                    " \\\n && ",
                    f"{_NEWLINE}{_NEWLINE} ",
                )
            )
            text += join + self.statement(depth)
        return text + " &" if self.one_in(12) else text

    def ended(self, depth: int) -> str:
        """Statements with what ends them before a closing word."""
        text = self.lines(depth)
        return text + (" " if text.endswith(" &") else self.pick(("; ", _NEWLINE, ";", f" # mk{_NEWLINE}")))

    def statement(self, depth: int) -> str:
        kind = self.draw(14)
        if depth <= 0:
            return self.recorded(0) if kind < 9 else self.pick(SMALL)
        if kind < 4:
            return self.recorded(depth)
        if kind == 4:
            return self.pick(SMALL)
        if kind == 5:
            return self.pipeline(depth)
        if kind == 6:
            return self.pick(
                ("! ", "time ", "time -p ", "! ! ", "coproc ", "time ! ")
            ) + self.simple_or_block(depth - 1)
        if kind == 7:
            return self.runner(depth)
        if kind == 8:
            return self.function(depth)
        if kind == 9:
            return self.evaluating(depth)
        return self.compound(depth)

    def simple_or_block(self, depth: int) -> str:
        return self.recorded(depth) if self.draw(2) else self.compound(depth)

    def pipeline(self, depth: int) -> str:
        stages = [self.simple_or_block(depth - 1)]
        for _ in range(self.pick((1, 1, 2))):
            last = (
                self.pick(("cat", "bash", "while read -r x y; do $x $y; done", "xargs mk", "read x", ""))
                if self.one_in(3)
                else ""
            )
            stages.append(
                self.pick((" | ", " |& ", "|", f" |{_NEWLINE}")) + (last or self.simple_or_block(depth - 1))
            )
        return "".join(stages)

    def name(self) -> str:
        name = self.pick(NAMES)
        if self.draw(6):
            return name
        return self.pick(
            (
                f"'{name}'",
                f'"{name}"',
                f"{name[0]}\\{name[1:]}",
                f"{name[0]}''{name[1:]}",
                f"{name[0]}\\\n{name[1:]}",
                f"$'{name}'",
                f'$"{name}"',
                f"{{{name},}}",
                f"{name[:1]}?",
                f"\\{name}",
                f'{name[0]}"{name[1:]}"',
                f"{{{name},-v}}",
                "$x",
                '"$x"',
                f"${{u:-{name}}}",
                f"$(echo {name})",
                f"{{{name[0]}}}",
                f"$'\\x{ord(name[0]):x}'{name[1:]}",
                f"{name[0]}*",
                f"@({name})",
                f"{name}+",
            )
        )

    def recorded(self, depth: int) -> str:
        """A simple command that the recorder knows by its tag."""
        self.tags += 1
        parts = [self.pick(("x=1 ", "y=$x ", "x=mk ", "x=", "a[0]=1 ")) if self.one_in(10) else ""]
        parts[0] += f"{self.redirect(depth)} " if self.one_in(14) else ""
        parts[0] += (
            self.pick(
                (
                    "command ",
                    "builtin command ",
                    "exec ",
                    "env ",
                    "env x=1 ",
                    "xargs ",
                    "command -p ",
                    "env -i ",
                    "exec -a z ",
                    "env -- ",
                    "command -- ",
                    "\\command ",
                )
            )
            if self.one_in(9)
            else ""
        )
        parts[0] += self.name()
        parts.append(f"t{self.tags}")
        for _ in range(self.pick((0, 0, 1, 1, 2, 3))):
            parts.append(self.redirect(depth) if self.one_in(8) else self.word(depth))
        blank = " \\\n" if self.one_in(20) else "\t" if self.one_in(20) else " "
        return blank.join(parts)

    def redirect(self, depth: int) -> str:
        kind = self.draw(10)
        if kind < 5:
            return self.pick(
                (
                    ">f",
                    "> f",
                    ">>f",
                    "2>f",
                    "2>&1",
                    "<f",
                    "&>f",
                    "&>>f",
                    ">|f",
                    "<>f",
                    ">&2",
                    "3>&1",
                    "<&0",
                    ">&-",
                    "{fd}>f",
                    "1>&2",
                    ">'f'",
                    ">f$x",
                    "2>&-",
                    "3<f",
                    ">& f",
                    "<&-",
                    "0<f",
                    ">$x",
                    '>"$x"',
                )
            )
        if kind == 5:
            return self.pick(("<<<", "<<< ")) + self.word(depth)
        if kind == 6 and depth > 0:
            return self.pick((">", "<", "2> ")) + f" {self.pick(('<', '>'))}({self.code(depth - 1)})"
        return self.heredoc(depth)

    def heredoc(self, depth: int) -> str:
        if len(self.bodies) >= 200:
            return ">f"
        word, quoted = self.pick(
            (
                ("E", False),
                ("E", False),
                ("'E'", True),
                ('"E"', True),
                ("\\E", True),
                ("E'F'", True),
                ("E-1", False),
                ("$E", False),
            )
        )
        dash = self.one_in(4)
        tab = "\t" if dash and self.draw(2) else ""
        lines: list[str] = []
        for _ in range(self.draw(3)):
            lines.append(
                self.pick(
                    (
                        "a b",
                        "mk t0",
                        "$x",
                        "\\$(mk t0)",
                        "it's",
                        '"',
                        "`",
                        "\\`mk\\`",
                        "a\\",
                        "$",
                        "E ",
                        "${x:-y}",
                        "# c",
                        "$(",
                        "'$(mk)'",
                        ")",
                        "}",
                    )
                )
                if quoted or self.draw(3)
                else self.pick(("{}", "a {} b", '"{}"', "'{}'")).format(
                    self.substitution(max(depth, 1), quoted=True)
                )
            )
        if not quoted:  # an open one would take the rest of the text with it
            lines = [line for line in lines if line not in ("`", "$(", "a\\")]
        end = {"E'F'": "EF"}.get(word, word.strip("'\"\\"))
        self.bodies.append("".join(f"{tab}{line}\n" for line in (*lines, end)))
        number = chr(_FIRST + len(self.bodies) - 1)
        return f"<<{'-' if dash else ''}{self.pick(('', ' '))}{word}{_HEREDOC}{number}"

    def word(self, depth: int) -> str:
        kind = self.draw(12)
        if depth <= 0 or kind < 6:
            return self.pick(LITERALS)
        if kind < 8:
            return self.pick(VARIABLES)
        form = self.pick(
            (
                "{}",
                "{}",
                '"{}"',
                "a{}b",
                '"a {} b"',
                "${{x:-{}}}",
                '"${{x:-{}}}"',
                "${{x:={}}}",
                "${{x#{}}}",
                "${{x/a/{}}}",
                "${{x:+{}}}",
                "$((1 + {}))",
                "$(({} + 1))",
                "{{a,{}}}",
                "'q'{}",
                "${{a[{}]}}",
                "\"${{x:-'{}'}}\"",
                "${{x:{}}}",
                "{}{{b,c}}",
                "{}*",
                "${{x:-a{}}}",
                '${{x:-"{}"}}',
                "$[1+{}]",
                "$(( ({}) ))",
                '"${{x%{}}}"',
                "${{x^{}}}",
            )
        )
        return form.format(self.substitution(depth, quoted='"' in form))

    def substitution(self, depth: int, *, quoted: bool = False) -> str:
        inner = self.code(depth - 1)
        kind = self.draw(8)
        if kind < 3:
            return f"$({inner})" if not inner.startswith("(") else f"$( {inner})"
        if kind == 3:
            return f"$({inner}\n)" if not inner.startswith("(") else f"$({inner} )"
        if kind == 4 and not quoted:
            return f"{self.pick(('<', '>'))}({inner})"
        if kind == 5:
            return "$(<f)"
        escaped = inner.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{escaped}`" if '"' not in inner or not quoted else f"$( {inner})"

    def compound(self, depth: int) -> str:
        body = self.ended(depth - 1)
        return self.pick(_COMPOUNDS)(self, depth - 1, body) + (
            f" {self.redirect(depth - 1)}" if self.one_in(5) else ""
        )

    def function(self, depth: int) -> str:
        name = self.pick(("f", "g", "h1", "mk", "k2"))
        self.functions.append(name)
        body = self.form(
            lambda: f"{{ {self.ended(depth - 1)}}}",
            lambda: f"{{{_NEWLINE}{self.ended(depth - 1)}}}",
            lambda: f"( {self.lines(depth - 1)} )",
            lambda: '{ "$@"; }',
            lambda: '{ "$1" t0 "$2"; }',
            lambda: "{ $*; }",
            lambda: f'{{ shift; "$@"; {name} "$@"; }}',
            lambda: f'{{ command {name} "$@"; }}',
            lambda: '{ eval "$1"; }',
            lambda: '{ local c=$1; shift; $c "$@"; }',
            lambda: 'if [ -n "$1" ]; then "$@"; fi',
            lambda: f"{{ for i; do $i; done; {self.ended(depth - 1)}}}",
            lambda: '{ bash -c "$1"; }',
            lambda: "{ x=$1; $x; }",
            lambda: '{ "${@:2}"; }',
            lambda: f"{{ {name}; }}",
        )
        head = self.pick(
            (
                f"{name}() ",
                f"function {name} ",
                f"function {name}() ",
                f"{name} (){_NEWLINE}",
                f"{name}(){_NEWLINE}",
            )
        )
        call = self.pick(
            (
                name,
                f"{name} mk t0",
                f"{name} 'mk t0'",
                f"{name} a mk",
                f'{name} "$x"',
                "true",
                f"{name} {self.word(depth - 1)}",
                f"({name} k2)",
                f"$({name} mk)",
                f"export -f {name}; bash -c {name}",
                f"declare -f {name}",
                f"{name} | cat",
                f"x={name}; $x mk",
                f"trap {name} EXIT",
                f"echo a | {name} mk",
                f"eval {name} mk",
                f"{name} <<< mk",
            )
        )
        between = self.pick(("; ", _NEWLINE, f"{_NEWLINE}"))
        return head + body + between + call

    def runner(self, depth: int) -> str:
        """A command that runs code given as text."""
        inner = self.code(depth - 1)
        quoted = shlex.quote(inner)
        double = '"' + re.sub(r'([\\"$`])', r"\\\1", inner) + '"'
        once = self.pick((quoted, quoted, double))
        plain = "mk t0" if re.search(r"[}\"\\`$']", inner) else inner
        return self.form(
            lambda: f"eval {once}",
            lambda: f"eval mk t0 {once}",
            lambda: f"bash -c {once}",
            lambda: f"bash -ec {once} x mk",
            lambda: f"trap {once} EXIT",
            lambda: f"trap {once} DEBUG",
            lambda: f"echo {once} | bash",
            lambda: f"bash <<< {once}",
            lambda: f"source <(echo {once})",
            lambda: f". <(printf %s {once})",
            lambda: f"bash <(echo {once})",
            lambda: f"printf '%s\\n' {once} | bash -s a",
            lambda: f"shopt -s expand_aliases{_NEWLINE}alias q={once}{_NEWLINE}q",
            lambda: f'x={once}; eval "$x"',
            lambda: f'x={once}; bash -c "$x"',
            lambda: f"env bash -c {once}",
            lambda: f"xargs -I@ bash -c {once} <<< a",
            lambda: f"cat <<< {once} | bash",
            lambda: f'eval "$(echo {once})"',
            lambda: f'for c in {once} mk; do eval "$c"; done',
            lambda: f'for c in {once}; do bash -c "$c"; done',
            lambda: f"bash -c 'eval \"$1\"' _ {once}",
            lambda: "bash -c '\"$@\"' _ mk t0",
            lambda: "bash -c '$0 t0' mk",
            lambda: f"x={once}; eval $x",
            lambda: f'eval "${{u:-{plain}}}"',
            lambda: f"eval eval {shlex.quote(quoted)}",
            lambda: f"coproc {{ {self.ended(depth - 1)}}}",
            lambda: f"command eval {once}",
            lambda: f"builtin eval {once}",
            lambda: f"PS4={once}; set -x; :",
            lambda: f"BASH_ENV=<(echo {once}) bash -c :",
            lambda: f'set -- {once}; eval "$1"',
            lambda: 'set -- mk t0; "$@"',
            lambda: f'a=({once}); eval "${{a[0]}}"',
            lambda: f'a=(mk {self.word(0)} t0); "${{a[@]}}"',
            lambda: f'a=(mk); a+=({self.word(0)} t0); ${{a[*]}}; mk "${{a[1]}}" x${{a[@]}}y',
            lambda: f'read -r x <<< {once}; eval "$x"',
            lambda: f'printf -v x %s {once}; eval "$x"',
            lambda: f'while read -r l; do eval "$l"; done <<< {once}',
            lambda: f"echo {once} > f; . f",
            lambda: f"echo {once} > f; bash f",
            lambda: f"cat > f <<< {once}; bash < f",
            lambda: f"mapfile -C {once} -c 1 <<< a",
            lambda: f"x=eval; $x {once}",
            lambda: f"alias e=eval; e {once}",
            lambda: f"exec bash -c {once}",
            lambda: f"PROMPT_COMMAND={once}; :",
            lambda: f"trap {once} ERR; false",
            lambda: f"trap {once} RETURN; f() {{ :; }}; f",
            lambda: f"bash -s <<< {once}",
        )

    def evaluating(self, depth: int) -> str:
        """A construct that takes names or arithmetic out of text."""
        sub = f"a[{self.substitution(depth, quoted=True)}]"
        late = shlex.quote(sub)
        return self.pick(
            (
                f"let {late}=1",
                f"[[ -v {late} ]]",
                f"test -v {late}",
                f"read {late} <<< 1",
                f"printf -v {late} x",
                f"unset {late}",
                f"declare {late}=1",
                f"x={late}; : $((x))",
                f"x={late}; ((x))",
                f"x={late}; [[ $x -eq 1 ]]",
                f"x={late}; : ${{!x}}",
                f"x={late}; : ${{a[x]}}",
                f"x={late}; : ${{y:x}}",
                f"(( {sub} ))",
                f": $(( {sub} ))",
                f"{sub}=1",
                f"(( x = {self.substitution(depth, quoted=True)} ))",
                f"declare -i z={late}",
                f"for ((i={sub}; i<1; i++)); do mk t0; done",
                f"a=([{self.substitution(depth, quoted=True)}]=1)",
                f"a=({self.word(depth)} b)",
                f"x={self.word(depth)}",
                f"export x={self.word(depth)}",
                f"local x={self.word(depth)}",
                f"[[ {self.word(depth)} == a ]]",
                f"[[ -n {self.substitution(depth)} || a == b ]]",
                f"[ {self.word(depth)} = a ]",
                f"x=({self.word(depth)})",
                f"x={late}; declare -n n=x; : $n",
                f'x={shlex.quote("$(" + "mk t0" + ")")}; : "${{x@P}}"',
                f"x={late}; let x",
                f'x={late}; [ "$x" -eq 1 ]',
                f"x={late}; y=x; : $((y))",
                f"wait -n -p {late}",
                f"declare -a {late}=1",
                f"echo {late} > f; read x < f; : $((x))",
                f"mapfile -O {late} a <<< 1",
                f"typeset -i z; z={late}",
                f"getopts a {late} -a",
            )
        )


def _case(writer: Writer, depth: int, body: str) -> str:
    subject = writer.word(depth)
    one = writer.pick(
        (
            "a)",
            "(a)",
            "a|b)",
            "*)",
            "'a b')",
            "[ab])",
            "$x)",
            "(a|(b))",
            '"a)")',
            "a\\))",
            "@(a|b))",
            "~)",
            "(esac)",
            "?(a))",
        )
    )
    end = writer.pick((";;", ";;", ";&", ";;&", f"{_NEWLINE};;"))
    inner = body.rstrip("; ") if writer.draw(2) and _NEWLINE not in body and not body.endswith("& ") else body
    if inner.endswith("; ") or inner.endswith(";"):
        inner = inner.rstrip("; ") + " "
    other = writer.pick(("", "*) mk t0;; ", f"b) {writer.lines(depth)}{_NEWLINE}"))
    return f"case {subject} in {one} {inner} {end} {other}esac"


_COMPOUNDS: Final[tuple[Callable[[Writer, int, str], str], ...]] = (
    lambda w, d, b: f"{{ {b}}}",
    lambda w, d, b: f"{{{_NEWLINE}{b}}}",
    lambda w, d, b: f"( {b})",
    lambda w, d, b: f"({w.lines(d)})",
    lambda w, d, b: f"if {b}then {w.ended(d)}fi",
    lambda w, d, b: f"if {b}then {w.ended(d)}else {w.ended(d)}fi",
    lambda w, d, b: (
        f"if {w.ended(d - 1)}then {w.ended(d - 1)}"
        f"elif {b}then{_NEWLINE}{w.ended(d - 1)}else {w.ended(d - 1)}fi"
    ),
    lambda w, d, b: f"while {b}do {w.ended(d)}break; done",
    lambda w, d, b: f"until {b}do {w.ended(d)}break; done",
    lambda w, d, b: f"for i in {w.word(d)} {w.word(d)}; do {b}done",
    lambda w, d, b: f"for i in mk 'k2 t0'; do $i; {b}done",
    lambda w, d, b: f'for i in mk a.b{_NEWLINE}do{_NEWLINE}"$i" t0; {b}done',
    lambda w, d, b: f"for i; do {b}done",
    lambda w, d, b: f"for i in a; {{ {b}}}",
    lambda w, d, b: f"for ((i=0; i<1; i++)); do {b}done",
    lambda w, d, b: f"for ((;;)) {{ {b}break; }}",
    lambda w, d, b: f"for i in mk; do for j in $i 'a'; do $j t0; {b}done; done",
    lambda w, d, b: f"select i in {w.word(d)} b; do {b}break; done <<< 1",
    lambda w, d, b: f"[[ {w.word(d)} == {w.pick(('a*', '@(a|b)', 'a', '$x'))} ]] && {{ {b}}}",
    lambda w, d, b: f"[[ ( -n {w.word(d)} && a < b ) || ! {w.word(d)} =~ ^(a|b)$ ]] || {{ {b}}}",
    lambda w, d, b: f"((x > 1 || {w.draw(2)})) && {{ {b}}}",
    lambda w, d, b: f"((x << 1)); {{ {b}}}",
    lambda w, d, b: f"((echo a) ; ({w.lines(d)}))",
    lambda w, d, b: f"( ({w.lines(d)}) ; ({w.lines(d)}) )",
    lambda w, d, b: f": $( ({w.code(d)}) )",
    lambda w, d, b: f": $(({w.code(d)}) ; ({w.code(d)}))",
    lambda w, d, b: f": $(({w.code(d)}) )",
    lambda w, d, b: f"(({w.lines(d)}) )",
    _case,
    _case,
    lambda w, d, b: f"while read -r x y; do $x $y; {b}done <<< 'mk t0'",
    lambda w, d, b: f'while IFS= read -r x; do "$x"; {b}done < <(echo mk)',
    lambda w, d, b: f"{{ {b}}} | {{ {w.ended(d)}}}",
    lambda w, d, b: f"x=k2; {{ {b}}}; $x t0",
    lambda w, d, b: f"x=$(echo mk); {{ {b}}}; $x t0",
    lambda w, d, b: f"! {{ {b}}}",
    lambda w, d, b: f"coproc N {{ {b}}}",
    lambda w, d, b: f"if ! {b}then :; fi",
    lambda w, d, b: f'set -- mk t0; {{ {b}}}; "$@"; $1 t0',
)


def written(draw: Draw, depth: int) -> str:
    """One program."""
    return Writer(draw).code(depth)


def disturbed(draw: Draw, depth: int) -> str:
    """A program with a few characters put in or taken out anywhere."""
    text = written(draw, depth)
    for _ in range(1 + draw(3)):
        place = draw(len(text) + 1)
        if draw(2):
            text = text[:place] + NOISE[draw(len(NOISE))] + text[place:]
        else:
            text = text[:place] + text[place + 1 + draw(2) :]
    return text


def seeded(seed: int) -> str:
    """Program number ``seed``: the same text at every time; every fourth is disturbed."""
    draw = random.Random(seed).randrange  # noqa: S311 - not for secrets
    depth = 1 + draw(4)
    return disturbed(draw, depth) if seed % 4 == 3 else written(draw, depth)
