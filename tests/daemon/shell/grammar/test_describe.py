"""describe answers for any words, and keeps what it can't know unknown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.shell.grammar.grammar_lines import CONTEXT, words_of
from latch_contracts.facts import Argument, Operation
from latchd.shell.grammar import Description, describe
from latchd.shell.grammar.registry import find, program_names

WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "--",
                "-",
                "-rf",
                "--force",
                "-c",
                "reset",
                "--hard",
                "s/a/b/w x",
                "@f",
                "a=b",
                "\0",
                "-\0",
                "x:y",
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=8,
)


def test_a_program_without_a_table_is_unknown_and_executes() -> None:
    assert describe("frobnicate", (Argument(value="x"),), CONTEXT) == Description(
        known=False, operations=(Operation.EXECUTE,)
    )


def test_versions_and_windows_suffixes_lead_to_the_same_entry() -> None:
    assert find("python3.11") is find("python")
    assert find("GIT.exe") is find("git")
    assert find("frobnicate3") is None


@given(st.sampled_from(sorted(program_names())), WORDS)
def test_no_words_make_a_table_fail(program: str, values: list[str]) -> None:
    words = [Argument(value=value, expands="\0" in value) for value in values]

    assert "grammar-fault" not in describe(program, words, CONTEXT).details


def test_writing_to_a_disk_is_seen_whatever_the_program() -> None:
    for line in ("cp image /dev/sdb", "tee /dev/nvme0n1", "mv a /dev/mapper/root"):
        assert Operation.DISK_WRITE in describe(*words_of(line)).operations, line


def test_harmless_lines_have_no_effect_worth_a_rule() -> None:
    quiet = {Operation.READ, Operation.LIST, Operation.SEARCH}
    for line in ("ls -la", "git status", "grep -rn x src", "cat README.md", "docker ps", "echo 'rm -rf /'"):
        assert set(describe(*words_of(line)).operations) <= quiet, line
