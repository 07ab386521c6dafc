"""Texts made to be slow to read: one small part over and over, within what makes a reader look at it.

Nothing here is ever run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SIZE: Final = 64 * 1024  # bytes: as many as a shell text may have

# what they are called: the part, what stands before all of them, what behind
_PARTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "words": ("a ", "", ""),
    "commands": ("a;", "", ""),
    "pipes": ("a|", "", "a"),
    "and": ("a&&", "", "a"),
    "quotes": ("'a'\"b\"", "", ""),
    "one open quote": ("a", "'", ""),
    "quotes of C": ("$'\\x41'", "", ""),
    "backslashes": ("\\", "", ""),
    "letters of two bytes": ("é", "", ""),
    "words of three bytes": ("漢 ", "", ""),
    "open substitutions": ("$(", "", ""),
    "substitutions": ("a=$(b) ", "echo ", ""),
    "open parentheses": ("(", "", ""),
    "closing parentheses": (")", "", ""),
    "open braces": ("${a:-", "", ""),
    "braces": ("{a,b}", "", ""),
    "backticks": ("`a` ", "", ""),
    "globs": ("*?[a]", "", ""),
    "parameters": ("$1 ", "set -- a b c d;", ""),
    "assignments": ("a=b ", "", ""),
    "assignments of each other": ("a=$a$a;", "", ""),
    "redirections": (">a ", "", ""),
    "named descriptors": ("{a}>b ", "", ""),
    "here-documents": ("a <<E;", "", ""),
    "here-documents with bodies": ("cat <<E\na\nE\n", "", ""),
    "substitutions in a here-document": ("$(a) ", "cat <<E\n", "\nE"),
    "arithmetic": ("(1+", "echo $((", ""),
    "ifs": ("if a;then ", "", ""),
    "functions": ("f(){ a;};f;", "", ""),
    "aliases": ("alias a='alias b';a;", "", ""),
    "directories": ("cd a;rm b;", "", ""),
    "words of a loop": ("a ", "for i in ", ";do rm $i;done"),
    "time": ("time ", "", ""),
    "eval": ("eval '", "", ""),
    "sh -c in sh -c": ("sh -c '", "", ""),
    "env -S in env -S": ("env -S '", "", ""),
    "ssh in ssh": ("ssh h '", "", ""),
    "find -exec": ("-exec rm {} \\; ", "find . ", ""),
    "addresses": ("http://a ", "curl ", ""),
    "a shell's here-document": ("rm a) ", "bash <<'E'\n", "\nE"),
    "an awk program": ("print a | b ", "awk '{", "}'"),
    "awk's commands": ('{system("rm " $1)}', "awk '", "'"),
    "a sed script": ("s/a/b/;", "sed '", "'"),
    "what sed writes": ("w a\n", "sed '", "'"),
    "a makefile": ("a:b:$(shell ", "make -f - <<'E'\n", "\nE"),
    "blank lines for a console": ("\n", "psql <<'E'", "\nE"),
    "a console's commands": ("\\! rm a\n", "psql <<'E'\n", "\nE"),
    "sql": ("DROP TABLE a;", "psql -c '", "'"),
    "python": ("open qx{", "python3 -c '", "'"),
    "python's calls": ('subprocess.run(["rm","a"])\n', "python3 -c '", "'"),
    "python's names": ("a.b.c().", "python3 -c '", "'"),
    "python's environment": ('os.environ["A"];', "python3 -c '", "'"),
    "python's questions": ('os.getenv("A");', "python3 -c '", "'"),
    "perl": ("open qx{", "perl -e '", "'"),
    "perl's backticks": ("`rm a`;", "perl -e '", "'"),
    "perl's lists": ('unlink "a","b",', "perl -e '", "'"),
    "perl's open calls": ("f(g(", "perl -e '", "'"),
    "ruby": ("%x{rm a};", "ruby -e '", "'"),
    "node": ("fs.rmSync(`a${b}`);", "node -e '", "'"),
    "php": ('unlink("a");', "php -r '", "'"),
    "lua": ('os.execute("rm a") ', "lua -e '", "'"),
    "powershell": ("if(a){", "pwsh -c '", "'"),
}


def hostile() -> Mapping[str, str]:
    """Texts of 64 KiB by what is in them over and over."""
    return {kind: _filled(*parts) for kind, parts in _PARTS.items()}


def _filled(part: str, head: str, tail: str) -> str:
    room = SIZE - len((head + tail).encode())
    return head + part * (room // len(part.encode())) + tail
