"""Storage of tokens and registrations, kept between calls and between runs.

Keys are text, values are bytes: `tokens <server>`, `client <issuer>`, and `refused <server>` for a
person's last refusal. An adapter stores them so no other user of the machine can read them.
Source: 2026-07-28 basic/authorization/security-considerations, "Token Theft".
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from mcp_runtime.errors import NotInstalled, TooMuch

_MAX_FILE = 4 * 1024 * 1024
_POLL: Final = 0.05
_LONGEST_WAIT: Final = 660.0
"""Seconds a client waits for another one renewing the same tokens; then it renews them, too.

A wait must be longer than a person may take (`LoopbackRedirect.seconds`) with the time of machines
(`Limits.total`): otherwise the person is sent to a second page, and comes back to the first.
"""


class TokenStorage(Protocol):
    """Keeps bytes under a name. An absent name is None; deleting it is not an error."""

    async def get(self, key: str, /) -> bytes | None: ...

    async def set(self, key: str, value: bytes, /) -> None: ...

    async def delete(self, key: str, /) -> None: ...


@runtime_checkable
class SharedStorage(TokenStorage, Protocol):
    """A storage of several clients, of which one at a time renews the tokens under `key`.

    So one client uses up a refresh token, or has the person sign in, and the others use its new
    tokens. The others continue when the first one has ended, and after a while in any case.
    """

    def renewing(self, key: str, /) -> AbstractAsyncContextManager[None]: ...


class MemoryStorage:
    """A storage in memory, with the life of this object."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    @asynccontextmanager
    async def renewing(self, key: str, /) -> AsyncGenerator[None]:
        lock = self._locks[key]
        is_ours = await _try_until_acquired(partial(lock.acquire, blocking=False))
        try:
            yield
        finally:
            if is_ours:
                lock.release()

    async def get(self, key: str, /) -> bytes | None:
        return self._values.get(key)

    async def set(self, key: str, value: bytes, /) -> None:
        self._values[key] = value

    async def delete(self, key: str, /) -> None:
        self._values.pop(key, None)


class FileStorage:
    """One file of JSON only its owner may read (mode 0600), locked while it is changed.

    Several processes may share it, and one at a time renews the tokens of a server, by a lock file
    beside it. The file is replaced whole, so a reader never sees half of it. Raises TooMuch for a
    file over 4 MiB, ValueError for a foreign file, OSError.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).expanduser()

    async def get(self, key: str, /) -> bytes | None:
        return (await asyncio.to_thread(self._read)).get(key)

    async def set(self, key: str, value: bytes, /) -> None:
        await asyncio.to_thread(self._change, lambda values: {**values, key: value})

    async def delete(self, key: str, /) -> None:
        await asyncio.to_thread(
            self._change, lambda values: {k: v for k, v in values.items() if k != key}
        )

    def _read(self) -> dict[str, bytes]:
        try:
            with self._path.open("rb") as file:
                data = file.read(_MAX_FILE + 1)
        except FileNotFoundError:
            return {}
        if len(data) > _MAX_FILE:
            raise TooMuch(f"{self._path} is over {_MAX_FILE} bytes, which no token file is")
        try:
            return msgspec.json.decode(data, type=dict[str, bytes])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ValueError(f"{self._path} is not a token file; move it away") from None

    def _change(self, change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> None:
        with self._exclusive():
            self._replace(msgspec.json.encode(change(self._read())))

    def _replace(self, data: bytes) -> None:
        """Replace the file by a new one, which is private from its first byte."""
        handle, new = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self._path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(new)
            raise

    def renewing(self, key: str, /) -> AbstractAsyncContextManager[None]:
        return _renewing(self._path, key)

    @contextmanager
    def _exclusive(self) -> Generator[None]:
        with _open(self._path, "lock") as lock:
            _lock(lock)
            yield


@asynccontextmanager
async def _renewing(path: Path, key: str) -> AsyncGenerator[None]:
    """Hold the turn to renew the tokens under `key`, by a lock on a file beside `path`: one process
    at a time has it.
    """
    with ExitStack() as stack:
        # where there is no home, or no file can be written, there still are tokens to use
        with suppress(OSError, RuntimeError):
            name = sha256(key.encode()).hexdigest()[:16]
            lock = stack.enter_context(_open(path.expanduser(), name))
            await _try_until_acquired(partial(_lock, lock, waits=False))
        yield


@contextmanager
def _open(path: Path, suffix: str) -> Generator[int]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    lock = os.open(f"{path}.{suffix}", flags, 0o600)
    try:
        yield lock
    finally:
        os.close(lock)


def _lock(descriptor: int, *, waits: bool = True) -> bool:
    """Lock a file; return False if another process holds the lock. Closing the descriptor releases
    it.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows has no such lock; the replacement is still whole
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


async def _try_until_acquired(acquire: Callable[[], bool]) -> bool:
    """Call `acquire` until it returns True; return False if that takes too long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_WAIT):
            while not acquire():
                await asyncio.sleep(_POLL)
            return True
    return False


class KeyringStorage:
    """The keyring of the system, by the library `keyring`. Raises NotInstalled.

    A keyring has no locks: processes renewing the tokens of one server wait for each other by an
    empty file in the folder `locks`.
    """

    def __init__(
        self,
        service: str = "mcp-bindgen",
        locks: str | os.PathLike[str] = "~/.cache/mcp-bindgen",
    ) -> None:
        try:
            import keyring
        except ModuleNotFoundError:
            raise NotInstalled("tokens in the system's keyring", "keyring", "keyring") from None
        self._keyring: Any = keyring
        self._service = service
        self._locks = Path(locks)

    def renewing(self, key: str, /) -> AbstractAsyncContextManager[None]:
        return _renewing(self._locks / "keyring", f"{self._service} {key}")

    async def get(self, key: str, /) -> bytes | None:
        value: str | None = await asyncio.to_thread(self._keyring.get_password, self._service, key)
        return None if value is None else value.encode()

    async def set(self, key: str, value: bytes, /) -> None:
        await asyncio.to_thread(self._keyring.set_password, self._service, key, value.decode())

    async def delete(self, key: str, /) -> None:
        if await self.get(key) is not None:
            await asyncio.to_thread(self._keyring.delete_password, self._service, key)
