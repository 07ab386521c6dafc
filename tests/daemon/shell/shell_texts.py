"""Hypothesis strategies for small shell programs around the marker `mk`."""

from __future__ import annotations

import shlex

from hypothesis import strategies as st

_SIMPLE = st.sampled_from(
    [
        "mk", "mk", "mk", "'mk'", "m\\k", '"mk"', "$'mk'", '$"mk"', "m''k", "x=1 mk", "mk a b", "true", "false", ":",
        ">f mk", "<f mk", "mk >f 2>&1", "2>e mk", "command mk", "builtin command mk", "exec mk", "env mk",
        "env x=1 mk", "xargs mk", "echo mk", "printf 'mk\\n'", "x=mk", "x=mk; $x", "x=m; ${x}k", "a=(1 mk)", "time mk",
        "time -p mk", "! mk", "! ! mk", "coproc mk", "cat", "bash", "eval", "eval m k", "eval mk", "trap mk EXIT",
        "trap 'mk' DEBUG", "let 'a[$(mk)]=1'", "[[ -v 'a[$(mk)]' ]]", "test -v 'a[$(mk)]'", "read 'a[$(mk)]' <<< 1",
        "printf -v 'a[$(mk)]' x", "unset 'a[$(mk)]'", "declare 'a[$(mk)]=1'", "x='a[$(mk)]'; : $((x))",
        "x='$(mk)'; : \"${x@P}\"", "alias q=mk", "mapfile -C mk -c 1 <<< a", "set -e",
        "shopt -s expand_aliases", "PS4='$(mk)'; set -x", "unset x", "cd .", "exit", "return", "break", "{a,mk}", "m{k,}",
        "[ -n a ]", "[[ a =~ b|c ]]", "((1+1))", "let x=1", "export y=2", "declare -i z=1", "local q", "x+=k",
    ]
)  # fmt: skip


def _ticks(inner: str) -> str:
    return "`" + inner.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _words(program: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(
            ["a", "'b c'", '"d e"', "$x", '"$x"', "~", "*", "[ab]", "\\ ", "#", "a#b", "'#'", "$'\\''", '"\\""', "{a,b}", "\\`",
             "'`'", '"$"', "$", "\\$(mk)", "'$(mk)'", "$#", "${#x}", "${x:1}", "-", "--", "!", "é", "a=b", "}", "]]", "\\{"]
        ),  # fmt: skip
        program.map(lambda p: f"$({p})"),
        program.map(lambda p: f'"$({p})"'),
        program.map(_ticks),
        program.map(lambda p: f'"{_ticks(p)}"' if '"' not in p else _ticks(p)),
        program.map(lambda p: f"${{x:-$({p})}}"),
        program.map(lambda p: f"${{x:-{_ticks(p)}}}"),
        program.map(lambda p: f"\"${{x:-'$({p})'}}\""),
        program.map(lambda p: f"${{x#$({p})}}"),
        program.map(lambda p: f"${{x%$({p})}}"),
        program.map(lambda p: f"$((1 + $({p})))"),
        program.map(lambda p: f"$(({_ticks(p)} + 1))"),
        program.map(lambda p: f"<({p})"),
        program.map(lambda p: f"{{a,$({p})}}"),
        program.map(lambda p: f"a{_ticks(p)}b"),
    )  # fmt: skip


def _commands(program: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    word = _words(program)
    two = st.tuples(program, program)
    return st.one_of(
        st.tuples(st.sampled_from(["echo", ":", "mk", "cat", "x=1 :"]), word, word).map(" ".join),
        word.map(lambda w: f"x={w}"),
        word.map(lambda w: f"x={w} :"),
        word.map(lambda w: f"a=({w} b)"),
        word.map(lambda w: f"export x={w}"),
        word.map(lambda w: f"[[ {w} == a ]]"),
        word.map(lambda w: f"[ {w} = a ]"),
        word.map(lambda w: f": > {w}"),
        word.map(lambda w: f"cat <<< {w}"),
        word.map(lambda w: f"for i in {w}; do mk; done"),
        st.tuples(word, program).map(lambda t: f"case {t[0]} in a|{t[0]}) {t[1]};; *) mk;; esac"),
        two.map("; ".join),
        two.map("\n".join),
        two.map(" && ".join),
        two.map(" || ".join),
        two.map(" | ".join),
        two.map(" |& ".join),
        two.map(" & ".join),
        program.map(lambda p: f"({p})"),
        program.map(lambda p: f"{{ {p}; }}"),
        program.map(lambda p: f"{{\n{p}\n}} > f"),
        two.map(lambda t: f"if {t[0]}; then {t[1]}; fi"),
        two.map(lambda t: f"if {t[0]}\nthen {t[1]}\nelse {t[0]}\nfi"),
        program.map(lambda p: f"while {p}; do break; done"),
        program.map(lambda p: f"for i in 1; do {p}; done"),
        program.map(lambda p: f"for ((i=0;i<1;i++)); do {p}; done"),
        program.map(lambda p: f"f() {{ {p}; }}; f"),
        program.map(lambda p: f"function g {{ {p}; }}; g"),
        program.map(lambda p: f"f() ({p})\nf"),
        program.map(lambda p: f"! {p}"),
        program.map(lambda p: f"time {p}"),
        program.map(lambda p: f"coproc N {{ {p}; }}"),
        program.map(lambda p: f"time {{ {p}; }}"),
        program.map(lambda p: f"eval {shlex.quote(p)}"),
        program.map(lambda p: f"trap {shlex.quote(p)} EXIT"),
        program.map(lambda p: f"bash -c {shlex.quote(p)}"),
        program.map(lambda p: f"bash -ec {shlex.quote(p)} x"),
        program.map(lambda p: f"echo {shlex.quote(p)} | bash"),
        program.map(lambda p: f"bash <<< {shlex.quote(p)}"),
        program.map(lambda p: f"cat <<E\n{p}\nE"),
        program.map(lambda p: f"cat <<'E'\n{p}\nE"),
        program.map(lambda p: f"cat <<-E | bash\n\t{p}\n\tE"),
        program.map(lambda p: f"cat <<\"E\" && {p}\n$\nE\nmk"),
        program.map(lambda p: f"bash <<E\n{p}\nE"),
        program.map(lambda p: f"cat <<A; cat <<B\n$({p})\nA\n$\nB"),
        program.map(lambda p: f": # {p}\nmk"),
        program.map(lambda p: f"alias q={shlex.quote(p)}\nq"),
        program.map(lambda p: f"xargs env <<< {shlex.quote(p)}"),
    )  # fmt: skip


PROGRAMS = st.recursive(_SIMPLE, _commands, max_leaves=6).filter(lambda text: len(text) < 600)

_NOISE = st.sampled_from(
    ["\\\n", "\n", " ", "'", '"', "`", "$", "(", ")", "{", "}", ";", "&", "|", "<", ">", "#", "\\", "<<E", "mk", "$(", "!", "=", "\t"]
)


@st.composite
def disturbed(draw: st.DrawFn) -> str:
    """A program with a few characters put in or taken out anywhere."""
    text = draw(PROGRAMS)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        if draw(st.booleans()):
            text = text[:place] + draw(_NOISE) + text[place:]
        else:
            text = text[:place] + text[place + 1 :]
    return text
