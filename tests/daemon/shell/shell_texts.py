"""Hypothesis strategies for small shell programs around the marker `mk`."""

from __future__ import annotations

import shlex

from hypothesis import strategies as st

_SIMPLE = [
    "mk", "mk", "mk", "'mk'", "m\\k", '"mk"', "$'mk'", '$"mk"', "m''k", "x=1 mk", "mk a b", "true", "false", ":",
    ">f mk", "<f mk", "mk >f 2>&1", "2>e mk", "command mk", "builtin command mk", "exec mk", "env mk",
    "env x=1 mk", "xargs mk", "echo mk", "printf 'mk\\n'", "x=mk", "x=mk; $x", "x=m; ${x}k", "a=(1 mk)", "time mk",
    "time -p mk", "! mk", "! ! mk", "coproc mk", "cat", "bash", "eval", "eval m k", "eval mk", "trap mk EXIT",
    "trap 'mk' DEBUG", "let 'a[$(mk)]=1'", "[[ -v 'a[$(mk)]' ]]", "test -v 'a[$(mk)]'", "read 'a[$(mk)]' <<< 1",
    "printf -v 'a[$(mk)]' x", "unset 'a[$(mk)]'", "declare 'a[$(mk)]=1'", "x='a[$(mk)]'; : $((x))",
    "x='$(mk)'; : \"${x@P}\"", "alias q=mk", "mapfile -C mk -c 1 <<< a", "set -e",
    "shopt -s expand_aliases", "PS4='$(mk)'; set -x", "unset x", "cd .", "exit", "return", "break", "{a,mk}", "m{k,}",
    "[ -n a ]", "[[ a =~ b|c ]]", "((1+1))", "let x=1", "export y=2", "declare -i z=1", "local q", "x+=k",
]  # fmt: skip

_LITERALS = [
    "a", "'b c'", '"d e"', "$x", '"$x"', "~", "*", "[ab]", "\\ ", "#", "a#b", "'#'", "$'\\''", '"\\""', "{a,b}", "\\`",
    "'`'", '"$"', "$", "\\$(mk)", "'$(mk)'", "$#", "${#x}", "${x:1}", "-", "--", "!", "é", "a=b", "}", "]]", "\\{",
]  # fmt: skip

# @ = a program, & = a program quoted as one word, % = a program in backticks
_WORDS = [
    "$(@)", '"$(@)"', "%", '"%"', "${x:-$(@)}", "${x:-%}", "\"${x:-'$(@)'}\"", "${x#$(@)}", "${x%$(@)}", "$((1 + $(@)))",
    "$((% + 1))", "<(@)", "{a,$(@)}", "a%b", "\"a $(@) b\"", '"${x:-%}"', "$(( $(@) ))", "${x:$(@)}",
]  # fmt: skip

# ? = a word, the rest as above
_COMMANDS = [
    "echo ? ?", ": ? ?", "mk ? ?", "cat ?", "x=1 : ?", "x=?", "x=? :", "a=(? b)", "export x=?", "[[ ? == a ]]", "[ ? = a ]", ": > ?",
    "cat <<< ?", "for i in ?; do mk; done", "case ? in a|?) @;; *) mk;; esac", "@; @", "@\n@", "@ && @", "@ || @", "@ | @",
    "@ |& @", "@ & @", "(@)", "{ @; }", "{\n@\n} > f", "if @; then @; fi", "if @\nthen @\nelse @\nfi",
    "while @; do mk; break; done", "for i in 1; do @; done", "for ((i=0;i<1;i++)); do @; done", "f() { @; }; f",
    "function g { @; }; g", "f() (@)\nf", "! @", "time @", "coproc N { @; }", "time { @; }", "coproc { @; }", "eval &", "trap & EXIT",
    "bash -c &", "bash -ec & x", "echo & | bash", "bash <<< &", "cat <<E\n@\nE", "cat <<'E'\n@\nE", "cat <<-E | bash\n\t@\n\tE",
    "cat <<\"E\" && @\n$\nE\nmk", "bash <<E\n@\nE", "cat <<A; cat <<B\n$(@)\nA\n$\nB", "cat <<A\n%\nA", "cat <<A\n${x:-%}\nA",
    ": # @\nmk", "alias q=&\nq", "xargs env <<< &", "select i in a; do @; break; done", "until @; do mk; break; done", "[[ -n $(@) ]]",
    "(( $(@) ))", "let x=$(@)", "echo ${a[$(@)]}", "a[$(@)]=1", "declare x=$(@)", "case a in a) @;& b) @;; esac", "@ &", "{ @; } | { @; }",
]  # fmt: skip


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
    amp_is_quote = "&" in template.replace("&&", "").replace("|&", "").replace(" & ", "").replace(";&", "").removesuffix(" &")
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


PROGRAMS = programs()

_NOISE = ["\\\n", "\n", " ", "'", '"', "`", "$", "(", ")", "{", "}", ";", "&", "|", "<", ">", "#", "\\", "<<E", "mk", "$(", "!", "=", "\t"]


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
