"""What a program given in an argument does: ``python -c``, ``node -e``, ``perl -e``, ``ruby -e``, ``php -r``.

A bounded reading: calls whose meaning is known, with literal or traceable arguments. Whatever builds
code at run time makes the whole opaque; nothing is ever run.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, NetAction, Operation
from latchd.shell.grammar.code_source import MAX_CALLS, Said, Source, source, text_of
from latchd.shell.grammar.code_tokens import Call, Token
from latchd.shell.grammar.description import Contact, Description, Target, merge, unique

Run = Callable[[Sequence[str]], Description]  # describes a child command given as literal words
Shell = Callable[[str], None]  # takes a child command given as text for a shell

_DELETES: Final = frozenset(
    "rmtree unlink unlinkSync rmSync rmdir rmdirSync removedirs remove_tree rm_rf rm_r rm_f remove_entry "
    "remove_dir rmtree_safe deleteSync removeSync emptyDirSync emptyDir".split()
)
_DELETES_OF: Final = frozenset(
    (
        "os.remove fs.rm File.delete Dir.delete Dir.rmdir fs.remove promises.rm FileUtils.rm "
        "FileUtils.remove FileUtils.rm_rf fsPromises.rm Deno.remove Deno.removeSync send2trash"
    ).split()
)
_RIMRAF: Final = frozenset(("rimraf",))
# Where a walk begins that takes a whole home, and what walks.
_WHOLE: Final = frozenset(("home", "expanduser", "homedir"))
_WALKS: Final = frozenset("rglob walk glob iglob iterdir scandir listdir readdirSync".split())
_RECURSIVE: Final = frozenset(
    "rimraf sync rmtree rm_rf rm_r remove_tree remove_entry removeSync emptyDirSync emptyDir "
    "remove_dir".split()
)
_WRITES: Final = frozenset(
    "writeFileSync writeFile createWriteStream file_put_contents write_text write_bytes truncate "
    "truncateSync "
    "mkdirSync makedirs outputFileSync binwrite ftruncate writeTextFile writeTextFileSync symlinkSync "
    "symlink".split()
)
_WRITES_OF: Final = frozenset(
    ("File.write", "IO.write", "os.mkdir", "FileUtils.touch", "Bun.write", "FileUtils.mkdir_p")
)
_APPENDS: Final = frozenset("appendFileSync appendFile".split())
_READS: Final = frozenset(
    "readFileSync readFile createReadStream file_get_contents read_text read_bytes readlines "
    "readTextFile readTextFileSync "
    "fopen readfile slurp".split()
)
_READS_OF: Final = frozenset(
    ("File.read", "IO.read", "File.readlines", "IO.readlines", "File.foreach", "linecache.getlines")
)
_PAIRS: Final = frozenset(
    (
        "shutil.move",
        "os.rename",
        "os.replace",
        "fs.renameSync",
        "fs.rename",
        "File.rename",
        "FileUtils.mv",
        "rename",
    )
)
_COPIES: Final = frozenset(
    "copyfile copy2 copytree copyFileSync copyFile cpSync cp_r shutil.copy FileUtils.cp copy fs.cp".split()
)
_MODES: Final = frozenset("chmod chmodSync chown chownSync lchown chmod_R chown_R".split())
_RUNS: Final = frozenset(
    "system popen Popen check_output check_call execSync spawn spawnSync execFile execFileSync "
    "shell_exec passthru proc_open "
    "execvp execv execl execlp execve spawnl spawnv getoutput getstatusoutput posix_spawn capture2 "
    "capture2e capture3 popen3 "
    "exec_file pcntl_exec create_subprocess_shell create_subprocess_exec".split()
)
_RUNS_OF: Final = frozenset(
    (
        "subprocess.run subprocess.call os.system child_process.exec Kernel.exec os.popen pty.spawn "
        "Bun.spawn Deno.run Deno.Command cp.exec os.execute io.popen"
    ).split()
)
_EXEC_RUNS: Final = frozenset(("perl", "ruby", "php", "node"))  # where a bare exec() starts a program
_OPAQUE: Final = frozenset(
    "eval __import__ Function import_module instance_eval class_eval runInNewContext runInThisContext "
    "create_function module_eval define_method".split()
)
_OPAQUE_OF: Final = frozenset(("marshal.loads", "pickle.loads", "compile", "importlib.reload", "vm.Script"))
_NET: Final = frozenset(
    "urllib urllib2 urllib3 requests httpx aiohttp socket ftplib smtplib paramiko websockets websocket "
    "telnetlib pycurl poplib imaplib "
    "fetch axios XMLHttpRequest WebSocket undici dgram tls TCPSocket UDPSocket Net LWP HTTP fsockopen "
    "curl_init curl_exec "
    "stream_socket_client open_uri boto3 xmlrpc got superagent".split()
)
_NET_MODULES: Final = frozenset(
    (
        "http https net dns tls dgram http2 node:http node:https node:net open-uri socket net/http axios "
        "undici ws node-fetch node:dns node:tls node:dgram"
    ).split()
)
_LISTENS: Final = frozenset(
    "listen createServer HTTPServer TCPServer serve_forever bind ThreadingHTTPServer".split()
)
_SENDS: Final = frozenset(
    "post put patch sendall send sendmail storbinary sendto upload_file put_object".split()
)
_APPLIES: Final = frozenset(("array_map", "array_walk", "call_user_func", "call_user_func_array"))
MAX_COMMANDS: Final = 128  # started by one program that are read; more make it opaque
_FS_MODULES: Final = frozenset(("fs", "node:fs", "fs/promises", "node:fs/promises", "fs-extra"))
_MOST_NAMES: Final = 8  # that one import statement brings
_SCHEMES: Final = ("http://", "https://", "ws://", "wss://", "ftp://", "tcp://", "ssl://", "udp://")
_ENV_NAMES: Final = frozenset(("ENV", "$ENV", "$_ENV", "$_SERVER", "@ENV"))
_ENVIRONMENTS: Final = _ENV_NAMES | {"environ", "environb", "%ENV", "env"}
_SECRETS: Final = (
    "TOKEN",
    "SECRET",
    "PASS",
    "KEY",
    "CRED",
    "AUTH",
    "COOKIE",
    "SESSION",
    "PRIVATE",
    "DSN",
    "DATABASE_URL",
)


def inline(language: str, code: Argument, run: Run, shell: Shell | None = None) -> Description:
    """The effects of literal code. ``run`` describes child commands that it starts.

    With ``shell`` what the code gives to a shell is handed over there as it is; without it the text is cut
    into commands for ``run``.
    """
    read = source(code.value, language)
    reading = _Reading(language, read, run, shell)
    for said in read.calls:
        reading.call(said)
    reading.loose()
    opaque = reading.opaque or not read.whole or "\0" in code.value
    details = ("inline-code", *(("opaque-code",) if opaque else ()))
    described = merge(
        Description(
            known=True,
            operations=unique((Operation.EXECUTE, *reading.operations)),
            targets=tuple(dict.fromkeys(reading.targets)),
            contacts=tuple(dict.fromkeys(reading.contacts)),
            details=details,
            uploads=tuple(reading.uploads),
        ),
        *reading.children,
    )
    return msgspec.structs.replace(described, known=True)


def secret_name(name: str) -> bool:
    """Whether a variable's name says that its value is a secret."""
    return any(mark in name.upper() for mark in _SECRETS)


class _Reading:
    """What has been found so far."""

    def __init__(self, language: str, read: Source, run: Run, shell: Shell | None) -> None:
        self.language = language
        self.found = found = read.found
        self.known = read.known
        self.words = read.words
        self.names = frozenset(self.words)
        self.strings = read.strings
        self.aliases = _aliases(found) if "as" in self.names else {}
        self.run = run
        self.shell = shell
        self.operations: list[Operation] = []
        self.targets: list[Target] = []
        self.contacts: list[Contact] = []
        self.children: list[Description] = []
        self.uploads: list[Argument] = []
        self.opaque = False

    def call(self, said: Said) -> None:
        """Take one call into account."""
        call, texts = said.call, list(said.texts)
        parts = [self.aliases.get(part, part) for part in call.name.split(".")]
        last, tail = parts[-1], ".".join(parts[-2:])
        if call.receiver and last in _RECEIVERS and not (last == "rmtree" and texts):
            texts.insert(0, text_of(call.receiver, self.known))
        if call.name in _APPLIES:
            self._applies(texts)
        if (
            last in _DELETES
            or tail in _DELETES_OF
            or (last == "remove" and ("os", "remove") in self.imported)
            or (last == "rm" and self._requires(_FS_MODULES))
            or (last == "rimraf" or (last == "sync" and self._requires(_RIMRAF)))
        ):
            self._delete(last, call, texts)
        elif tail in _PAIRS or (last in ("rename", "move") and "." not in call.name):
            self._touch(Operation.MOVE, Access.DELETE, texts[:1])
            self._touch(Operation.WRITE, Access.WRITE, texts[1:2])
        elif last in _COPIES or tail in _COPIES:
            self._touch(Operation.COPY, Access.READ, texts[:1])
            self._touch(Operation.WRITE, Access.WRITE, texts[1:2])
        elif last in _APPENDS:
            self._touch(Operation.APPEND, Access.APPEND, texts[:1])
        elif last in _WRITES or tail in _WRITES_OF:
            self._touch(Operation.WRITE, Access.WRITE, texts[:1])
        elif last in ("open", "fopen", "openSync") and call.name not in (
            "webbrowser.open",
            "URI.open",
            "Image.open",
        ):
            self._open(call, texts)
        elif last in _READS or tail in _READS_OF:
            self._read(texts)
        elif last in _MODES:
            paths = texts[1:] if self.language in ("perl", "ruby") and "." not in call.name else texts[:1]
            self._touch(Operation.PERMISSION_CHANGE, Access.METADATA, paths)
        elif (
            last in _RUNS
            or tail in _RUNS_OF
            or (last == "exec" and self._exec_runs(call))
            or (last in ("run", "call") and ("subprocess", last) in self.imported)
        ):
            self._start(call, texts)
        elif last in ("getenv", "phpinfo"):
            asked = last == "getenv" and self._asked.get(texts[0] if texts else "", False)
            if (not texts or secret_name(texts[0]) or last == "phpinfo") and not asked:
                self.operations.append(Operation.ENVIRONMENT_READ)
        elif last == "get_password" and "keyring" in self.names:
            self.operations.append(Operation.CREDENTIAL_READ)
        elif last == "dotenv_values":
            self._touch(Operation.READ, Access.READ, texts[:1] or [".env"])
        elif last in ("kill", "killpg") and (self.language != "node" or call.name == "process.kill"):
            self.operations.append(Operation.PROCESS_KILL)
        if last in _OPAQUE or tail in _OPAQUE_OF or (last == "exec" and self.language == "python"):
            self.opaque = True
        if last == "getattr" and len(texts) > 1 and (len(call.arguments[1]) > 1 or "\0" in texts[1]):
            self.opaque = True
        if last in _SENDS and self.networked:
            self.operations.append(Operation.UPLOAD)
        if last in (
            "connect",
            "create_connection",
            "TCPSocket.new",
            "TCPSocket.open",
            "createConnection",
            "fsockopen",
        ):
            self._connect(call)

    @functools.cached_property
    def _asked(self) -> Mapping[str, bool]:
        """Names whose value a `getenv` takes: whether each use only asks if there is one.

        `bool(os.getenv("NAME"))` and `os.getenv("NAME") is None` only ask.
        """
        asked: dict[str, bool] = {}
        found = self.found
        for at, token in enumerate(found):
            if token.text != "getenv" or token.kind != "n":
                continue
            call = found[at + 1 : at + 4]
            if [part.kind for part in call[::2]] != ["(", ")"]:
                continue
            start = at - 2 if at > 1 and found[at - 1].kind == "." else at
            before = tuple(part.text for part in found[max(0, start - 2) : start])
            behind = tuple(part.text for part in found[at + 4 : at + 7])
            only = (
                (before == ("bool", "(") and behind[:1] == (")",))
                or behind[:2] == ("is", "None")
                or behind == ("is", "not", "None")
            )
            asked[call[1].text] = asked.get(call[1].text, True) and only
        return asked

    def _applies(self, texts: list[str]) -> None:
        """A function that is named in a string and called for each item."""
        if texts and texts[0] in _DELETES:
            self._touch(Operation.DELETE, Access.DELETE, ["\0"])
        elif texts and (texts[0] in _RUNS or texts[0] == "exec"):
            self.opaque = True

    def _requires(self, modules: frozenset[str]) -> bool:
        return self.language == "node" and not modules.isdisjoint(self.strings)

    def _exec_runs(self, call: Call) -> bool:
        return self.language in _EXEC_RUNS and (
            self.language != "node" or "child_process" in call.name or "." not in call.name
        )

    @functools.cached_property
    def imported(self) -> frozenset[tuple[str, str]]:
        """Modules with the names that `from … import …` brings from them."""
        words = self.words
        return frozenset(
            (words[at - 1], name)
            for at, word in enumerate(words)
            if word == "import" and words[at - 2 : at - 1] == ("from",)
            for name in words[at + 1 : at + 1 + _MOST_NAMES]
        )

    def _word(self, text: str) -> Argument:
        return Argument(value=text, expands="\0" in text, globs="*" in text)

    def _touch(
        self, operation: Operation, access: Access, texts: list[str], *, recursive: bool = False
    ) -> None:
        self.operations.append(operation)
        self.targets += [Target(access, self._word(text), recursive) for text in texts]

    def _delete(self, last: str, call: Call, texts: list[str]) -> None:
        options = [token.text for run in call.arguments[1:] for token in run]
        recursive = last in _RECURSIVE or ("recursive" in options and "false" not in options)
        paths = texts if self.language in ("perl", "ruby") else texts[:1]
        if all("\0" in path for path in paths) and not recursive:
            recursive, patterns = self._walked
            paths = [*paths, *patterns]
        self._touch(Operation.DELETE, Access.DELETE, paths or ["\0"], recursive=recursive)

    @functools.cached_property
    def _walked(self) -> tuple[bool, tuple[str, ...]]:
        """Whether a path that is not known may be from a walk through all, and from which patterns."""
        recursive = not _WALKS.isdisjoint(self.names) and (
            not _WHOLE.isdisjoint(self.names) or not {"/", "~"}.isdisjoint(self.strings)
        )
        patterns = dict.fromkeys(text for text in self.strings if "/" in text and text.endswith("*"))
        return recursive, tuple(itertools.islice(patterns, MAX_CALLS))

    def _open(self, call: Call, texts: list[str]) -> None:
        if self.language == "perl":
            texts = texts[1:]  # open(FH, MODE, FILE) or open(FH, "MODE FILE")
            if len(texts) == 1:
                mode, path = "".join(c for c in texts[0] if c in "<>+|"), texts[0].strip("<>+| ")
            else:
                mode, path = "".join(texts[:1]), "".join(texts[1:2])
            if "|" in mode:
                self._text(path)
                return
            access = {">": Access.WRITE, ">>": Access.APPEND}.get(mode.partition(":")[0].strip(), Access.READ)
        else:
            if call.receiver and call.name.endswith(".open") and len(texts) > 1 and "\0" in texts[0]:
                texts = texts[1:]
            path = texts[0] if texts else "\0"
            keyword = [run[-1].text for run in call.arguments[1:] if run[:1] and run[0].text == "mode"]
            mode = keyword[0] if keyword else texts[1] if len(texts) > 1 else "r"
            access = (
                Access.APPEND
                if "a" in mode
                else Access.WRITE
                if any(c in mode for c in "wx+")
                else Access.READ
            )
            if any(path.startswith(scheme) for scheme in _SCHEMES):
                return
        operation = {Access.WRITE: Operation.WRITE, Access.APPEND: Operation.APPEND}.get(
            access, Operation.READ
        )
        self._touch(operation, access, [path])

    def _read(self, texts: list[str]) -> None:
        paths = [text for text in texts[:1] if not text.startswith((*_SCHEMES, "php://")) and text != "0"]
        if paths:
            self._touch(Operation.READ, Access.READ, paths)

    def _start(self, call: Call, texts: list[str]) -> None:
        strings = [token.text for run in call.arguments for token in run if token.kind == "s"]
        dynamic = any("\0" in text for text in texts[:1])
        listed = bool(call.arguments) and any(token.kind == "[" for token in call.arguments[0])
        if listed:
            self._child(_items(call.arguments[0], self.known))
        elif len(texts) > 1 and strings and self.language in ("perl", "ruby"):
            self._child(texts)
        elif call.name.endswith(("spawn", "spawnSync", "execFile", "execFileSync")):
            self._child(strings)
        elif texts and not dynamic:
            self._text(texts[0])
        elif texts and not texts[0].startswith("\0"):
            self._text(texts[0])
            self.opaque = True
        else:
            self.opaque = True
            if strings and self.shell is not None:
                self.shell("\0")  # a text put together of what is not known

    def _text(self, text: str) -> None:
        """A command line that the code gives to a shell."""
        if self.shell is not None:
            self.shell(text)
        else:
            for words in _commands(text):
                self._child(words)

    def _child(self, words: Sequence[str]) -> None:
        """A command that the code starts."""
        if len(self.children) < MAX_COMMANDS:
            self.children.append(self.run(words))
        else:
            self.opaque = True

    @functools.cached_property
    def networked(self) -> bool:
        """Whether anything that reaches the network is named or brought in."""
        if not _NET.isdisjoint(self.names):
            return True
        if "http" not in self.names and _NET_MODULES.isdisjoint(self.strings):
            return False
        for at, token in enumerate(self.found):
            named = token.kind == "s" and token.text in _NET_MODULES
            if not named and not (token.kind == "n" and token.text == "http"):
                continue
            before = {found.text for found in self.found[max(0, at - 3) : at]}
            if before & {"from", "import"} or (named and "require" in before):
                return True
        return False

    def _connect(self, call: Call) -> None:
        strings = [token.text for run in call.arguments for token in run if token.kind == "s"]
        numbers = [token.text for run in call.arguments for token in run if token.kind == "d"]
        self.operations.append(Operation.CONNECT)
        if strings:
            port = f":{numbers[0]}" if numbers and numbers[0].isdigit() else ""
            self.contacts.append(Contact(NetAction.CONNECT, self._word(strings[0] + port)))

    def loose(self) -> None:
        """What shows outside calls: environment, sockets, addresses, commands in backticks."""
        addresses = [text for text in self.strings if text.startswith(_SCHEMES)]
        names = self.names
        if names & _LISTENS and (self.networked or "server" in names):
            self.operations.append(Operation.LISTEN)
        if self.networked or (addresses and names & (_READS | {"open", "URI"})):
            self.operations.append(Operation.CONNECT)
            sends = Operation.UPLOAD in self.operations or bool(names & {"data", "body", "files"})
            if sends:
                self.operations.append(Operation.UPLOAD)
                self.uploads += [t.word for t in self.targets if t.access is Access.READ]
            action = NetAction.UPLOAD if sends else NetAction.CONNECT
            self.contacts += [Contact(action, self._word(text)) for text in addresses]
        if self._dumps_environment():
            self.operations.append(Operation.ENVIRONMENT_READ)
        commands = [token.text for token in self.found if token.kind == "c"]
        for text in commands[:MAX_COMMANDS]:
            self._text(text)
        self.opaque = self.opaque or len(commands) > MAX_COMMANDS
        if (
            self.language == "perl"
            and names & {"unlink", "rmdir"}
            and Operation.DELETE not in self.operations
        ):
            self._touch(Operation.DELETE, Access.DELETE, ["\0"])  # a bare one takes $_

    def _dumps_environment(self) -> bool:
        """environ, process.env, %ENV or ENV as a whole, or one value whose name is a secret's."""
        found = self.found
        if _ENVIRONMENTS.isdisjoint(self.names):
            return False
        uses = [at for at, token in enumerate(found) if token.text in _ENVIRONMENTS]
        if len(uses) > MAX_CALLS:
            self.opaque = True
        for at in uses[:MAX_CALLS]:
            token = found[at]
            whole = token.text in ("environ", "environb", "%ENV") or (
                token.text == "env" and at > 1 and found[at - 2].text in ("process", "Deno")
            )
            perl_or_ruby = token.text in _ENV_NAMES
            if token.kind != "n" or not (whole or perl_or_ruby):
                continue
            name = next((t.text for t in found[at + 1 : at + 5] if t.kind == "s" or t.text.isupper()), "")
            indexed = found[at + 1 : at + 2] and found[at + 1].kind in ("[", ".", "{")
            setting = any(t.kind == "=" for t in found[at + 1 : at + 6]) and bool(name)
            if setting or self._only_asks(at, name):
                continue
            if not indexed or not name or secret_name(name):
                return True
        return False

    def _only_asks(self, at: int, name: str) -> bool:
        """Whether what stands here shows names, how many there are, or whether one is set: no value."""
        found = self.found
        start = at - 2 if at > 1 and found[at - 1].kind == "." else at
        before = tuple(token.text for token in found[max(0, start - 4) : start])
        after = tuple(token.text for token in found[at + 1 : at + 4])
        if after[:1] == (")",) and before[-1:] == ("(",):
            whole = (
                before[-2:-1] in (("len",), ("list",), ("sorted",), ("set",)) and self.language == "python"
            )
            keys = before[-4:-1] == ("Object", ".", "keys")
            return (whole or keys) and "getenv" not in self.names
        if after[:3] == (".", "keys", "(") and self.language == "python":
            return "getenv" not in self.names
        if before[-1:] == ("in",) and len(found) > start - 2 >= 0 and self.language == "python":
            asked = found[start - 2] if before[-2:-1] != ("not",) else found[start - 3]
            return asked.kind == "s" and after[:1] not in ((".",), ("[",))
        end = _end_of_access(found, at, name)
        if not end:
            return False
        behind = tuple(token.text for token in found[end : end + 3])
        return (
            (before[-2:] in (("bool", "("), ("Boolean", "("), ("if", "(")) and behind[:1] == (")",))
            or (before[-1:] in (("!",), ("typeof",)) and behind[:1] != (".",))
            or (behind[:1] == ("?",) and behind[1:2] != ("?",))
            or behind[:2] == ("is", "None")
            or behind == ("is", "not", "None")
        )


def _end_of_access(found: Sequence[Token], at: int, name: str) -> int:
    """The place behind `.NAME`, `["NAME"]` or `.get("NAME")` after an environment; 0 = none of these."""
    texts = [token.text for token in found[at + 1 : at + 6]]
    for shape in ([".", name], ["[", name, "]"], [".", "get", "(", name, ")"]):
        if name and texts[: len(shape)] == shape:
            return at + 1 + len(shape)
    return 0


def _aliases(found: Sequence[Token]) -> dict[str, str]:
    """``import os as o``, ``from shutil import rmtree as r``: other names for known ones."""
    return {
        found[at + 2].text: found[at].text
        for at in range(len(found) - 2)
        if found[at + 1].text == "as" and found[at].kind == found[at + 2].kind == "n"
    }


def _items(run: Sequence[Token], known: Mapping[str, str]) -> list[str]:
    """The words of a literal list: NUL for each item that is no literal, and for what is added to it."""
    items: list[list[Token]] = [[]]
    depth = 0
    for token in run:
        if token.kind in "([{":
            depth += 1
        elif token.kind in ")]}":
            depth -= 1
        elif token.kind == "," and depth == 1:
            items.append([])
        else:
            items[-1].append(token)
    return [text_of(tuple(item), known) for item in items if item]


_RECEIVERS: Final = frozenset(
    "unlink rmdir write_text write_bytes read_text read_bytes rmtree open remove chmod touch delete".split()
)


def _commands(text: str) -> list[list[str]]:
    """A literal shell text cut into commands and words: quotes honoured, nothing expanded."""
    commands: list[list[str]] = [[]]
    word: list[str] | None = None
    quote = ""
    for mark in text:
        if quote:
            if mark == quote:
                quote = ""
            else:
                (word := word if word is not None else []).append(mark)
        elif mark in "'\"":
            quote = mark
            word = word if word is not None else []
        elif mark in " \t\n;|&":
            if word is not None:
                commands[-1].append("".join(word))
                word = None
            if mark not in " \t":
                commands.append([])
        else:
            (word := word if word is not None else []).append(mark)
    if word is not None:
        commands[-1].append("".join(word))
    return [command for command in commands if command]
