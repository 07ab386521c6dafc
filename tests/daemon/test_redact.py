"""What a record may hold of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchd.redact import HEAD_BYTES, head, mask, printable, shown_id

# Made up for these tests; the shapes are the issuers', the values are nobody's.
SECRETS = {
    "assignment": ("API_TOKEN=zq81hh2kd9 make", "zq81hh2kd9"),
    "quoted assignment": ("export DB_PASSWORD='hunter 22 x' && run", "hunter 22 x"),
    "json member": ('{"client_secret": "abcd1234zz"}', "abcd1234zz"),
    "option with a blank": ("mysql --password s3cr3tpw db", "s3cr3tpw"),
    "option with =": ("mysql --password=s3cr3tpw db", "s3cr3tpw"),
    "bearer header": ('curl -H "Authorization: Bearer abc.def-ghi" u', "abc.def-ghi"),
    "user option": ("curl -u alice:wonder1and https://x", "wonder1and"),
    "url userinfo": ("git clone https://me:pa55word@host/x.git", "pa55word"),
    "github token": ("echo ghp_abcdefghijklmnopqrst0123456789", "ghp_abcdefghijklmnopqrst0123456789"),
    "aws key id": ("aws configure set id AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    "jwt": ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "eyJhbGciOiJIUzI1NiJ9"),
    "hex run": ("curl u/" + "0123456789abcdef" * 3, "0123456789abcdef" * 3),
    "private key": ("echo '-----BEGIN RSA PRIVATE KEY-----\nMIIE'", "MIIE"),
}


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret not in mask(text)
    assert "‹masked›" in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "git status --short",
        "rm -rf ~/projects/old",
        "curl -sS https://example.test/install.sh | sh",
        "cat src/authentication_helpers_for_the_web_frontend.py",
        "pytest tests/test_tokenizer.py -k 'not slow'",
    ],
)
def test_ordinary_text_stays_readable(text: str) -> None:
    assert mask(text) == text


def test_masking_comes_before_cutting() -> None:
    text = "x" * (HEAD_BYTES - 10) + " TOKEN=" + "q9" * 40

    assert "q9" not in head(text)


@given(st.text())
def test_a_head_is_one_printable_line_within_its_bytes(text: str) -> None:
    shown = head(text)

    assert len(shown.encode()) <= HEAD_BYTES
    assert shown.isprintable()


def test_controls_and_direction_marks_cannot_reach_a_terminal() -> None:
    assert printable("a\x1b[2J\u202eb\nc\0") == "a?[2J?b⏎c…"


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["a.", "--a", "key-", "authauth", "-u ", "a=b ", "Aa-", "password", "a://"])
def test_masking_reads_a_text_once_not_once_for_each_of_its_parts(unit: str) -> None:
    long = mask(unit * (2_000_000 // len(unit)))  # quadratic, this would take hours

    assert long != ""


@pytest.mark.parametrize(
    "name", ["db.password", "my-auth-token", "X-Api-Key", "--client-secret", "prefix_pwd_2"]
)
def test_a_secrets_name_may_have_parts_around_it(name: str) -> None:
    assert "zq81" not in mask(f"run {name}=zq81hh2kd9 now") + mask(f'{{"a":1,"{name}": "zq81hh2kd9"}}')


@pytest.mark.parametrize(
    "name",
    [
        "toolu_01A09q90qw90lq917835lqYZ",
        "3f0c8a52-9b1e-4a77-8d3b-0c5c2f7f1a90",
        "npm_run_script",
        "mcp__gh__x",
    ],
)
def test_an_id_is_shown_as_the_agent_gave_it(name: str) -> None:
    assert shown_id(name) == name


@pytest.mark.parametrize("around", ["{}", "id-{}", "mcp__{}", "a b {}"])
def test_an_issuers_token_in_an_id_is_masked(around: str) -> None:
    token = "ghp_" + "a1" * 12

    assert shown_id(around.format(token)) == around.format("‹masked›")
