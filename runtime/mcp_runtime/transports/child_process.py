"""A server as a child process: a wire over its standard streams, which ends with the process."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Literal
from weakref import WeakMethod

from mcp_runtime.errors import NotStarted
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.transports.pipes import Inlet, Pipes
from mcp_runtime.transports.process_group import ProcessGroup, group_of_this_system
from mcp_runtime.transports.shutdown import Action, Event, Shutdown, State
from mcp_runtime.transports.stderr import StderrView
from mcp_runtime.transports.wire import Receiver

INHERITED: Final = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
    | {"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES"}
    | {"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR"}
)
"""The variables inherited by a child from our environment, with all of `LC_*`; others may be
secret. The second and third rows are of Windows, where few programs start without them."""

Stderr = Literal["show", "inherit", "capture", "drop"] | Callable[[bytes], None]

REST_WAIT: Final = 0.25  # seconds for the last output of a dead server, where a thread reads it
UNSAFE_IN_BATCH: Final = re.compile(r"[\"%&|<>^!\r\n]")
GROUP_POLL: Final = 0.01  # seconds until the process group of a dead server is checked again
STDERR: Final = {"inherit": None, "drop": subprocess.DEVNULL}
REMEDIES: Final = {
    errno.ENOENT: "give its full path, or add its folder to PATH",
    errno.EACCES: "make it executable, and its folder accessible",
    errno.ENOEXEC: "start it by its interpreter, or give it a first line with #!",
}
INTERPRETERS: Final = {
    ".py": "python",
    ".js": "node",
    ".mjs": "node",
    ".ts": "npx tsx",
    ".sh": "sh",
}
ADDRESS: Final = re.compile(r"(localhost|[A-Za-z0-9.-]+:[0-9]{1,5}|[0-9.]{7,15})(/|$)")


async def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stderr: Stderr = "inherit",
    limits: Limits = DEFAULT,
) -> Child:
    """Start `command` in a process group of its own, without a shell.

    Its environment has the variables of `INHERITED` and `env`. `stderr` is one of "inherit" (to our
    standard error), "drop", "capture" (the end is kept for `Child.stderr`), "show" (captured, and
    copied to our standard error with control characters escaped), or a function called with each
    chunk (captured too).

    Raises NotStarted.
    """
    _refuse(command)
    group = group_of_this_system()
    try:
        started: Any = subprocess.Popen(
            resolved(command),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if callable(stderr) else STDERR.get(stderr, subprocess.PIPE),
            cwd=cwd,
            env=_environment(env or {}),
            **group.popen_options,
        )
    except (OSError, ValueError) as error:
        raise _start_error(command, cwd, error) from error
    process: subprocess.Popen[bytes] = started
    on_stderr = StderrView() if stderr == "show" else stderr if callable(stderr) else None
    return Child(process, on_stderr, limits, group(process))


def resolved(command: Sequence[str], *, windows: bool = sys.platform == "win32") -> list[str]:
    """Return the command for the system: Windows finds `npx.cmd` only by its full name.

    Raises NotStarted for an argument which a batch file would run as a command.
    """
    program = (shutil.which(command[0]) or command[0]) if windows else command[0]
    if windows and program.lower().endswith((".bat", ".cmd")):
        for word in command[1:]:
            if UNSAFE_IN_BATCH.search(word):
                why = f"it is a batch file, which would run a part of {word[:80]!r}"
                raise NotStarted(command, why, "start the program that it starts")
    return [program, *command[1:]]


def _refuse(command: Sequence[str]) -> None:
    if isinstance(command, str):
        raise NotStarted(
            command.split(), "a command is a list of words", "split it, as shlex.split does"
        )
    if not command:
        raise NotStarted(command, "no command was given", "name a program")


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    ours = {
        name: value
        for name, value in os.environ.items()
        if (name in INHERITED or name.startswith("LC_")) and not value.startswith("()")
    }  # a value with "()" at its start is a shell function (Shellshock)
    return {**ours, **env}


def _start_error(command: Sequence[str], cwd: object, error: OSError | ValueError) -> NotStarted:
    if not isinstance(error, OSError):
        return NotStarted(command, str(error), "correct its arguments or its environment")
    reason = (error.strerror or str(error)).lower()
    if cwd is not None and error.filename == cwd:
        return NotStarted(command, f"its folder {str(cwd)!r}: {reason}", "name another folder")
    return NotStarted(command, reason, _remedy(command[0], error.errno or 0))


def _remedy(program: str, number: int) -> str:
    """Return the advice for a program which cannot be started."""
    if os.path.isfile(program) and (interpreter := INTERPRETERS.get(Path(program).suffix)):
        return f"start it with its interpreter: {interpreter} {program}"
    if ADDRESS.match(program):
        return f"if it is a URL, write it in full: http://{program}"
    return REMEDIES.get(number, "start it by hand to see why")


def _wait(
    process: subprocess.Popen[bytes],
    loop: asyncio.AbstractEventLoop,
    died: WeakMethod[Callable[[], None]],
) -> None:
    process.wait()
    if (report := died()) is not None:
        with suppress(RuntimeError):  # of a loop that is closed
            loop.call_soon_threadsafe(report)


class Child(Pipes):
    """A server process started by `spawn`; the caller must close it.

    The death of the process ends the wire, even if another process holds the pipe open. If the
    event loop is closed first, the process is killed when this object is deleted.
    """

    _watching: int | None = None

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        on_stderr: Callable[[bytes], None] | None,
        limits: Limits,
        group: ProcessGroup,
    ) -> None:
        self._group = group
        self._process, self._owner = process, os.getpid()
        # Twice the server's limit for the pause of reading. With equal limits both sides could stop
        # reading at the same time, and wait for each other for ever.
        super().__init__(
            _detach(process.stdout), _detach(process.stdin), limits, 2 * limits.outgoing_bytes
        )
        self._loop = asyncio.get_running_loop()
        self._shutdown = Shutdown(limits.close_wait, limits.terminate_wait, limits.kill_wait)
        self._timer: asyncio.TimerHandle | None = None
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._tail = bytearray()
        self._on_stderr = on_stderr
        self._errors: Inlet | None = None
        if process.stderr is not None:
            self._errors = Inlet(_detach(process.stderr))
            self._errors.start(self._stderr_received, lambda: None)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; None while the process runs, -N if signal N killed it."""
        return self._process.returncode

    @property
    def stderr(self) -> bytes:
        """The end of its standard error, if it is captured."""
        return bytes(self._tail)

    def is_unread(self) -> bool:
        """True if the process has not read all its input, even at its end; False if unknown."""
        return self._outlet.is_unread()

    def _stderr_received(self, chunk: bytes) -> None:
        self._tail += chunk
        del self._tail[: -self._limits.stderr_bytes]
        if self._on_stderr is not None:
            self._loop.call_soon(self._on_stderr, chunk)

    def start(self, receiver: Receiver) -> None:
        super().start(receiver)
        self._watch()

    async def close(self) -> None:
        """End the process and its group. If cancelled, kill them at once."""
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
                self._loop.add_reader(self._watching, self._on_exit)
            except (AttributeError, OSError):
                self._watching = -1
                watched = self._process, self._loop, WeakMethod(self._on_exit)
                threading.Thread(target=_wait, args=watched, name="child", daemon=True).start()

    def _unwatch(self) -> None:
        if self._watching is not None and self._watching >= 0:
            self._loop.remove_reader(self._watching)
            os.close(self._watching)
            self._watching = -1

    def _on_exit(self) -> None:
        """Signal the group of the dead process, read its last output, end the wire.

        The group comes first: once its leader is reaped, the system may reuse its number.
        """
        self._unwatch()
        self._step(Event.DIED)
        self._process.poll()
        if self._errors is not None:
            self._errors.read_rest()
        self._rest_until = self._loop.time() + REST_WAIT
        self._loop.call_soon(self._check_group)
        if self._inlet.is_watched:
            self._broke()
        else:  # a thread reads what is there, up to the end if nothing else holds the pipe
            self._loop.call_later(REST_WAIT, self._broke)

    def _broke(self) -> None:
        self._outlet.drop()
        if self._receiver is not None:
            try:
                self._inlet.read_rest()
            finally:
                self._end()

    def _check_group(self) -> None:
        if self._shutdown.state is State.GONE:
            return
        if self._group.is_empty() and not self._is_reading_rest():
            self._step(Event.EMPTY)
        else:
            self._loop.call_later(GROUP_POLL, self._check_group)

    def _is_reading_rest(self) -> bool:
        """True while threads still read the last output of the dead process."""
        inlets = (self._inlet, self._errors)
        reads = any(each.is_read_by_thread for each in inlets if each is not None)
        return reads and self._loop.time() < self._rest_until

    def _step(self, event: Event) -> None:
        if self._shutdown.state is State.GONE:
            return
        match self._shutdown.step(event, self._loop.time()):
            case Action.CLOSE_INPUT:
                self._outlet.finish()
            case Action.TERMINATE:
                self._group.terminate()
            case Action.KILL:
                self._group.kill()
            case Action.NOTHING:
                pass
        self._await_due()

    def __del__(self) -> None:
        if self._watching is not None and self._watching >= 0:
            os.close(self._watching)
        if self._process.returncode is None and self._owner == os.getpid():  # not after a fork
            self._group.kill()

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
        self._group.close()
        if self._errors is not None:
            self._errors.close()
        if not self._gone.done():
            self._gone.set_result(None)
        self._end()


def _detach(stream: IO[bytes] | None) -> int:
    """Return a copy of the descriptor of a stream, and close the stream."""
    assert stream is not None
    with stream:
        fd = os.dup(stream.fileno())
    if os.name == "posix":  # elsewhere threads read and write it
        os.set_blocking(fd, False)
    return fd
