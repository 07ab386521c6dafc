"""What the programs of the fuzz grammar are made of. Data only; none of it names anything that exists."""

from __future__ import annotations

from typing import Final

# words whose value the text alone decides
LITERALS: Final = (
    *r"""
a b1 'b' "d" f\g $'h\ti' '' "" ~ * [ab] ?z \# a#b '#' $'\'' "\"" {a,b} {} {1..3} x{y,}z \` '`' "$" $
'$(mk)' '`mk`' "\$(mk)" - -- -x --long=v ! é a=b } { ]] [[ \{ if done then fi esac in do time
function coproc case ^ % @ + , a:b = == a==b 'a'"b"c "a'b" 'a"b' \\ "\\" '\' a\\b "$'x'" ~a a~ x=~ ]
[ a[0] "*" '?' \* \? {,} $'\x41' $'\101' $'\u00e9' "!" 1 2 10 a@b a%b 日本 \é 'é' t-t a.b.c ..b $"j"
-1 +x a+=b 'a|b' "a;b" a\;b \| '&' {a,'b,c'} a\\\b 'a'\''b'
""".split(),
    "'b c'",
    '"d e"',
    "f\\ g",
    '"a\nb"',
    "'a\nb'",
    "a\\\nb",
    '"a\\\nb"',
    "$'a\\\nb'",
    '$"j k"',
    "$'a b'",
    "{a,b\\ c}",
    "' '",
    "\\ ",
    "\\\n",
    "'# c'",
    '"# c"',
    "a'b c'd",
)
# words that expand a variable
VARIABLES: Final = (
    *r"""
$x "$x" ${x} "${x}" $y ${#x} ${x:1} ${x:0:1} ${x%k} ${x##*k} ${x/a/b} ${x//a} ${x^^} ${x@Q} $# $? $$
$! $- $0 $1 "$1" ${1} $@ "$@" $* "$*" ${x[0]} "${a[@]}" ${a[*]} ${#a[@]} ${!x} ${!a[@]} ${!x*}
${x:-a} ${x:+mk} ${x:=mk} ${x+a} "${x:-'a'}" "a$x" a"$x"b $x$y ${y:-$x} "${x}k" $((1+1)) $((x))
$((x+1)) "$((1))" $[1+1] ${x:(-1)} $_ "$#" ${x,,} ${x:-$'q'} ${y:-{a,b}}
""".split(),
    "${x-'b c'}",
    '"${x:-a b}"',
    "$(( (1+2)*3 ))",
    "${x: -1}",
    '${x:-"a b"}',
)
# statements that record nothing themselves but change how the rest is read
SMALL: Final = (
    *r"""
true false : x=mk y=a x= x+=k a=() x=$y y="$x" shift exit return break continue wait ((1+1)) ((x=1))
((x++)) umask jobs IFS=: IFS= a[1]=mk x=$'mk' x="m"k x=m\k x=~ alias x=* x='*' x={a,b}
""".split(),
    "a=(1 mk)",
    "x='mk t0'",
    "unset x",
    "export y=2",
    "declare -i z=1",
    "local q",
    "readonly r=1",
    "set -e",
    "set +e",
    "set -- mk t0",
    "set -x",
    "cd .",
    "[ -n a ]",
    "[[ a =~ b|c ]]",
    "[[ -n $x && a == b* ]]",
    "[[ ! -e f ]]",
    "let x=1",
    "let 'x = 2'",
    "shopt -s extglob",
    "shopt -s nullglob",
    "hash -r",
    "read x <<< mk",
    "read -r x y <<< 'mk t0'",
    "read x",
    "printf -v x mk",
    "printf -v x %s mk",
    "mapfile -t a <<< mk",
    "x=mk y=k2",
    "declare x=mk",
    "typeset -r v=1",
    "export x",
    "declare -a b=(mk)",
    "declare -A h=([a]=mk)",
    "getopts ab x",
    "set -o noglob",
    "set +o noglob",
    "unset a",
    "trap - EXIT",
    "trap '' EXIT",
    "enable -n test",
    "type mk",
    'test -n "$x"',
    "test 1 -eq 1",
    "[ a = b ]",
    "[[ $x -eq 1 ]]",
    "[[ x -lt 2 ]]",
    "[[ -v x ]]",
    "declare -n n=x",
    "unset -f f",
    "shopt -u expand_aliases",
    "set -f",
    "unalias -a",
)
# put into a text anywhere
NOISE: Final = (
    *r"""
' " ` $ ( ) { } ; & | < > # \ <<E mk $( ! = [ ] * ? (( )) [[ ]] ${ <( if done ~ @( ;;
""".split(),
    "\\\n",
    "\n",
    " ",
    "\t",
    "\r",
    "\x0b",
    "E\n",
    "time ",
    "coproc ",
)
