"""Real bash is the oracle: no command that it runs is missing from facts that call themselves complete.

Texts come from the grammar of `shellfuzz.programs` or stand here; none of a corpus is ever run. Where a
command's words are literal in the facts, the program got exactly these words.
"""

from __future__ import annotations

import pytest

from corpora import needs_shared_data, rows
from latch_contracts.facts import Issue, Status
from latchd.shell.facts import analyze
from shellfuzz.programs import seeded
from shellfuzz.recorder import BASH, Recorder, missed, unlisted

GENERATED = 17_000  # programs of the long run; about a third have complete facts and are run
RUN = 5_000
_READERS = ("bash", "source", ".")  # `bash mk` reads mk as a script: that is no command of the text

needs_bash = pytest.mark.skipif(not BASH, reason="no bash on this machine")


def vouched_without(text: str) -> bool:
    """Whether the facts are complete and mk is not among their commands."""
    facts = analyze(text, cwd="/w", home="/h")
    if facts.status is not Status.COMPLETE:
        return False
    return all(
        command.program != "mk" and not (command.program in _READERS and "mk" in command.argv[1:])
        for command in facts.commands
    )


_HARD = [
    "echo $(($(cat <<'E'\n$(\nE\n) + 1)); k2",
    "1a=2 mk",
    "x=1 1a=2 b=3 mk",
    'coproc set -- mk a; "$@"; mk $1',
    'set -- mk \'a b\'; "$@"; $@; $1 "$*"',
    "set -- a b; shift; mk $1; shift 5; mk $1",
    "set -eu -o pipefail -- a; mk $1",
    'set -- ; mk "$@" "x$@" "$*"',
    'f() { mk "$@"; shift; mk "$1"; }; f \'a b\' c; f',
    'f() { local x=$1; mk $x; [ "$1" = a ] && f b; }; f a',
    "x=a; f() { mk $x; x=b; }; f; mk $x",
    'f() { mk $1; }; g() { f "$2"; }; g a b; f() { k2 $1; }; g c d',
    'sh -c \'mk "$0" "$1" "$9"\' a \'b c\'',
    "bash -c 'for i; do mk \"$i\"; done' _ 'a b' c",
    "bash -s -- a <<< 'mk $1'",
    "IFS=:; set -- a:b; mk $1",
    "$(echo mk) a; $(echo 'mk  b'); \"$(printf mk)\" c",
    'x=$(echo \'mk a\'); $x; eval "$x"; bash -c "$(echo mk b)"',
    "echo() { printf k2; }; $(echo mk) a",
    "bash <(echo mk a); . <(printf 'mk b'); echo mk c | tee >(sh) | cat; bash < <(echo mk d)",
    "cat <(echo mk a) | sh",
    "{mk,a}; x=1 {mk,{b,c}}; { {mk,'d'}; }; if {mk,e}; then :; fi",
    "shopt -s expand_aliases\nalias q='mk a'\nq b\n",
    'hash -p "$(type -p mk)" q; q a',
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
    "! ((<<mk k2 a\nmk\nk2) )",
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
    # what the generator brought to light, each as its smallest neighbour
    "{fd}>f mk a",
    "mk a {fd}>f b",
    "exec {fd}>f; mk >&$fd",
    "mk a=~ b=x:~ c~",
    "[[ -v 'a[`mk \"x\"`]' ]]",
    "x='a[$(mk)]'; let x",
    "x='a[$(mk \"é\")]'; ((x))",
    "declare -i z; z='a[$(mk)]'",
    "echo 'a[$(mk \\ b)]' > f; read x < f; : $((x))",
    "echo mk > f; . f",
    "echo mk a > f; echo b >> f; bash f",
    "cat > f <<'E'\nmk a\nE\nbash f",
    "{ echo mk; } > f; bash f",
    "echo mk | tee f; bash f",
    "echo mk > f; cp f g; . g",
    "echo mk > f; mv f g; bash -e g",
    "for i in 1 2; do . f; echo mk > f; done",
    "<f | cat|mk a\n! mk b && mk c",
    "!] mk",
    "if] mk; then :; fi",
    "! mk &>f a",
    "coproc mk <<< 10 == 3>&1; wait",
    "true | 0<f mk a",
    "mk a 4294967296>f",
    "PS4=': $((mk a) ; (mk b))'; set -x; :",
    "readonly x=mk; x=true; $x",
    "x=mk; { local x=true; }; $x",
    "mapfile -C 'mk a' -c 1 <<< a",
    ": $(( a[$( : <<'E'\nit's\nE\nmk)] ))",
    "[[ -v 'a[$(mk a <<E\n)\nE\nmk b)]' ]]",
    "true |& time mk",
    'f() { "$@"; }; f mk a',
    'set -- mk a; "$@"',
    "((mk a) )",
    ": $((mk a) )",
    'a=(mk "b c" d); "${a[@]}"; ${a[@]}; ${a[0]} "${a[1]}" ${a[1]} ${a[7]}; "${a[*]}"; ${a[*]}',
    'a=(); mk "${a[@]}" "x${a[@]}y" "${a[*]}" ${a[@]}; a+=(b); a+=(c{1,2} "$(echo d e)"); mk p"${a[@]}"q',
    'a=(mk); a[0]=k2; "${a[@]}"; a=([1]=mk b); "${a[@]}"; a[x=1]=mk; ${a[1]}',
    'a=(mk b); unset "a[0]"; "${a[@]}"; a=(mk c); unset a; mk "${a[@]}"; a=mk; "${a[@]}" ${a[0]}',
    'a=(mk b); read -a a <<< "k2 c"; "${a[@]}"; mapfile -t a <<< mk; "${a[@]}"',
    'a=(true); f() { a=(mk b); }; f; "${a[@]}"; (a=(k2)); "${a[@]}"; { local a=(k2); }; "${a[@]}"',
    'if true; then a=(mk); else a=(k2); fi; "${a[@]}"; for i in "${a[@]}"; do $i; done',
    'GROUPS=(mk); mk "${GROUPS[@]}"; PIPESTATUS=(mk); mk "${PIPESTATUS[@]}"; RANDOM=mk; mk $RANDOM',
    'readonly a=(mk b); a=(k2); "${a[@]}"',
    'declare -a a=(mk b); "${a[@]}"; declare -a a=\'(k2 c)\'; "${a[@]}"; declare -A m=([x]=mk); "${m[x]}"',
    'declare -n r=a; a=(mk b); r=(k2 c); "${a[@]}"; "${r[@]}"',
    'a=(mk b) true "${a[@]}"; a=(k2 "$(mk c)" `mk d`); IFS=b; a=(mk abc); ${a[*]}',
    'a=(mk); export a; bash -c \'"${a[@]}" b; $a c; mk d\'; set -u; mk "${a[@]}"',
    'a=(mk b); a=("${a[@]}" c); "${a[@]}"; a=("x" "${a[@]}"); mk "${a[@]}"',
    'a=(\n mk # b\n c\n); "${a[@]}"; m["k b"]=1; mk; n[$(mk d)]=1',
    "shopt -s extglob\nmk !(x) 'a b'!(c) q@(d|+(e))?(f); mk \"?(b)\" ?(c)",
    "shopt -s extglob\nif !(mk g); then :; fi; time -p !(mk h); mk !(c) || !(mk i)",
    "shopt -s extglob\nfor i in !(x); do mk; done; x=+(a) mk $x; case a in @(a|b)) mk c;; esac",
    "!(mk a); ! (mk b); true; mk !(c)",
    'echo $(mk <<E; k2 a; mk b\nE\n) "$({ mk <<E && k2 a; mk b\nE\n})" <(mk <<E; k2 c; mk d\nE\n)',
]


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    return Recorder(tmp_path_factory.mktemp("recorder") / "r")


def silent_misses(recorder: Recorder, seeds: range) -> tuple[list[tuple[int, str]], int]:
    """Programs with a call that complete facts do not list, and how many programs were run."""
    found: list[tuple[int, str]] = []
    count = 0
    for seed in seeds:
        text = seeded(seed)
        facts = analyze(text, cwd="/w", home=str(recorder.home))
        if facts.status is Status.COMPLETE:
            count += 1
            if unlisted(facts, recorder.run(text)):
                found.append((seed, text))
    return found, count


@needs_bash
def test_the_recorder_tells_names_and_words_of_what_ran(recorder: Recorder) -> None:
    assert sorted(recorder.run("mk 'a b' \"\" & k2 é | cat; nowhere x\nwait")) == [
        ("k2", "é"),
        ("mk", "a b", ""),
        ("nowhere", "x"),
    ]


@needs_bash
def test_a_call_that_is_not_listed_to_the_letter_is_a_miss(recorder: Recorder) -> None:
    facts = analyze("mk a; k2 $x; true")

    assert unlisted(facts, [("mk", "a"), ("k2", "any", "thing")]) == []
    assert unlisted(facts, [("mk", "b"), ("mk",), ("a.b",)]) == [("mk", "b"), ("mk",), ("a.b",)]


@needs_bash
@pytest.mark.parametrize("text", _HARD)
def test_facts_of_a_hard_text_list_what_bash_ran_or_are_not_complete(recorder: Recorder, text: str) -> None:
    assert missed(recorder, text) == []


@needs_bash
def test_facts_of_a_program_list_what_bash_ran_or_are_not_complete(recorder: Recorder) -> None:
    found, _ = silent_misses(recorder, range(500))

    assert found == []


@needs_bash
@pytest.mark.slow
def test_facts_of_many_programs_list_what_bash_ran_or_are_not_complete(recorder: Recorder) -> None:
    found, count = silent_misses(recorder, range(100_000, 100_000 + GENERATED))

    assert found == []
    assert count >= RUN  # a generator or an analyser that leaves less to run proves less


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
