"""Commands that run somewhere else: in a container, on another host, in a terminal multiplexer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import NOTHING, Child, Unwrapped, joined, program_name, word_at
from latchd.shell.listing import Input
from latchd.shell.options import parse_options, short_options
from latchd.shell.redirects import code_text
from latchd.shell.wrappers import Options, Tail

_DOCKER_VALUES = frozenset(
    "-e -u -w -v -p -h -l -m -c -a --env --user --workdir --volume --publish --name --network --net"
    " --hostname --label --memory"
    " --cpus --entrypoint --env-file --mount"
    " --add-host --device --cap-add --cap-drop --restart --platform --ip --dns --log-driver"
    " --log-opt --security-opt --shm-size --tmpfs --ulimit --volumes-from --pid --ipc --userns --gpus"
    " --runtime --pull --link"
    " --expose --group-add --cidfile --detach-keys -H --host --context --config -n --namespace -f --file"
    " --project-name"
    " --container --kubeconfig --cluster --as --profile --index --log-level --project-directory".split()
)


def container(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """docker|podman exec/run, compose exec/run, kubectl exec/debug."""
    index, verb, entry = 1, "", ""
    is_kubectl = program_name(words[0].value) in ("kubectl", "oc")
    operands = 0
    while index < len(words):
        value = words[index].value
        if value == "--" and verb:
            index += 1
            break
        if value.startswith("-"):
            name, equals, rest = value.partition("=")
            if name == "--entrypoint":
                entry = rest if equals else word_at(words, index + 1).value
            short = (
                re.match(r"-[a-zA-Z]+\Z", name)
                and not name.startswith("--")
                and "-" + name[-1] in _DOCKER_VALUES
            )
            if is_kubectl and name in ("-p", "-f", "-h", "-l", "-a", "-m", "-u", "-w", "-v", "-e"):
                short = None
            index += 2 if not equals and (name in _DOCKER_VALUES or short) else 1
            continue
        if not verb:
            verb = value if value in ("exec", "run", "debug") else ""
            if not verb and value not in ("compose", "container"):
                return NOTHING
        elif operands == 0:
            operands = 1
        else:
            break
        index += 1
    if not verb or (is_kubectl and verb == "run" and "--" not in [word.value for word in words]):
        return NOTHING
    tail = tuple(words[index:])
    if entry:
        tail = (Argument(entry), *tail)
    if tail:
        return Unwrapped((Child(tail, head=index, remote=True),))
    return NOTHING


_SSH = Options(
    "46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw", operands=1, tail=Tail.SHELL, remote=True,
    codes=frozenset(), stops=frozenset({"-V"}),
)  # fmt: skip


def ssh(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    parsed = parse_options(words, _SSH)
    children: list[Child] = []
    for index, word in enumerate(words[1 : parsed.start], 1):
        setting = word.value[2:] if word.value.startswith("-o") and len(word.value) > 2 else ""
        setting = setting or (word.value if words[index - 1].value == "-o" else "")
        match = re.match(
            r"\s*(ProxyCommand|LocalCommand|KnownHostsCommand)\s*[= ]\s*(.*)",
            setting,
            re.IGNORECASE | re.DOTALL,
        )
        if match:
            children.append(Child(code=code_text(match.group(2)), head=parsed.start))
    # options may stand after the host too
    start = parsed.start
    while start < len(words) and words[start].value.startswith("-") and len(words[start].value) > 1:
        step, _, _ = short_options(words, start, _SSH)
        start += step
    tail = words[start:]
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    if tail:
        children.append(Child(code=joined(tail), head=start, remote=True))
    elif stdin.given and stdin.text is not None and not any(w.value in ("-N", "-n") for w in words):
        children.append(Child(code=stdin.text, head=start, remote=True, reads=Input(True)))
    return Unwrapped(tuple(children), issues)


_TMUX = re.compile(
    r"new(-session|-window)?\Z|neww\Z|split-window\Z|splitw\Z|respawn-(pane|window)\Z|run(-shell)?\Z|if-shell\Z|popup\Z|display-popup\Z"
)


def tmux(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    index = next((i for i, word in enumerate(words) if i and _TMUX.match(word.value)), -1)
    if index < 0:
        return NOTHING
    place = index + 1
    while place < len(words) and words[place].value.startswith("-"):
        place += (
            2
            if words[place].value[-1] in "sntFcexyTlbSdp" and words[place].value not in ("-d", "-b", "-P")
            else 1
        )
    tail = words[place:]
    return Unwrapped((Child(code=joined(tail), head=place, reach=Reach.BACKGROUND),)) if tail else NOTHING


def screen(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    index = 1
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        index += 2 if re.match(r"-(S|c|e|h|p|s|t|T|\w*S)\Z", value) else 1
    tail = tuple(words[index:])
    return Unwrapped((Child(tail, head=index, reach=Reach.BACKGROUND),)) if tail else NOTHING
