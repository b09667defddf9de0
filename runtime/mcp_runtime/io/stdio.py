"""Standard input and output as a wire: a server takes its own, a client those of a child."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from io import TextIOWrapper
from typing import IO, Final, Literal

from mcp_runtime.core.shutdown import Action, Event, Shutdown, State
from mcp_runtime.errors import NotStarted
from mcp_runtime.io.pipes import Inlet, Pipes
from mcp_runtime.io.wire import Receiver, Wire
from mcp_runtime.limits import DEFAULT, Limits

__all__ = ["INHERITED", "Child", "own_pipes", "spawn"]

INHERITED: Final = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT"),
        *("PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    }
)
"""What a child inherits of our environment, with all of `LC_*`; the rest is no business of it."""

Stderr = Literal["inherit", "capture", "drop"] | Callable[[bytes], None]

STRAY_WAIT: Final = 0.25  # for the last stray output to arrive
LOOK_AGAIN: Final = 0.01  # whether a dead server's group is empty
REMEDIES: Final = {
    errno.ENOENT: "give its full path, or add its folder to PATH",
    errno.EACCES: "make it executable, and its folder accessible",
    errno.ENOEXEC: "start it by its interpreter, or give it a first line with #!",
    errno.ENOTDIR: "a part of its path is not a folder",
}


@asynccontextmanager
async def own_pipes(limits: Limits = DEFAULT) -> AsyncIterator[Wire]:
    """Our standard input and output as a wire.

    Nothing else can reach it meanwhile: what the process or its children write to standard output
    goes to standard error, and they read nothing. At the end one line there counts such bytes.
    """
    with _diverted() as (read, write):
        wire = Pipes(read, write, limits, limits.outgoing_bytes)
        try:
            yield wire
        finally:
            await wire.close()


@contextmanager
def _diverted() -> Iterator[tuple[int, int]]:
    """The descriptors of the real standard input and output, which the caller closes."""
    for fd in range(3):  # none of ours may get the number of one that is closed
        _occupy(fd)
    real = os.dup(0), os.dup(1)
    stray = _Stray()
    _redirect(os.open(os.devnull, os.O_RDONLY), 0)
    _redirect(stray.inlet, 1)
    try:
        with _by_line(sys.stdout):
            yield os.dup(real[0]), os.dup(real[1])
    finally:
        _flush()
        for fd in range(2):
            _redirect(real[fd], fd)
        stray.join()


def _occupy(fd: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _redirect(source: int, target: int) -> None:
    os.dup2(source, target)
    os.close(source)


@contextmanager
def _by_line(stream: object) -> Iterator[None]:
    """What is printed is seen at once."""
    if not isinstance(stream, TextIOWrapper):
        yield
        return
    before = stream.line_buffering
    stream.reconfigure(line_buffering=True)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            stream.reconfigure(line_buffering=before)


def _flush() -> None:
    """What Python and C hold back for standard output goes where it went until now."""
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()  # type: ignore[union-attr]
    with suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes

        ctypes.CDLL(None).fflush(None)


class _Stray:
    """Passes on to standard error what is written to `inlet`, and counts it.

    In a thread, for the writer may be what holds the loop up. A child that outlives the serving
    may go on writing: the thread ends, and tells its count, when the last writer is gone.
    """

    def __init__(self) -> None:
        self._outlet, self.inlet = os.pipe()
        self._thread = threading.Thread(target=self._forward, name="stray output", daemon=True)
        self._thread.start()

    def _forward(self) -> None:
        count = 0
        while chunk := os.read(self._outlet, 65_536):
            count += len(chunk)
            _tell(chunk)
        os.close(self._outlet)
        if count:
            _tell(b"mcp_runtime: %d bytes for standard output went to standard error\n" % count)

    def join(self) -> None:
        self._thread.join(STRAY_WAIT)


def _tell(text: bytes) -> None:
    with suppress(OSError):
        while text:
            text = text[os.write(2, text) :]


async def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stderr: Stderr = "inherit",
    limits: Limits = DEFAULT,
) -> Child:
    """Starts `command` in a session of its own, without a shell; its standard streams are a wire.

    Its environment is what `INHERITED` names of ours, and `env`. Its standard error is ours, kept
    for `Child.stderr`, dropped, or kept and given to a function as it comes.

    Raises NotStarted.
    """
    if not hasattr(os, "killpg"):
        raise NotStarted(command, "no process groups here", "start servers on a POSIX system")
    if not command:
        raise NotStarted(command, "no command", "name a program")
    try:
        process = subprocess.Popen(
            list(command),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=_STDERR.get(stderr, subprocess.PIPE) if isinstance(stderr, str) else subprocess.PIPE,
            cwd=cwd,
            env=_environment(env or {}),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _not_started(command, cwd, error) from error
    return Child(process, stderr if callable(stderr) else None, limits)


_STDERR: Final = {"inherit": None, "drop": subprocess.DEVNULL}


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    ours = {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in INHERITED or name.startswith("LC_")) and not value.startswith("()")
    }  # a value that starts with "()" is a function of a shell
    return {**ours, **env}


def _not_started(command: Sequence[str], cwd: object, error: OSError | ValueError) -> NotStarted:
    if not isinstance(error, OSError):
        return NotStarted(command, str(error), "correct its arguments or its environment")
    reason = (error.strerror or str(error)).lower()
    if cwd is not None and error.filename == cwd:
        return NotStarted(command, f"{os.fspath(error.filename)!r}: {reason}", "name a folder that exists")
    return NotStarted(command, reason, REMEDIES.get(error.errno or 0, "see whether it runs by itself"))


class Child(Pipes):
    """A server process; made by `spawn`, and to be closed by whoever called that.

    Its death ends the wire, whoever else holds the pipe open.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        on_stderr: Callable[[bytes], None] | None,
        limits: Limits,
    ) -> None:
        # Twice the limit: if each side stopped to read where the other one does, both could wait.
        super().__init__(
            _taken(process.stdout), _taken(process.stdin), limits, 2 * limits.outgoing_bytes
        )
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._shutdown = Shutdown(limits.close_wait, limits.terminate_wait, limits.kill_wait)
        self._timer: asyncio.TimerHandle | None = None
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._watching: int | None = None
        self._tail = bytearray()
        self._on_stderr = on_stderr
        self._errors: Inlet | None = None
        if process.stderr is not None:
            self._errors = Inlet(_taken(process.stderr))
            self._errors.start(self._said, lambda: None)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative: of the signal that killed it."""
        return self._process.returncode

    @property
    def stderr(self) -> bytes:
        """The end of what it wrote to standard error, unless that is ours or dropped."""
        return bytes(self._tail)

    def _said(self, chunk: bytes) -> None:
        self._tail += chunk
        del self._tail[: -self._limits.stderr_bytes]
        if self._on_stderr is not None:
            self._on_stderr(chunk)

    def start(self, receiver: Receiver) -> None:
        super().start(receiver)
        self._watch()

    async def close(self) -> None:
        """Ends the process and all of its group. Cancelled, it kills them at once."""
        self._watch()
        if self._shutdown.state is State.RUNNING:
            self._step(Event.CLOSE)
        cancelled: asyncio.CancelledError | None = None
        while not self._gone.done():
            try:
                await asyncio.shield(self._gone)
            except asyncio.CancelledError as error:
                cancelled = error
                self._step(Event.HURRY)
        if cancelled is not None:
            raise cancelled

    def _watch(self) -> None:
        if self._watching is None:
            try:
                self._watching = os.pidfd_open(self.pid)
                self._loop.add_reader(self._watching, self._died)
            except (AttributeError, OSError):
                self._watching = -1
                threading.Thread(target=self._wait, name="child", daemon=True).start()

    def _wait(self) -> None:
        self._process.wait()
        with suppress(RuntimeError):  # of a loop that is closed
            self._loop.call_soon_threadsafe(self._died)

    def _unwatch(self) -> None:
        if self._watching is not None and self._watching >= 0:
            self._loop.remove_reader(self._watching)
            os.close(self._watching)
            self._watching = -1

    def _died(self) -> None:
        """Signals the group before its leader is reaped: until then its number is not used again."""
        self._unwatch()
        self._step(Event.DIED)
        self._process.poll()
        try:
            if self._errors is not None:
                self._errors.take_rest()
            self._broke()
        finally:
            self._look()

    def _broke(self) -> None:
        self._outlet.drop()
        if self._receiver is not None:
            self._inlet.take_rest()
            self._end()

    def _look(self) -> None:
        if self._shutdown.state is State.GONE:
            return
        if self._signal(0):
            self._loop.call_later(LOOK_AGAIN, self._look)
        else:
            self._step(Event.EMPTY)

    def _step(self, event: Event) -> None:
        if self._shutdown.state is State.GONE:
            return
        match self._shutdown.step(event, self._loop.time()):
            case Action.CLOSE_INPUT:
                self._outlet.finish()
            case Action.TERMINATE:
                self._signal(signal.SIGTERM)
            case Action.KILL:
                self._signal(signal.SIGKILL)
            case Action.NOTHING:
                pass
        self._await_due()

    def _signal(self, number: int) -> bool:
        """Is there anyone in the group who can be told?"""
        try:
            os.killpg(self.pid, number)
        except OSError:
            return False
        return True

    def _await_due(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self._shutdown.due
        self._timer = None if due is None else self._loop.call_at(due, self._step, Event.LATE)
        if self._shutdown.state is State.GONE:
            self._release()

    def _release(self) -> None:
        self._unwatch()
        self._outlet.drop()
        if self._errors is not None:
            self._errors.close()
        self._end()
        if not self._gone.done():
            self._gone.set_result(None)


def _taken(stream: IO[bytes] | None) -> int:
    """The descriptor of a stream of `subprocess`, taken from it."""
    assert stream is not None
    with stream:
        fd = os.dup(stream.fileno())
    os.set_blocking(fd, False)
    return fd
