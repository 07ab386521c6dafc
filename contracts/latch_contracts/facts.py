"""ActionFacts: what a tool call would do, as far as it is proven. Unknown is a value, never a guess.

``status`` speaks of structure alone: COMPLETE means every command that can run is listed and every
argument is literal or has its dynamic parts marked in place. A program without an operand grammar
is ``grammar=UNKNOWN`` on that command and spoils nothing else.
"""

from __future__ import annotations

import enum

import msgspec


class Status(enum.StrEnum):
    NOT_APPLICABLE = "not_applicable"
    COMPLETE = "complete"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    INVALID = "invalid"
    LIMIT_EXCEEDED = "limit_exceeded"
    AMBIGUOUS = "ambiguous"


class Dialect(enum.StrEnum):
    NONE = "none"
    ARGV = "argv"
    POSIX = "posix"
    POWERSHELL = "powershell"
    CMD = "cmd"
    MIXED = "mixed"


class Issue(enum.StrEnum):
    """Why facts are less than complete. Codes carry no value from the input."""

    INVALID_JSON = "invalid_json"
    INVALID_UTF8 = "invalid_utf8"
    INVALID_SYNTAX = "invalid_syntax"
    DYNAMIC_WORD = "dynamic_word"
    UNSUPPORTED_CONSTRUCT = "unsupported_construct"
    OPAQUE_ARTIFACT = "opaque_artifact"
    UNKNOWN_OPERAND_GRAMMAR = "unknown_operand_grammar"
    CONFLICTING_SOURCES = "conflicting_sources"
    INPUT_LIMIT = "input_limit"
    NODE_LIMIT = "node_limit"
    DEPTH_LIMIT = "depth_limit"
    FACT_LIMIT = "fact_limit"
    WRAPPER_LIMIT = "wrapper_limit"
    DUPLICATE_JSON_KEY = "duplicate_json_key"
    INTERNAL_PARSER_FAILURE = "internal_parser_failure"
    CONTROL_BYTES = "control_bytes"
    PARSER_SILENCE = "parser_silence"  # the tree looked clean but the audit did not believe it
    TIME_LIMIT = "time_limit"


class Kind(enum.StrEnum):
    PROCESS = "process"
    SHELL_REDIRECT = "shell_redirect"  # a redirection with no program of its own: `> file`
    TOOL = "tool"  # a tool call that is no shell: Read, Write, an MCP tool


class Effect(enum.StrEnum):
    EXECUTE = "execute"
    PREVIEW = "preview"  # proven not to act: --help, --version, --dry-run, bash -n
    UNCERTAIN = "uncertain"


class Reach(enum.StrEnum):
    """When a command runs if the text is run: a denial needs only that it may."""

    ALWAYS = "always"
    CONDITIONAL = "conditional"
    BACKGROUND = "background"
    DEFERRED = "deferred"  # a function body or a trap


class Grammar(enum.StrEnum):
    KNOWN = "known"
    UNKNOWN = "unknown"


class Quote(enum.StrEnum):
    NONE = "none"
    SINGLE = "single"
    DOUBLE = "double"
    MIXED = "mixed"


class Operation(enum.StrEnum):
    EXECUTE = "execute"
    READ = "read"
    WRITE = "write"
    APPEND = "append"
    DELETE = "delete"
    COPY = "copy"
    MOVE = "move"
    LIST = "list"
    SEARCH = "search"
    FETCH = "fetch"
    UPLOAD = "upload"
    CONNECT = "connect"
    LISTEN = "listen"
    TUNNEL = "tunnel"
    NETWORK_SCAN = "network_scan"
    DECODE = "decode"
    PROCESS_KILL = "process_kill"
    DISK_WRITE = "disk_write"
    PRIVILEGE = "privilege"
    PERMISSION_CHANGE = "permission_change"
    CONFIG_CHANGE = "config_change"
    ACCOUNT_CHANGE = "account_change"
    SCHEDULE = "schedule"
    CONTAINER_RUN = "container_run"
    WORKLOAD_EXEC = "workload_exec"
    NAMESPACE_ENTER = "namespace_enter"
    ROOT_CHANGE = "root_change"
    ENVIRONMENT_READ = "environment_read"
    CREDENTIAL_READ = "credential_read"
    POLICY_BYPASS = "policy_bypass"
    WORK_LOSS = "work_loss"  # version control gives up work that is nowhere else
    RUN_INPUT = "run_input"  # an interpreter that takes its program from stdin
    INSTALL = "install"  # a package manager brings code in


class Access(enum.StrEnum):
    READ = "read"
    WRITE = "write"
    APPEND = "append"
    DELETE = "delete"
    EXECUTE = "execute"
    LIST = "list"
    METADATA = "metadata"
    CONNECT = "connect"


class Flavor(enum.StrEnum):
    UNKNOWN = "unknown"
    POSIX = "posix"
    WINDOWS = "windows"
    DEVICE = "device"
    REGISTRY = "registry"


class NetAction(enum.StrEnum):
    CONNECT = "connect"
    LISTEN = "listen"
    DOWNLOAD = "download"
    UPLOAD = "upload"
    DNS = "dns"
    TUNNEL = "tunnel"
    SCAN = "scan"


class Scope(enum.StrEnum):
    UNKNOWN = "unknown"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link_local"
    PRIVATE = "private"
    PUBLIC = "public"


class End(enum.StrEnum):
    STDIN = "stdin"
    STDOUT = "stdout"
    FILE = "file"
    NETWORK = "network"
    PROCESS = "process"


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One word after the program. ``expands`` marks a word whose value is not known before it runs.

    Of an expanding word ``value`` holds the literal text with each dynamic part replaced by one
    NUL character, so ``/tmp/<NUL>/x`` keeps what is known about it.
    """

    value: str
    quote: Quote = Quote.NONE
    expands: bool = False
    globs: bool = False  # has an unquoted * ? or [ ]: stands for any number of words


class Redirect(msgspec.Struct, frozen=True, omit_defaults=True):
    fd: int  # -1 for both output streams (&>)
    access: Access
    target: str  # as Argument.value; empty for a descriptor copy such as 2>&1
    expands: bool = False


class Wrapper(msgspec.Struct, frozen=True):
    executable: str
    argv: tuple[str, ...]


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command that can run. ``id`` counts from 1 in source order; parent 0 = top level."""

    id: int
    program: str  # lower-cased basename; "" when the command word is not known
    executable: str  # the command word as typed (dynamic parts as NUL)
    argv: tuple[str, ...] = ()  # program first; expanding words as in Argument.value
    arguments: tuple[Argument, ...] = ()  # same length as argv
    argv_complete: bool = True  # no word expands
    parent: int = 0
    pipeline: int = 0  # 0 = in no pipeline
    kind: Kind = Kind.PROCESS
    effect: Effect = Effect.EXECUTE
    reach: Reach = Reach.ALWAYS
    operations: tuple[Operation, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()  # outermost first
    grammar: Grammar = Grammar.UNKNOWN
    suspected_child: str = ""  # a known dangerous tail behind a program we don't know
    details: tuple[str, ...] = ()  # closed words of the program's grammar: "recursive", "force", …


class PathFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A path that a command touches.

    ``resolved`` is absolute, after cwd and home, with no "." or ".."; "" when that can't be proven.
    No symlink is followed here. ``expands`` = a dynamic part remains in ``value`` (as NUL).
    """

    command_id: int
    access: Access
    value: str
    normalized: str = ""
    resolved: str = ""
    flavor: Flavor = Flavor.POSIX
    expands: bool = False
    globs: bool = False
    recursive: bool = False  # the operation takes everything below it


class NetworkFact(msgspec.Struct, frozen=True, omit_defaults=True):
    command_id: int
    action: NetAction
    host: str = ""
    scheme: str = ""
    port: int = 0
    normalized_host: str = ""
    scope: Scope = Scope.UNKNOWN
    expands: bool = False


class DataFlow(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes move from one end to another; command id 0 = that end is a file or the network."""

    from_command: int
    to_command: int
    source: End
    sink: End
    source_path: str = ""  # resolved path when source is a file
    sink_path: str = ""
    host: str = ""  # when either end is the network


class ActionFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    tool: str
    status: Status
    cwd: str = ""
    home: str = ""
    dialect: Dialect = Dialect.NONE
    issues: tuple[Issue, ...] = ()
    commands: tuple[Command, ...] = ()
    paths: tuple[PathFact, ...] = ()
    network: tuple[NetworkFact, ...] = ()
    flows: tuple[DataFlow, ...] = ()

    @property
    def authoritative(self) -> bool:
        return self.status is Status.COMPLETE

    @property
    def enforcement_eligible(self) -> bool:
        """Whether what is known may stand as evidence of an action: complete, and all of it acts."""
        return (
            self.authoritative
            and bool(self.commands)
            and all(command.effect is Effect.EXECUTE for command in self.commands)
        )

    def command(self, command_id: int) -> Command | None:
        """The command of that id; ids are 1-based positions."""
        if 1 <= command_id <= len(self.commands):
            return self.commands[command_id - 1]
        return None
