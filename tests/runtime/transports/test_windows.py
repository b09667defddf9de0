"""What Windows lacks is taken away: a client starts, uses and ends servers all the same.

Here a stand-in for the functions of Windows ends real processes; the workflow `windows` runs the
same on Windows itself.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mcp_runtime import Client, types
from mcp_runtime.errors import Disconnected, NotStarted, SessionError
from mcp_runtime.limits import Limits
from mcp_runtime.transports import child_process, pipes, process_group
from mcp_runtime.transports.child_process import resolved, spawn
from mcp_runtime.transports.process_group import PosixGroup, WindowsJob, group_of_this_system

pytestmark = pytest.mark.real_time

SERVER = """
import os, subprocess, sys
from mcp_runtime import Server
server = Server("s", "1")
@server.tool
def echo(text: str) -> str: return text
@server.tool
def end() -> str: os._exit(3)
@server.tool
def leave() -> str:
    return str(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)
server.run()
"""
DEAF = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\n"
)
DEAF += "while True: time.sleep(60)\n"


class Job:
    """A stand-in for `WindowsJob`: knows nothing of POSIX groups but how to end one."""

    popen_options: Mapping[str, Any] = {"start_new_session": True}
    made: ClassVar[list[Job]] = []

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._group = PosixGroup(process)
        self.calls: list[str] = []
        self.made.append(self)

    def terminate(self) -> None:  # Ctrl-Break reaches nobody without a console
        self.calls.append("terminate")

    def kill(self) -> None:
        self.calls.append("kill")
        self._group.kill()

    def is_empty(self) -> bool:
        return self._group.is_empty()

    def close(self) -> None:
        self.calls.append("close")


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """This system without what Windows lacks."""
    if sys.platform == "win32":
        return
    Job.made.clear()
    monkeypatch.setattr(child_process, "group_of_this_system", lambda: Job)
    monkeypatch.setattr(pipes, "WATCHES_PIPES", False)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    for name in ("set_blocking", "get_blocking"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(child_process, "_detach", _dup)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "termios", None)

    def refuse(*_: object) -> None:
        raise NotImplementedError

    loop = asyncio.SelectorEventLoop
    for name in ("add_reader", "remove_reader", "add_writer", "remove_writer"):
        own = getattr(loop, f"_{name}")
        assert own  # the loop's own pipe is watched by the private ones
        monkeypatch.setattr(loop, name, refuse)


def _dup(stream: Any) -> int:
    with stream:
        return os.dup(stream.fileno())


def command(folder: Path, text: str) -> list[str]:
    (folder / "server.py").write_text(text)
    return [sys.executable, str(folder / "server.py")]


def text_of(result: types.CallToolResult) -> str:
    return "".join(getattr(block, "text", "") for block in result.content)


async def test_a_server_is_started_used_and_ended(windows: None, tmp_path: Path) -> None:
    async with Client.stdio(command(tmp_path, SERVER), timeout=60) as client:
        for text in ("a", "b" * 300_000, "\u2705"):
            assert text_of(await client.call_tool("echo", {"text": text})) == text
        calls = (client.call_tool("echo", {"text": str(i)}) for i in range(50))
        assert [text_of(each) for each in await asyncio.gather(*calls)] == [*map(str, range(50))]


@pytest.mark.wide
async def test_many_servers_at_once_have_threads_enough(windows: None, tmp_path: Path) -> None:
    started = command(tmp_path, SERVER)  # written once: another server may be reading the file

    async def one(i: int) -> str:
        async with Client.stdio(started, timeout=60) as client:
            return text_of(await client.call_tool("echo", {"text": str(i)}))

    assert await asyncio.gather(*map(one, range(6))) == [*map(str, range(6))]


async def test_a_server_that_dies_is_noticed_with_its_last_words(
    windows: None, tmp_path: Path
) -> None:
    words = "import sys\nsys.stderr.write('no config\\n')\nsys.exit(4)\n"
    with pytest.raises(SessionError, match="no config") as failed:
        async with Client.stdio(command(tmp_path, words), timeout=60, stderr="capture"):
            pass
    assert "exit code 4" in str(failed.value)
    async with Client.stdio(command(tmp_path, SERVER), timeout=60) as client:
        with pytest.raises(Disconnected):
            await client.call_tool("end", {})


async def test_last_words_that_a_thread_reads_late_are_told(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pipes._read

    def late(fd: int) -> bytes:
        chunk = read(fd)
        time.sleep(0.1)
        return chunk

    monkeypatch.setattr(pipes, "_read", late)
    words = "import sys\nsys.stderr.write('no config\\n')\nsys.exit(4)\n"
    with pytest.raises(SessionError, match="no config"):
        async with Client.stdio(command(tmp_path, words), timeout=60, stderr="capture"):
            pass


async def test_what_a_server_leaves_behind_is_killed(windows: None, tmp_path: Path) -> None:
    limits = Limits(close_wait=5, terminate_wait=0.2)
    async with Client.stdio(command(tmp_path, SERVER), timeout=60, limits=limits) as client:
        left = int(text_of(await client.call_tool("leave", {})))
    assert await _is_gone(left)


async def _is_gone(pid: int) -> bool:
    """Whether that process ends in time: no running process has that number, but a zombie may."""
    for _ in range(6_000):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        await asyncio.sleep(0)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="../shared: the stand-in is not used there")
async def test_a_server_that_does_not_end_is_killed_by_its_job(
    windows: None, tmp_path: Path
) -> None:
    child = await spawn(
        command(tmp_path, DEAF),
        stderr="drop",
        limits=Limits(close_wait=0.05, terminate_wait=0.05),
    )
    await child.close()
    (job,) = Job.made
    assert job.calls == ["terminate", "kill", "close"]
    assert child.returncode == -signal.SIGKILL


# ---- the functions of Windows


class Kernel:
    """Records calls, and answers as Windows does."""

    def __init__(self, *, admits: bool = True, active: Sequence[int] = ()) -> None:
        self.calls: list[tuple[str, Any]] = []
        self._admits, self._active = admits, list(active)

    def CreateJobObjectW(self, security: None, name: None) -> int:  # noqa: N802
        return 77

    def SetInformationJobObject(self, job: int, kind: int, at: Any, size: int) -> int:  # noqa: N802
        limits = ctypes.cast(at, ctypes.POINTER(process_group._Limits)).contents
        self.calls.append(("limit", (job, kind, limits.flags, size)))
        return 1

    def AssignProcessToJobObject(self, job: int, process: int) -> int:  # noqa: N802
        self.calls.append(("assign", (job, process)))
        return int(self._admits)

    def QueryInformationJobObject(  # noqa: N802
        self, job: int, kind: int, at: Any, size: int, length: None
    ) -> int:
        counts = ctypes.cast(at, ctypes.POINTER(process_group._Accounting)).contents
        counts.active_processes = self._active.pop(0)
        return 1

    def TerminateJobObject(self, job: int, code: int) -> int:  # noqa: N802
        self.calls.append(("terminate", (job, code)))
        return 1

    def CloseHandle(self, job: int) -> int:  # noqa: N802
        self.calls.append(("close", job))
        return 1


class Process:
    pid = 4242
    _handle = 11
    killed = 0

    def kill(self) -> None:
        self.killed += 1

    def poll(self) -> int | None:
        return 1 if self.killed else None


def test_a_job_ends_with_its_last_handle_and_counts_its_processes() -> None:
    kernel, process = Kernel(active=[2, 0]), Process()
    job = WindowsJob(process, kernel)  # type: ignore[arg-type]
    assert kernel.calls[:2] == [
        ("limit", (77, 9, 0x2000, ctypes.sizeof(process_group._Limits))),
        ("assign", (77, 11)),
    ]
    assert [job.is_empty(), job.is_empty()] == [False, True]
    job.kill()
    job.close()
    job.close()
    assert kernel.calls[2:] == [("terminate", (77, 1)), ("close", 77)]


def test_a_process_that_no_job_admits_is_ended_alone() -> None:
    kernel, process = Kernel(admits=False), Process()
    job = WindowsJob(process, kernel)  # type: ignore[arg-type]
    assert kernel.calls[-1] == ("close", 77)
    assert not job.is_empty()
    job.kill()
    assert process.killed == 1
    assert job.is_empty()


def test_ctrl_break_asks_a_group_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    job = WindowsJob(Process(), Kernel())  # type: ignore[arg-type]
    job.terminate()
    assert sent == [(4242, 1)]
    assert WindowsJob.popen_options == {"creationflags": 0x200}


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="../shared: sizes of 64 bits")
def test_the_structures_have_the_sizes_that_windows_states() -> None:
    assert ctypes.sizeof(process_group._Limits) == 144
    assert ctypes.sizeof(process_group._Accounting) == 48


def test_each_system_has_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert group_of_this_system() is WindowsJob
    monkeypatch.setattr(sys, "platform", "darwin")
    assert group_of_this_system() is PosixGroup


def test_a_program_is_found_by_its_whole_name_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = tmp_path / "npx.cmd"
    batch.write_text("")
    monkeypatch.setattr(child_process.shutil, "which", lambda name: str(batch))
    assert resolved(["npx", "-y", "server"], windows=True) == [str(batch), "-y", "server"]
    assert resolved(["npx", "-y"], windows=False) == ["npx", "-y"]
    for word in ("a&calc", "%PATH%", 'a"b', "a|b", "a\nb"):
        with pytest.raises(NotStarted, match="batch file"):
            resolved(["npx", word], windows=True)


def test_a_program_that_is_not_found_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process.shutil, "which", lambda name: None)
    assert resolved(["nothing"], windows=True) == ["nothing"]
