"""Each kind of file gives the shell texts in it, and which line of the file each line is."""

from __future__ import annotations

import pytest

from latch_client.scan import dockerfile, gitlab, makefile, package_json, shell, workflow
from latch_client.scan.kinds import Reader, by_head, by_name
from latch_client.scan.snippet import UNKNOWN, Snippet, Unreadable, with_unknowns


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/r/a.sh", "shell"),
        ("/r/.bashrc", "shell"),
        ("/r/Dockerfile", "dockerfile"),
        ("/r/Dockerfile.dev", "dockerfile"),
        ("/r/web.dockerfile", "dockerfile"),
        ("/r/Containerfile", "dockerfile"),
        ("/r/.github/workflows/ci.yml", "workflow"),
        ("/r/tool/action.yaml", "workflow"),
        ("/r/.github/dependabot.yml", ""),
        ("/r/.gitlab-ci.yml", "gitlab"),
        ("/r/Makefile", "makefile"),
        ("/r/rules.mk", "makefile"),
        ("/r/package.json", "package"),
        ("/r/package-lock.json", ""),
        ("/r/a.py", ""),
    ],
)
def test_a_name_tells_the_kind(path: str, kind: str) -> None:
    assert by_name(path) == kind


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("#!/bin/sh\n", "shell"),
        ("#! /usr/bin/env -S bash -eu\n", "shell"),
        ("#!/usr/bin/env A=1 dash\n", "shell"),
        ("#!/usr/bin/env python3\n", ""),
        ("#!/bin/zsh\n", ""),
        ("rm -rf x\n", ""),
    ],
)
def test_a_first_line_tells_the_kind(head: str, kind: str) -> None:
    assert by_head(head) == kind


def test_a_script_is_one_text_and_one_of_another_interpreter_is_none() -> None:
    assert list(shell.read("echo a\necho b\n")) == [Snippet("echo a\necho b\n", (1, 2))]
    assert list(shell.read("#!/usr/bin/python3\nimport os\n")) == []


DOCKERFILE = """# escape=\\
FROM debian AS base
RUN apt-get update && \\
    # why

    apt-get install -y git
RUN --mount=type=cache,target=/c --network=none ["sh", "-c", "echo $HOME"]
run <<EOF
set -e
make
EOF
RUN <<-PY python3
	print(1)
	PY
RUN <<EOF
#!/usr/bin/env python3
print(1)
EOF
ONBUILD RUN make install
COPY <<EOF /x
RUN rm -rf /
EOF
CMD ["x"]
SHELL ["powershell", "-command"]
RUN dir
"""


def test_the_runs_of_a_dockerfile() -> None:
    assert list(dockerfile.read(DOCKERFILE)) == [
        Snippet("apt-get update && \\\n    apt-get install -y git\n", (3, 6), "/", in_image=True),
        Snippet("sh -c 'echo $HOME'\n", (7,), "/", in_image=True),
        Snippet("set -e\nmake\n", (9, 10), "/", in_image=True),
        Snippet("<<-PY python3\n\tprint(1)\n\tPY\n", (12, 13, 14), "/", in_image=True),
        Snippet("make install\n", (19,), "/", in_image=True),
    ]


def test_a_dockerfile_may_name_another_escape() -> None:
    text = "# escape=`\nFROM x\nRUN echo a `\n  b\n"

    assert [snippet.text for snippet in dockerfile.read(text)] == ["echo a \\\n  b\n"]


WORKFLOW = """
on: push
defaults: {run: {working-directory: web}}
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: make
      - run: |
          echo "${{ github.ref }}"
          echo '${{ github.sha }}'
        working-directory: api
      - run: >
          echo
          a
      - {shell: python, run: import os}
      - {shell: "bash -x {0}", run: "ls"}
  b:
    runs-on: [self-hosted, windows]
    steps: [{run: dir}, {shell: bash, run: "ls"}]
"""


def test_the_steps_of_a_workflow() -> None:
    assert list(workflow.read(WORKFLOW)) == [
        Snippet("make", (9,), "web", stops=True),
        Snippet(f"echo \"{UNKNOWN}\"\necho ''\"{UNKNOWN}\"''\n", (11, 12, 13), "api", stops=True),
        Snippet("echo a\n", (14,), "web", stops=True),
        Snippet("ls", (18,), "web"),
        Snippet("ls", (21,), "web", stops=True),
    ]


def test_the_steps_of_a_composite_action() -> None:
    text = "runs:\n  using: composite\n  steps:\n    - {shell: bash, run: ls}\n"

    assert list(workflow.read(text)) == [Snippet("ls", (4,), stops=True)]


GITLAB = """
default: {before_script: [apt-get update]}
variables: {A: b}
job:
  before_script:
    - cd web
  script:
    - make
    - !reference [.other, script]
    - |
      a
      b
  after_script: rm x
.hidden: {script: [[ls, pwd]]}
"""


def test_the_scripts_of_gitlab_ci_run_together() -> None:
    assert list(gitlab.read(GITLAB)) == [
        Snippet("apt-get update\n", (2,), stops=True),
        Snippet("cd web\nmake\na\nb\n", (6, 8, 11, 12), stops=True),
        Snippet("rm x\n", (13,), stops=True),
        Snippet("ls\npwd\n", (14, 14), stops=True),
    ]


MAKEFILE = """BUILD := build
TWICE = a
TWICE = b
SH = $(shell pwd)
all: $(BUILD)
\t@echo $(BUILD) $(TWICE) $@ '$(SH)' # $$x
ifdef X
\t-rm -rf $(BUILD) \\
\t  $(dir $(firstword $(A)))
endif
\t$(MAKE) x
"""


def test_the_recipes_of_a_makefile() -> None:
    assert list(makefile.read(MAKEFILE)) == [
        Snippet(f"echo build {UNKNOWN} {UNKNOWN} ''\"{UNKNOWN}\"'' # $x\n", (6,)),
        Snippet(f"rm -rf build \\\n  {UNKNOWN}\n", (8, 9)),
        Snippet("make x\n", (11,)),
    ]


NOT_RECIPES = """OBJECTS = a.o \\
\tb.o \\
\tc.o
\tORPHAN
CC = gcc -O2
LINK = $(CC) -shared $(CFLAGS2)
CFLAGS2 = -g
TOOL = $(BASE)/tool
BASE = $(shell pwd)
all: a.o \\
\tb.o
\t$(LINK) $(OBJECTS)
\t$(RM) $(notdir $(X))
\t$(info told)
\t$(TOOL) x
override A = b
\tORPHAN
x: y ; z
export PYTHON := python3.12
"""


def test_what_is_no_recipe_is_not_read_as_one_and_variables_within_variables_are_put_in() -> None:
    assert list(makefile.read(NOT_RECIPES)) == [
        Snippet(f"gcc -O2 -shared -g {UNKNOWN}\n", (12,)),
        Snippet(f"rm -f {UNKNOWN}\n", (13,)),
        Snippet(f"{UNKNOWN} x\n", (15,)),
    ]


def test_one_shell_runs_a_whole_recipe_when_the_makefile_says_so() -> None:
    assert list(makefile.read(".ONESHELL:\na:\n\tcd x\n\trm y\nb:\n\tls\n")) == [
        Snippet("cd x\nrm y\n", (3, 4)),
        Snippet("ls\n", (6,)),
    ]
    assert list(makefile.read("SHELL := /usr/bin/python3\na:\n\tprint(1)\n")) == []


def test_the_scripts_of_a_package() -> None:
    text = '{\n  "name": "test",\n  "scripts": {\n    "test": "jest",\n    "x": ""\n  }\n}'

    assert list(package_json.read(text)) == [Snippet("jest\n", (4,))]
    assert list(package_json.read('{"name": "x"}')) == []


@pytest.mark.parametrize(
    ("reader", "text", "why"),
    [
        (package_json.read, "[]", "is no JSON object"),
        (package_json.read, "{", "is no JSON: "),
        (workflow.read, "a: [", "is no YAML at line 1: "),
        (gitlab.read, "a: b: c", "is no YAML at line 1: "),
        (workflow.read, "[" * 1000, "is no YAML"),
    ],
)
def test_a_file_that_is_not_of_its_kind_says_so(reader: Reader, text: str, why: str) -> None:
    with pytest.raises(Unreadable) as told:
        list(reader(text))

    assert str(told.value).startswith(why)


@pytest.mark.parametrize(
    ("text", "span", "filled"),
    [
        ("echo X", (5, 6), f"echo {UNKNOWN}"),
        ('echo "aX"', (7, 8), f'echo "a{UNKNOWN}"'),
        ("echo 'aX'", (7, 8), f"echo 'a'\"{UNKNOWN}\"''"),
        ("echo \\'X", (7, 8), f"echo \\'{UNKNOWN}"),
        ("# don't\nX", (8, 9), f"# don't\n{UNKNOWN}"),
    ],
)
def test_an_unknown_part_stays_one_inside_quotes(text: str, span: tuple[int, int], filled: str) -> None:
    assert with_unknowns(text, [span]) == filled
