"""A wire over two file descriptors, watched by the event loop, or by threads where it cannot."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from mcp_runtime.limits import Limits
from mcp_runtime.transports.wire import Receiver

_T = TypeVar("_T")

WATCHES_PIPES: Final = os.name == "posix"
"""True if event loops can watch pipes. Those of Windows watch only sockets, or fail later."""
CHUNK: Final = 64 * 1024
"""The usual size of a pipe. A buffer of 256 KiB costs 20 µs per read, for its memory."""
REST: Final = 1024 * 1024
"""The largest size of a pipe without privileges."""


class _Cork(threading.local):
    """The outlets written to while an inlet of the same thread hands a chunk on.

    They write when it is handed on: a message that only passes through needs no further iteration
    of the event loop, and messages of one chunk still share a write.
    """

    is_reading = False

    def __init__(self) -> None:
        self.flushes: list[Callable[[], None]] = []

    def flush(self) -> None:
        self.is_reading = False
        while self.flushes:
            self.flushes.pop()()


_CORK: Final = _Cork()


class Inlet:
    """A reader of `fd`; it closes `fd` at the end."""

    _open = False

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._open = True
        self.is_paused = True
        self._fetching: asyncio.Future[bytes] | None = None
        self._worker = _Worker(self._loop)
        self._watched = WATCHES_PIPES and not stat.S_ISREG(os.fstat(fd).st_mode)

    @property
    def is_watched(self) -> bool:
        """True if the event loop reads `fd`, False if a thread does."""
        return self._watched

    @property
    def is_read_by_thread(self) -> bool:
        """True while a thread reads and has not reached the end."""
        return self._open and self._fetching is not None

    def start(self, receive: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        """Call `receive` with each chunk, and `ended` at the end, unless closed before."""
        self._receive, self._ended = receive, ended
        self.resume()

    def pause(self) -> None:
        if self._open and not self.is_paused:
            self.is_paused = True
            if self._watched:
                self._loop.remove_reader(self._fd)

    def resume(self) -> None:
        if self._open and self.is_paused:
            self.is_paused = False
            self._watch()

    def _watch(self) -> None:
        if self._watched:
            try:
                self._loop.add_reader(self._fd, self._ready)
                return
            except (OSError, NotImplementedError):  # epoll, of /dev/null
                self._watched = False
        self._fetch()

    def _ready(self) -> None:
        try:
            chunk = os.read(self._fd, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # of a terminal whose other side is gone
            chunk = b""
        _CORK.is_reading = True
        try:
            self._got(chunk)
        finally:
            _CORK.flush()

    def _got(self, chunk: bytes) -> None:
        if chunk:
            self._receive(chunk)
        else:
            self.close()
            self._ended()

    def _fetch(self) -> None:
        if self._open and not self.is_paused and self._fetching is None:
            self._fetching = self._worker.run(_read, self._fd)
            self._fetching.add_done_callback(self._on_fetch_end)

    def _on_fetch_end(self, fetching: asyncio.Future[bytes]) -> None:
        self._fetching = None
        if not self._open:
            os.close(self._fd)
        elif not fetching.cancelled():
            try:
                self._got(fetching.result())
            finally:
                self._fetch()

    def read_rest(self) -> None:
        """Read the bytes already in the pipe, unless a thread reads."""
        left = REST if self._watched else 0
        while self._open and left > 0:
            try:
                chunk = os.read(self._fd, CHUNK)
            except OSError:
                return
            left -= len(chunk)
            if not chunk:
                return
            self._receive(chunk)

    def close(self) -> None:
        if self._open:
            self.pause()
            self._open = False
            self._worker.end()
            if self._fetching is None:
                os.close(self._fd)

    def __del__(self) -> None:
        if self._open:  # the event loop was closed before it
            os.close(self._fd)


class _Worker:
    """A thread for blocking calls, which does not keep the program alive.

    The executor of the event loop has few threads, and is joined at the end.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._work: SimpleQueue[Callable[[], None] | None] | None = None

    def run(self, function: Callable[..., _T], *arguments: Any) -> asyncio.Future[_T]:
        """Call `function` in the thread and return a future of its result; it must not raise."""
        if self._work is None:
            self._work = SimpleQueue()
            threading.Thread(target=_work_off, args=(self._work,), name="pipe", daemon=True).start()
        done: asyncio.Future[_T] = self._loop.create_future()

        def call() -> None:
            result = function(*arguments)
            with suppress(RuntimeError):  # of a loop that is closed
                self._loop.call_soon_threadsafe(_settle, done, result)

        self._work.put(call)
        return done

    def end(self) -> None:
        """End the thread after its current call."""
        if self._work is not None:
            self._work.put(None)


def _work_off(work: SimpleQueue[Callable[[], None] | None]) -> None:
    while (call := work.get()) is not None:
        call()


def _settle(done: asyncio.Future[_T], result: _T) -> None:
    if not done.done():
        done.set_result(result)


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK)
    except OSError:
        return b""


class Outlet:
    """A writer to `fd`, which writes once for all messages of one iteration of the loop.

    It closes `fd` at the end. `moved` is called when fewer bytes are `waiting` than before, `lost`
    when the reader is gone.
    """

    _open = False

    def __init__(self, fd: int, moved: Callable[[], None], lost: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._note_progress, self._lost = moved, lost
        self._queue: list[bytes] = []
        self._rest = memoryview(b"")
        self.waiting = 0
        self._busy = False
        self._ending = False
        self._open = True
        self._unread_at_end = False
        self._writing = False
        self._handing: asyncio.Future[bool] | None = None
        self._worker = _Worker(self._loop)
        self._watched = _can_wait(fd, self._loop)
        self._blocking = os.get_blocking(fd) if self._watched else True
        if self._watched:
            os.set_blocking(fd, False)

    def write(self, data: bytes) -> None:
        if self._ending or not data:
            return
        self._queue.append(data)
        self.waiting += len(data)
        if not self._busy:
            self._busy = True
            if self._watched and _CORK.is_reading:
                _CORK.flushes.append(self._flush)
            else:
                self._loop.call_soon(self._flush if self._watched else self._hand_over)

    def _fill(self) -> bool:
        if not self._rest and self._queue:
            self._rest = memoryview(b"".join(self._queue))
            self._queue.clear()
        return bool(self._rest)

    def _flush(self) -> None:
        while self._rest or self._queue:
            self._fill()
            try:
                sent = os.write(self._fd, self._rest)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:
                self.drop()
                self._lost()
                return
            self._on_sent_bytes(sent)
            if self._rest:
                self._watch()
                return
        self._idle()

    def _watch(self) -> None:
        if not self._writing:
            self._writing = True
            self._loop.add_writer(self._fd, self._flush)

    def _unwatch(self) -> None:
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _hand_over(self) -> None:
        if self._fill():
            self._handing = self._worker.run(_write, self._fd, self._rest)
            self._handing.add_done_callback(self._on_handover)
        else:
            self._idle()

    def _on_handover(self, handed: asyncio.Future[bool]) -> None:
        self._handing = None
        if not self._open:
            os.close(self._fd)
        elif not handed.cancelled() and handed.result():
            self._on_sent_bytes(len(self._rest))
            self._hand_over()
        else:
            self.drop()
            self._lost()

    def _on_sent_bytes(self, count: int) -> None:
        self._rest = self._rest[count:]
        self.waiting -= count
        self._note_progress()

    def _idle(self) -> None:
        self._busy = False
        if self._writing:
            self._unwatch()
        if self._ending:
            self.drop()

    def is_unread(self) -> bool:
        """True if the reader has not read all written bytes; False if unknown."""
        if not self._open:
            return self._unread_at_end
        return bool(self.waiting) or _bytes_in_pipe(self._fd) > 0

    def finish(self) -> None:
        """Close `fd` once everything is written, and ignore later writes."""
        self._ending = True
        if not self._busy:
            self.drop()

    def drop(self) -> None:
        """Close `fd` and drop unwritten bytes."""
        self._ending, self._unread_at_end = True, self.is_unread()
        self._queue.clear()
        self._rest, self.waiting = memoryview(b""), 0
        if self._open:
            self._open = False
            self._unwatch()
            if self._blocking and self._watched:
                os.set_blocking(self._fd, True)
            self._worker.end()
            if self._handing is None:
                os.close(self._fd)
            self._note_progress()

    def __del__(self) -> None:
        if self._open:
            os.close(self._fd)


def _can_wait(fd: int, loop: asyncio.AbstractEventLoop) -> bool:
    """True if the loop can tell when `fd` accepts more bytes.

    It cannot for files. Terminals are excluded: non-blocking mode would hold for every process on
    the terminal.
    """
    if not WATCHES_PIPES:
        return False
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    try:
        loop.remove_writer(fd)
    except NotImplementedError:
        return False
    return True


def _bytes_in_pipe(fd: int) -> int:
    """Return the number of unread bytes in a pipe; 0 if the system does not tell."""
    try:
        from fcntl import ioctl
        from termios import FIONREAD

        return int.from_bytes(ioctl(fd, FIONREAD, bytes(4)), sys.byteorder)
    except (ImportError, OSError):
        return 0


def _write(fd: int, data: memoryview) -> bool:
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError:
        return False
    return True


class Pipes:
    """A wire which reads one descriptor and writes another; it closes both.

    `drain` waits while `limits.outgoing_bytes` or more are unwritten. With more than `limit`
    unwritten bytes, the wire stops to read from the peer.
    """

    def __init__(self, read: int, write: int, limits: Limits, limit: int) -> None:
        self._limits = limits
        self._limit = limit
        self._inlet = Inlet(read)
        self._outlet = Outlet(write, self._note_progress, self._broke)
        self._receiver: Receiver | None = None
        self._over = False
        self._is_full = False
        self._room = asyncio.Event()
        self._room.set()
        self._progress = asyncio.Event()

    @property
    def waiting(self) -> int:
        return self._outlet.waiting

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._inlet.start(receiver.received, self._end)
        if self._over:
            asyncio.get_running_loop().call_soon(self._end)

    def write(self, data: bytes) -> None:
        self._outlet.write(data)
        if self._outlet.waiting >= self._limits.outgoing_bytes:
            self._is_full = True
            self._room.clear()
        if self._outlet.waiting > self._limit:
            self._inlet.pause()

    def _note_progress(self) -> None:
        self._progress.set()
        if self._outlet.waiting < self._limits.outgoing_bytes:
            if self._is_full:
                self._is_full = False
                self._room.set()
            if self._inlet.is_paused and self._receiver is not None:
                self._inlet.resume()

    async def drain(self) -> None:
        await self._room.wait()

    def _broke(self) -> None:
        """End the wire: the peer does not read any more."""
        if self._receiver is not None:
            self._end()

    def _end(self) -> None:
        self._over = True
        self._inlet.close()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended()

    async def close(self) -> None:
        """Send waiting bytes, then close both descriptors.

        Give up if the peer reads nothing for `limits.close_wait` seconds.
        """
        self._inlet.close()
        try:
            await self._sent_all()
        finally:
            self._outlet.drop()
            self._end()

    async def _sent_all(self) -> None:
        while self._outlet.waiting:
            self._progress.clear()
            try:
                async with asyncio.timeout(self._limits.close_wait):
                    await self._progress.wait()
            except TimeoutError:
                return
