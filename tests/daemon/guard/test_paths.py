"""Patterns by components, and the part of the machine a path is in."""

from __future__ import annotations

import pytest

from latchd.guard.paths import Place, meets, place_of
from latchd.guard.places import control_plane, credential, hook_file, own, persistence, protected

HOME = "/home/dev"
ROOT = "/home/dev/project"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", Place.ROOT),
        ("/*", Place.ROOT),
        ("/home", Place.HOME),
        ("/home/*", Place.HOME),
        (HOME, Place.HOME),
        (f"{HOME}/*", Place.HOME),
        (f"{HOME}/.*", Place.HOME),
        ("/home/other", Place.HOME),
        (f"{HOME}/other", Place.OUTSIDE),
        (ROOT, Place.PROJECT_ROOT),
        (f"{ROOT}/*", Place.PROJECT_ROOT),
        (f"{ROOT}/*.o", Place.PROJECT),
        (f"{ROOT}/src/*", Place.PROJECT),
        (f"{ROOT}/.git", Place.REPOSITORY),
        (f"{ROOT}/sub/.git/config", Place.REPOSITORY),
        (f"{ROOT}/.gitignore", Place.PROJECT),
        ("/home/dev/PROJECT/src", Place.PROJECT),
        ("/home/dev/project2", Place.OUTSIDE),
        ("/tmp", Place.OUTSIDE),
        ("/tmp/*", Place.SCRATCH),
        ("/tmp/x", Place.SCRATCH),
        ("/var/tmp/x", Place.SCRATCH),
        ("/etc/hosts", Place.SYSTEM),
        ("/dev/null", Place.HARMLESS),
        ("/dev/sda", Place.DEVICE),
        ("/srv/data", Place.OUTSIDE),
    ],
)
def test_every_path_is_somewhere(path: str, place: Place) -> None:
    assert place_of(path, (ROOT,), HOME) is place


def test_a_home_or_the_machine_as_root_is_no_project() -> None:
    assert place_of(f"{HOME}/x", (HOME,), HOME) is Place.OUTSIDE
    assert place_of("/srv/x", ("/",), HOME) is Place.OUTSIDE


def test_a_project_in_scratch_is_still_a_project() -> None:
    assert place_of("/tmp/work", ("/tmp/work",), HOME) is Place.PROJECT_ROOT
    assert place_of("/tmp/work/.git", ("/tmp/work",), HOME) is Place.REPOSITORY


@pytest.mark.parametrize(
    ("part", "wanted", "met"),
    [
        (".env", ".env", True),
        (".env.local", ".env.*", True),
        (".dev.v*", ".dev.vars", True),
        (".en[v]", ".env", True),
        (".en?", ".env", True),
        ("*", ".env", False),
        (".*", ".env", False),
        ("id_*", "id_rsa*", True),
        ("*.pem", "*.pem", True),
        ("server*.pem", "*.pem", True),
        ("lib*.so", "*_rsa", False),
        ("cred*", "credentials", True),
        ("c*", "credentials", False),
    ],
)
def test_a_glob_meets_a_name_only_when_its_own_letters_point_there(part: str, wanted: str, met: bool) -> None:
    assert meets(part, wanted) is met


@pytest.mark.parametrize(
    "path",
    [
        "/home/dev/.ssh/id_rsa",
        "/home/dev/.ssh",
        "/home/other/.aws/credentials",
        "/root/.kube/config",
        "~/.netrc",
        "\0/.aws/credentials",
        "/home/dev/project/.env",
        "/home/dev/project/.env.production",
        "/home/dev/project/.ENV",
        "/home/dev/project/.env.bak",
        "/home/dev/project/certs/server.key",
        "/home/dev/project/terraform.tfstate",
        "/etc/shadow",
        "/proc/1234/environ",
        "/home/dev/.claude/.credentials.json",
        "/home/dev/.ssh/id_*",
    ],
)
def test_these_are_credentials(path: str) -> None:
    assert credential(path, HOME) != ""


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/home/dev/.ssh/id_rsa.pub",
        "/home/dev/.ssh/known_hosts",
        "/home/dev/project/.env.example",
        "/home/dev/project/.env.sample.local",
        "/home/dev/project/src/credentials.py",
        "/home/dev/project/environment.ts",
        "/home/dev/project/tests/fixtures/.aws/config",
        "/etc/ssl/certs/ca.pem",
        "/proc/self/status",
        "/home/dev/project/keyboard.key.md",
        "/home/dev/project/*",
    ],
)
def test_these_are_none(path: str) -> None:
    assert credential(path, HOME) == ""


def test_each_table_knows_its_own() -> None:
    assert persistence("/home/dev/.bashrc", HOME) == "~/.bashrc"
    assert persistence("/home/dev/project/README.md", HOME) == ""
    assert hook_file("/home/dev/project/.claude/settings.local.json", HOME) == ".claude/settings*.json"
    assert control_plane("/home/dev/.claude/skills/x/SKILL.md", HOME) == "~/.claude/skills"
    assert own("/run/user/1000/latchd/hook.sock", HOME) == "/run/user/*/latchd"
    assert protected("/home/dev/project/.git/config", HOME, ()) == ".git"
    assert protected("/home/dev/project/infra/prod/a.tf", HOME, ("infra/prod",)) == "infra/prod"
    assert protected("/home/dev/project/infra/dev/a.tf", HOME, ("infra/prod",)) == ""
