"""What code in a console or a lesser language starts, removes or takes from a pipe."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Operation, Status
from latchd.shell.facts import analyze

STARTS = """
guile -c '(system "mk a")'
guile -c '(system* "mk" "a")'
racket -e '(system "mk a")'
sbcl --eval '(uiop:run-program "mk a")'
clojure -e '(clojure.java.shell/sh "mk" "a")'
bb -e '(shell "mk a")'
elixir -e 'System.cmd("mk", ["a"])'
elixir -e ':os.cmd("mk a")'
erl -eval 'os:cmd("mk a").' -s init stop
groovy -e '"mk a".execute()'
groovy -e '["mk", "a"].execute()'
scala -e 'import sys.process._; "mk a".!'
ocaml -e 'Sys.command "mk a"'
ghc -e 'System.Process.callProcess "mk" ["a"]'
ghci -e ':!mk a'
crystal eval 'system("mk a")'
raku -e 'shell "mk a"'
jshell <<< 'Runtime.getRuntime().exec("mk a")'
echo 'syscmd(mk a)' | m4
ex -sc '!mk a' f
run0 mk a
run0 --user=root -D /x mk a
gdb -batch -ex 'python import os; os.system("mk a")'
lldb -b -o 'script import os; os.system("mk a")'
nvim --headless -c 'lua os.execute("mk a")' -c q
emacs -Q --batch --eval '(call-process "mk" nil nil nil "a")'
find . -exec guile -c '(system "mk a")' ';'
echo x | xargs raku -e 'shell "mk a"'
""".strip().splitlines()

MENTIONS = """
guile -c '(display "mk a")'
elixir -e 'IO.puts("mk a")'
groovy -e 'println "mk a"'
raku -e 'say "mk a"'
echo 'define(x, mk a)' | m4
run0 --help mk a
""".strip().splitlines()

REMOVES = {
    """emacs --batch --eval '(delete-directory "/x" t)'""": ("/x",),
    """vim -es -c 'call delete("/x", "rf")' -c q""": ("/x",),
    """julia -e 'rm("/x", recursive=true)'""": ("/x",),
    """groovy -e 'new File("/x").deleteDir()'""": ("/x",),
    """swift -e 'FileManager.default.removeItem(atPath: "/x")'""": ("/x",),
    """tclsh <<< 'file delete -force /x'""": ("/x",),
    """julia -e 'print("rm /x")'""": (),
    """groovy -e 'new File("/x").text'""": (),
}

FED = """
made | make -f -
made | awk -f - x
made | sed -f - x
made | ed x
made | ex -s x
made | gdb
made | lldb
made | expect
made | m4
made | deno run -
made | emacs --script /dev/stdin
""".strip().splitlines()


def runs(text: str) -> bool:
    return any(command.program == "mk" for command in analyze(text, cwd="/w", home="/h").commands)


@pytest.mark.parametrize("text", STARTS)
def test_a_command_that_code_of_a_lesser_language_starts_is_listed(text: str) -> None:
    assert runs(text)


@pytest.mark.parametrize("text", MENTIONS)
def test_code_that_only_mentions_a_command_starts_none(text: str) -> None:
    assert not runs(text)


def test_words_of_started_code_that_are_not_known_leave_the_facts_open() -> None:
    assert analyze("""guile -c "(system \\"$x\\")" """, cwd="/w", home="/h").status is not Status.COMPLETE


@pytest.mark.parametrize(("text", "paths"), REMOVES.items())
def test_what_code_removes_is_a_target_of_its_command(text: str, paths: tuple[str, ...]) -> None:
    facts = analyze(text, cwd="/w", home="/h")
    assert (
        tuple(path.value for path in facts.paths if path.access == "delete"),
        any(Operation.DELETE in command.operations for command in facts.commands),
    ) == (paths, bool(paths))


@pytest.mark.parametrize("text", FED)
def test_a_program_that_takes_its_code_from_a_pipe_runs_its_input(text: str) -> None:
    last = analyze(text, cwd="/w", home="/h").commands[1]
    assert Operation.RUN_INPUT in last.operations
