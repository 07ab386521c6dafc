"""Keyed digests: what the state tables hold instead of ids, paths and turns.

Pure but for :func:`load_or_create`, which owns the key file. Every digest names its own domain, so
that an equal text of another kind, session or connector gives another digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import Final

KEY_BYTES: Final = 32
SHOWN_HEX: Final = 16  # how much of a digest a record shows: enough to join, short enough to read


class KeyFileError(Exception):
    """The key file can't be used. Digests would not match the stored ones, so the daemon must not start."""


class Keys:
    """Digests under one key. All are 32 bytes."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise KeyFileError(f"a key has {KEY_BYTES} bytes, this one {len(key)}")
        self._key = key

    def are_in(self, content: bytes) -> bool:
        """Whether a key file of this content holds them."""
        return hmac.compare_digest(self._key, content)

    def whole(self) -> bytes:
        """The content of their file."""
        return self._key

    def session(self, connector: str, session: str) -> bytes:
        return self._digest("session", connector, session)

    def agent(self, connector: str, session: str, agent: str) -> bytes:
        """b"" for the main agent: boundaries compare it for equality."""
        return self._digest("agent", connector, session, agent) if agent else b""

    def call(self, connector: str, session: str, agent: str, call: str) -> bytes:
        """Agents reuse ids across subagents, so the agent is part of the key."""
        return self._digest("call", connector, session, agent, call)

    def call_name(self, connector: str, call: str) -> bytes:
        """The id alone, to find a call of which a person knows nothing else."""
        return self._digest("call-name", connector, call)

    def turn(self, connector: str, session: str, turn: str) -> bytes:
        return self._digest("turn", connector, session, turn)

    def path(self, session_key: bytes, path: str) -> bytes:
        return self._digest("path", session_key.hex(), path)

    def deed(self, session_key: bytes, deed: bytes) -> bytes:
        """What one session does, whatever call does it: what the person's leave is bound to."""
        return self._digest("deed", session_key.hex(), deed.hex())

    def allow(self, session_key: bytes, deed_key: bytes, seq: int) -> bytes:
        """What the code is made of that lifts the refusal recorded as ``seq``."""
        return self._digest("allow", session_key.hex(), deed_key.hex(), str(seq))

    def content(self, digest: bytes) -> bytes:
        """A content fingerprint under the key, so that short inputs can't be guessed from the table."""
        return self._digest("content", digest.hex())

    def _digest(self, *parts: str) -> bytes:
        mac = hmac.new(self._key, digestmod=hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            mac.update(len(data).to_bytes(4, "big") + data)
        return mac.digest()


def shown(digest: bytes) -> str:
    return digest.hex()[:SHOWN_HEX]


def load_or_create(path: Path) -> Keys:
    """The key at ``path``, made there on first use. Raises KeyFileError with one line.

    Created whole under a temporary name and linked into place, so that no reader ever sees half a
    key and two first starts end with one key.
    """
    try:
        try:
            return _load(path)
        except FileNotFoundError:
            pass
        _make(path, os.urandom(KEY_BYTES))
        return _load(path)
    except OSError as error:
        raise KeyFileError(f"key file `{path}`: {error.strerror}") from error


def kept(path: Path, keys: Keys) -> str:
    """What is wrong with the file of the keys in use, "" when nothing is: a person's line.

    One that is gone is written again, for without it nothing that is stored is recognised after the next
    start. One that holds something else may be somebody's will, and stays.
    """
    try:
        try:
            content = _content(path)
        except FileNotFoundError:
            _make(path, keys.whole())
            content = _content(path)
    except KeyFileError as error:
        return str(error)
    except OSError as error:
        return f"key file `{path}`: {(error.strerror or str(error)).lower()}"
    if keys.are_in(content):
        return ""
    return f"key file `{path}` is not the one in use; after the next start nothing stored is recognised"


def _make(path: Path, key: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, key)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)  # without its name the key is gone, and all that is stored with it
    finally:
        os.close(directory)


def _load(path: Path) -> Keys:
    return Keys(_content(path))


def _content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise KeyFileError(f"key file `{path}` is not a regular file of ours")
        if status.st_mode & 0o077:
            raise KeyFileError(f"key file `{path}` is open to others; run: chmod 600 {path}")
        return os.read(descriptor, KEY_BYTES + 1)
    finally:
        os.close(descriptor)
