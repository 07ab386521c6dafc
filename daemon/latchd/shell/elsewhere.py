"""Commands that run somewhere else: in a container, on another host, in a terminal multiplexer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import NOTHING, Child, Unwrapped, joined, program_name, split_words, word_at
from latchd.shell.listing import Input
from latchd.shell.options import parse_options, short_options
from latchd.shell.parse import code_text
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
    " --container --kubeconfig --cluster --as --profile --index --log-level --project-directory"
    " --exec-id --cwd --runtime-endpoint --image-endpoint --timeout --address".split()
)


_VERBS = frozenset(("exec", "run", "debug"))


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
        if value.startswith("-") and operands and not is_kubectl:
            break  # behind the image or container every word is the command's
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
            verb = value if value in _VERBS or (is_kubectl and value == "rsh") else ""
            if not verb and value not in ("compose", "container", "tasks", "task", "t"):
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


_PLAIN = re.compile(r"[\w./:=@%+, -]+\Z")
_SSH = Options(
    "46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw", operands=1, tail=Tail.SHELL, remote=True,
    codes=frozenset(), stops=frozenset({"-V"}),
)  # fmt: skip


# -M is the port that autossh watches its connection by, and -f its own.
_AUTOSSH = msgspec.structs.replace(_SSH, flags=_SSH.flags.replace("M", ""), values=_SSH.values + "M")


def ssh(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    options = _AUTOSSH if program_name(words[0].value) == "autossh" else _SSH
    parsed = parse_options(words, options)
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
        step, _, _ = short_options(words, start, options)
        start += step
    tail = words[start:]
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    if tail and all(_PLAIN.match(word.value) for word in tail):
        split = tuple(part for word in tail for part in split_words(word.value))
        children.append(Child(split, head=start, remote=True))
    elif tail:
        children.append(Child(code=joined(tail), head=start, remote=True))
    elif stdin.given and stdin.text is not None and not any(w.value in ("-N", "-n") for w in words):
        children.append(Child(code=stdin.text, head=start, remote=True, reads=Input(True)))
    return Unwrapped(tuple(children), issues)


_TMUX = re.compile(
    r"new(-session|-window)?\Z|neww\Z|split-window\Z|splitw\Z|respawn-(pane|window)\Z|run(-shell)?\Z|if-shell\Z|popup\Z|display-popup\Z"
)


_TMUX_TEXT = re.compile(  # commands whose words are names or text, never code
    r"(display(-message)?|rename(w|-window|-session)?|set(b|-buffer|env|-environment)|has(-session)?|kill-\S+"
    r"|attach(-session)?|a|at|capture(p|-pane)|select[pwl]?(-\S+)?|ls|list-\S+|detach(-client)?|switch(c|-client)"
    r"|load(b|-buffer)|save(b|-buffer)|show\S*|clear-history|wait(-for)?)\Z"
)
_TYPES = re.compile(r"send(-keys)?\Z")
_ENTER = re.compile(r"(Enter|KPEnter|C-[mj])\Z", re.IGNORECASE)
_KEY = re.compile(
    r"([CMS]-.+|\^.|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|[NP]Page|Page(Up|Down)|PgUp|PgDn|[ID]C"
    r"|F\d+|DC|Delete|Insert)\Z",
    re.IGNORECASE,
)


def tmux(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """Each tmux command between `;`: those that start a program, and keys typed into a pane's shell."""
    children: list[Child] = []
    start = 1
    while start < len(words):
        end = start
        while end < len(words) and not words[end].value.endswith(";"):
            end += 1
        segment = list(words[start:end])
        if end < len(words) and words[end].value != ";":
            segment.append(Argument(words[end].value[:-1], words[end].quote, words[end].expands))
        children += _tmux_command(segment, start)
        start = end + 1
    return Unwrapped(tuple(children))


def _tmux_command(words: Sequence[Argument], start: int) -> list[Child]:
    verb = 0
    while verb < len(words) and words[verb].value.startswith("-"):
        verb += 2 if words[verb].value in ("-c", "-f", "-L", "-S", "-T") else 1
    if verb >= len(words) or _TMUX_TEXT.match(words[verb].value):
        return []
    if _TYPES.match(words[verb].value):
        return _typed(words, verb + 1, start)
    index = next((i for i, word in enumerate(words) if i >= verb and _TMUX.match(word.value)), -1)
    if index < 0:
        return []
    place = index + 1
    while place < len(words) and words[place].value.startswith("-"):
        place += (
            2
            if words[place].value[-1] in "sntFcexyTlbSdp" and words[place].value not in ("-d", "-b", "-P")
            else 1
        )
    tail = words[place:]
    where = tuple(words[at + 1] for at in range(index + 1, place - 1) if words[at].value == "-c")
    child = Child(code=joined(tail), head=start + place, reach=Reach.BACKGROUND, directories=where[-1:])
    return [child] if tail else []


def _typed(words: Sequence[Argument], index: int, start: int) -> list[Child]:
    literal = False
    while index < len(words) and words[index].value.startswith("-"):
        flag = words[index].value
        if "X" in flag or "H" in flag:  # a command of the copy mode; keys by number
            return []
        literal |= "l" in flag
        index += 2 if flag[-1] in "tNc" else 1
    keys = [word.value for word in words[index:]]
    if not literal:
        keys = ["\n" if _ENTER.match(key) else "" if _KEY.match(key) else key for key in keys]
    return _keyboard("".join(keys), start + index)


def _keyboard(text: str, head: int) -> list[Child]:
    """What is typed into a terminal runs in the shell there."""
    return (
        [Child(code=code_text(text), head=head, reach=Reach.BACKGROUND, reads=Input(True))]
        if text.strip()
        else []
    )


def screen(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """A program in a new session, or with -X a command of screen's own for a session that runs."""
    index = 1
    own = False
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        if re.match(r"-\w*X\Z", value):
            own = True
        index += 2 if re.match(r"-(S|c|e|h|p|s|t|T|\w*S)\Z", value) else 1
    tail = tuple(words[index:])
    if own:
        return Unwrapped(tuple(_screen_command(tail, index)))
    return Unwrapped((Child(tail, head=index, reach=Reach.BACKGROUND),)) if tail else NOTHING


def _screen_command(words: Sequence[Argument], start: int, depth: int = 0) -> list[Child]:
    verb = word_at(words, 0).value
    if depth > 4:
        return []
    if verb == "at":  # at WINDOW COMMAND …
        return _screen_command(words[2:], start + 2, depth + 1)
    if verb == "eval":
        lines = [split_words(word.value) for word in words[1:]]
        return [child for line in lines for child in _screen_command(line, start + 1, depth + 1)]
    if verb == "stuff":
        typed = word_at(words, 1).value
        return _keyboard(re.sub(r"\\n|\\r|\\01[25]|\^[MmJj]|\r", "\n", typed), start + 1)
    if verb in ("screen", "exec", "backtick"):
        place = 1
        while place < len(words) and re.match(r"[-.!|:]|\d+\Z", words[place].value):
            place += 2 if words[place].value in ("-t", "-h", "-T", "-e") else 1
        tail = tuple(words[place:])
        return [Child(tail, head=start + place, reach=Reach.BACKGROUND)] if tail else []
    return []
