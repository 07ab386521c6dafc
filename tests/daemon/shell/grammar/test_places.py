"""Paths are proven by text alone or not at all; hosts get one spelling and a scope."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Access, Argument, Flavor, NetAction, NetworkFact, PathFact, Quote, Scope
from latchd.shell.grammar import Contact, Context, Target, network_fact, path_fact
from latchd.shell.grammar.hosts import legacy_ipv4
from latchd.shell.grammar.places import normalize, raw_disk

CONTEXT = Context(cwd="/home/dev/project", home="/home/dev")


def resolved(
    value: str, *, quote: Quote = Quote.NONE, context: Context = CONTEXT, globs: bool = False
) -> str:
    word = Argument(value=value, quote=quote, expands="\0" in value, globs=globs)
    return path_fact(1, Target(Access.READ, word), context).resolved


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "/home/dev/project/a"),
        ("./a//b/../c/", "/home/dev/project/a/c"),
        ("../x", "/home/dev/x"),
        ("/", "/"),
        ("//etc//passwd", "/etc/passwd"),
        ("/../..", "/"),
        ("~", "/home/dev"),
        ("~/.ssh/x", "/home/dev/.ssh/x"),
        ("~root/x", "/root/x"),
        ("~other/x", ""),
        ("~+/x", "/home/dev/project/x"),
        ("/tmp/\0/x", ""),
        ("", ""),
        ("C:\\x", ""),
        ("*.py", "/home/dev/project/*.py"),
        ("a*/../b", ""),
    ],
)
def test_a_path_resolves_where_its_text_proves_it(value: str, expected: str) -> None:
    assert resolved(value) == expected


def test_a_quoted_tilde_is_a_file_name() -> None:
    assert resolved("~/x", quote=Quote.SINGLE) == "/home/dev/project/~/x"


def test_nothing_relative_resolves_without_a_working_directory() -> None:
    assert resolved("a", context=Context(cwd="", home="")) == ""
    assert resolved("~/a", context=Context(cwd="/x", home="")) == ""
    assert resolved("/a", context=Context(cwd="", home="")) == "/a"


def test_a_path_fact_keeps_what_is_known_of_a_dynamic_word() -> None:
    word = Argument(value="/tmp/\0/../x", expands=True)

    assert path_fact(3, Target(Access.DELETE, word, recursive=True), CONTEXT) == PathFact(
        command_id=3,
        access=Access.DELETE,
        value="/tmp/\0/../x",
        normalized="/tmp/\0/../x",
        expands=True,
        recursive=True,
    )


def test_leading_parents_stay_in_a_relative_text() -> None:
    assert normalize("../../a/./b/..") == "../../a"


@pytest.mark.parametrize(
    ("path", "flavor"),
    [
        ("/dev/sda", Flavor.DEVICE),
        ("/dev/shm/x", Flavor.POSIX),
        ("D:\\x", Flavor.WINDOWS),
        ("/a", Flavor.POSIX),
    ],
)
def test_devices_and_drives_are_told_from_files(path: str, flavor: Flavor) -> None:
    assert path_fact(1, Target(Access.WRITE, Argument(value=path)), CONTEXT).flavor is flavor


@pytest.mark.parametrize(
    "path",
    [
        "/dev/sda",
        "/dev/sdb1",
        "/dev/nvme0n1p2",
        "/dev/vda",
        "/dev/mapper/a",
        "/dev/disk2",
        "/dev/md0",
        "/dev/sd*",
    ],
)
def test_block_devices_are_disks(path: str) -> None:
    assert raw_disk(path)


@pytest.mark.parametrize(
    "path",
    ["/dev/null", "/dev/stdin", "/dev/tty", "/dev/shm/sda", "/home/sda", "/dev/sdcard/x", "/dev/random"],
)
def test_other_devices_are_not(path: str) -> None:
    assert not raw_disk(path)


@pytest.mark.parametrize(
    ("word", "host", "scheme", "port", "normalized", "scope"),
    [
        ("https://Example.com:8443/a?b", "Example.com", "https", 8443, "example.com", Scope.UNKNOWN),
        ("me@example.com:/srv", "example.com", "", 0, "example.com", Scope.UNKNOWN),
        ("localhost:8080", "localhost", "", 8080, "localhost", Scope.LOOPBACK),
        ("http://127.1/", "127.1", "http", 0, "127.0.0.1", Scope.LOOPBACK),
        ("http://0x7f000001", "0x7f000001", "http", 0, "127.0.0.1", Scope.LOOPBACK),
        ("http://2852039166/", "2852039166", "http", 0, "169.254.169.254", Scope.LINK_LOCAL),
        (
            "http://0251.0376.0251.0376/",
            "0251.0376.0251.0376",
            "http",
            0,
            "169.254.169.254",
            Scope.LINK_LOCAL,
        ),
        ("10.1.2.3", "10.1.2.3", "", 0, "10.1.2.3", Scope.PRIVATE),
        ("http://[::1]:80/", "::1", "http", 80, "::1", Scope.LOOPBACK),
        ("http://[::ffff:8.8.8.8]/", "::ffff:8.8.8.8", "http", 0, "8.8.8.8", Scope.PUBLIC),
        ("ssh://git@host.example/x", "host.example", "ssh", 0, "host.example", Scope.UNKNOWN),
        ("http://good.example@evil.example/", "evil.example", "http", 0, "evil.example", Scope.UNKNOWN),
        ("http://%6c%6fcalhost/", "%6c%6fcalhost", "http", 0, "localhost", Scope.LOOPBACK),
    ],
)
def test_a_peer_word_is_taken_apart(
    word: str, host: str, scheme: str, port: int, normalized: str, scope: Scope
) -> None:
    assert network_fact(2, Contact(NetAction.CONNECT, Argument(value=word))) == NetworkFact(
        command_id=2,
        action=NetAction.CONNECT,
        host=host,
        scheme=scheme,
        port=port,
        normalized_host=normalized,
        scope=scope,
    )


def test_a_dynamic_path_leaves_the_host_known_and_a_dynamic_host_does_not() -> None:
    known = network_fact(1, Contact(NetAction.DOWNLOAD, Argument(value="https://a.example/\0", expands=True)))
    unknown = network_fact(
        1, Contact(NetAction.DOWNLOAD, Argument(value="https://\0.example/", expands=True))
    )

    assert (known.normalized_host, known.expands) == ("a.example", False)
    assert (unknown.normalized_host, unknown.expands) == ("", True)


def test_numbers_too_large_for_an_address_are_names() -> None:
    assert legacy_ipv4("4294967296") is None
    assert legacy_ipv4("256.1.1.1") is None
    assert legacy_ipv4("1.2.3.4.5") is None
    assert legacy_ipv4("0x") == 0
