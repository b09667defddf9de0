"""A server process is a wire, and is ended with all that it started."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Final

import pytest

from mcp_runtime.errors import LocalError, NotStarted
from mcp_runtime.limits import Limits
from mcp_runtime.transports.child_process import INHERITED, Child, spawn
from tests.support.patience import until
from tests.support.wires import Taker, python

pytestmark = pytest.mark.real_time

CAT: Final = ("/bin/cat",)
STUBBORN: Final = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", '''
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
'''])
time.sleep(60)
"""
LEAVES_ONE: Final = """
import os, time
if os.fork() == 0:
    time.sleep(60)
print("ready", flush=True)
"""


def group(leader: int) -> list[int]:
    """The processes whose group that is, by /proc; not the dead that nobody has reaped."""
    members: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, pgrp = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == leader and state != "Z":
            members.append(int(folder.name))
    return members


PATIENT: Final = Limits(close_wait=600, terminate_wait=600, kill_wait=600)
"""With these a process is gone in the time of a test only if nothing was waited for."""


async def closed(child: Child) -> int | None:
    """Close it, and return its exit status; none of its group is left."""
    await child.close()
    assert group(child.pid) == []
    return child.returncode


async def until_dead(child: Child) -> None:
    """Wait for the death of a process, which is not reaped here."""

    def is_dead() -> bool:
        try:
            return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    await until(is_dead)


async def test_a_child_takes_what_is_written_and_its_output_comes() -> None:
    child = await spawn(CAT, limits=PATIENT)
    taker = Taker(child)
    child.write(b"one\n")
    child.write(b"two\n")
    assert await taker.until_taken(8) == b"one\ntwo\n"
    assert child.returncode is None
    assert await closed(child) == 0
    assert len(taker.ends) == 1
    child.write(b"too late")
    await child.drain()
    await child.close()


async def test_servers_of_all_kinds_are_ended_as_they_need() -> None:
    async def obeys() -> None:
        child = await python("import sys; sys.stdin.read(); print('bye')", limits=PATIENT)
        taker = Taker(child)
        assert await closed(child) == 0
        assert taker.taken == b"bye\n"

    async def ignores_eof() -> None:
        child = await python("print('ready', flush=True); import time; time.sleep(60)")
        await Taker(child).until_taken(6)
        assert await closed(child) == -signal.SIGTERM

    async def ignores_all() -> None:
        child = await python(STUBBORN)
        await Taker(child).until_taken(6)
        assert len(group(child.pid)) == 2
        assert await closed(child) == -signal.SIGKILL

    async def leaves_one_that_ignores() -> None:
        child = await python(
            "import os, signal, time\n"
            "if os.fork() == 0:\n"
            "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "    print('ready', flush=True)\n"
            "    time.sleep(60)\n"
            "input()\n"
        )
        await Taker(child).until_taken(6)
        assert await closed(child) != -signal.SIGKILL

    async def reads_nothing() -> None:
        child = await python("print('ready', flush=True); import time; time.sleep(60)")
        await Taker(child).until_taken(6)
        child.write(b"x" * 1_000_000)
        assert await closed(child) == -signal.SIGTERM

    await asyncio.gather(
        obeys(), ignores_eof(), ignores_all(), leaves_one_that_ignores(), reads_nothing()
    )


async def test_a_death_ends_the_wire_though_a_grandchild_holds_the_pipe() -> None:
    child = await python(STUBBORN)
    taker = Taker(child)
    await taker.until_taken(6)
    child.write(b"a call")
    os.kill(child.pid, signal.SIGKILL)
    await taker.until_ended()
    assert len(group(child.pid)) == 1
    await closed(child)


async def test_what_a_server_leaves_running_is_ended_though_nobody_closes_it() -> None:
    child = await python(LEAVES_ONE)
    await Taker(child).until_ended()
    await until(lambda: group(child.pid) == [])
    assert await closed(child) == 0


async def test_the_dead_that_nobody_reaps_hold_nothing_up() -> None:
    text = f"""
import asyncio, ctypes, sys, time
assert ctypes.CDLL(None).prctl(36, 1) == 0  # PR_SET_CHILD_SUBREAPER: orphans come here, and stay
from mcp_runtime.limits import Limits
from mcp_runtime.transports.child_process import spawn
async def main():
    waits = Limits(kill_wait=600)
    child = await spawn([sys.executable, "-c", {LEAVES_ONE!r}], stderr="drop", limits=waits)
    await child.close()
    print("closed")
asyncio.run(main())
"""

    child = await python(text)
    taker = Taker(child)
    await taker.until_ended()
    await child.close()
    assert taker.taken == b"closed\n", child.stderr


async def test_the_last_words_of_a_server_that_dies_at_once_arrive() -> None:
    child = await python(
        "import os, sys; os.write(2, b'why'); os.write(1, b'x' * 50_000); os._exit(3)"
    )
    await until_dead(child)
    child.write(b"a call")
    await asyncio.sleep(0)
    taker = Taker(child)
    await taker.until_ended()
    assert taker.taken == b"x" * 50_000
    assert child.stderr == b"why"
    assert await closed(child) == 3


async def test_the_end_of_standard_output_ends_the_wire_of_a_server_that_lives() -> None:
    child = await python("import os, sys; os.close(1); sys.stdin.read()")
    await Taker(child).until_ended()
    assert child.returncode is None
    await closed(child)


async def test_a_cancelled_close_kills_at_once_and_waits_for_the_death() -> None:
    child = await python(STUBBORN, limits=PATIENT)
    await Taker(child).until_taken(6)
    closing = asyncio.create_task(child.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert group(child.pid) == []
    assert child.returncode == -signal.SIGKILL


async def test_a_close_in_a_task_that_is_being_cancelled_ends_the_server() -> None:
    pids: list[int] = []

    async def serve() -> None:
        child = await python("import time; time.sleep(60)")
        pids.append(child.pid)
        try:
            await asyncio.Event().wait()
        finally:
            await child.close()

    serving = asyncio.create_task(serve())
    await until(lambda: bool(pids))
    assert not serving.done()
    serving.cancel()
    await asyncio.wait({serving})
    assert serving.cancelled()
    assert group(pids[0]) == []


async def test_without_pidfd_a_thread_sees_the_death(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    child = await spawn(CAT, limits=PATIENT)
    taker = Taker(child)
    os.kill(child.pid, signal.SIGKILL)
    await taker.until_ended()
    assert await closed(child) == -signal.SIGKILL


async def test_standard_error_is_kept_to_its_limit_and_given_as_it_comes() -> None:
    text = "import os\nfor i in range(300): os.write(2, b'%07d\\n' % i)"

    given = bytearray()
    limits = Limits(stderr_bytes=800)
    for stderr, expected in [
        ("capture", b"".join(b"%07d\n" % number for number in range(200, 300))),
        ("drop", b""),
        (given.extend, b"".join(b"%07d\n" % number for number in range(200, 300))),
    ]:
        child = await python(text, stderr=stderr, limits=limits)
        await Taker(child).until_ended()
        await child.close()
        assert child.stderr == expected
    assert given == b"".join(b"%07d\n" % number for number in range(300))


async def test_standard_error_is_ours_unless_told_otherwise(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = await spawn([sys.executable, "-c", "import os; os.write(2, b'to ours')"])
    await Taker(child).until_ended()
    await child.close()
    assert child.stderr == b""
    assert capfd.readouterr().err == "to ours"


async def test_the_environment_is_the_named_part_of_ours_and_what_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "abc")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("TERM", "() { echo a shell function; }")

    child = await spawn(["/usr/bin/env", "-0"], env={"GIVEN": "1", "HOME": "/given"})
    taker = Taker(child)
    await taker.until_ended()
    await child.close()
    theirs = dict(line.split("=", 1) for line in taker.taken.decode().split("\0") if line)
    assert theirs["GIVEN"] == "1"
    assert theirs["HOME"] == "/given"
    assert theirs["PATH"] == os.environ["PATH"]
    assert theirs["LC_TIME"] == "C"
    assert set(theirs) - {"GIVEN"} <= {*INHERITED, *(n for n in os.environ if n[:3] == "LC_")}
    assert "TERM" not in theirs


async def test_it_leads_a_session_of_its_own_in_the_folder_that_is_named(tmp_path: Path) -> None:
    text = "import os; print(os.getpid() == os.getsid(0) == os.getpgrp(), os.getcwd())"
    child = await spawn([sys.executable, "-c", text], cwd=tmp_path)
    taker = Taker(child)
    await taker.until_ended()
    await child.close()
    assert taker.taken.decode() == f"True {tmp_path}\n"


@pytest.mark.parametrize(
    ("command", "cwd", "said"),
    [
        (["/nowhere/server"], None, "'/nowhere/server': no such file or directory; give its full"),
        (["absent-server", "--token=secret"], None, "'absent-server': no such file"),
        (["{tmp}/plain"], None, "permission denied; make it executable"),
        (["{tmp}/binary"], None, "exec format error; start it by its interpreter"),
        (
            ["/bin/cat"],
            "/nowhere",
            "its folder '/nowhere': no such file or directory; name another",
        ),
        (["/bin/cat", "a\0b"], None, "embedded null byte; correct its arguments"),
        ([], None, "no command was given; name a program"),
        ("/bin/cat --token=secret", None, "'/bin/cat': a command is a list of words; split it"),
    ],
)
async def test_what_cannot_be_started_says_why_and_what_to_do(
    tmp_path: Path, command: list[str] | str, cwd: str | None, said: str
) -> None:
    (tmp_path / "plain").write_text("text")
    (tmp_path / "binary").write_bytes(b"\x7fnot a program")
    (tmp_path / "binary").chmod(0o755)
    if isinstance(command, list):
        command = [word.replace("{tmp}", str(tmp_path)) for word in command]
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(NotStarted) as caught:
        await spawn(command, cwd=cwd)
    assert isinstance(caught.value, LocalError)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    del caught
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_server_that_reads_nothing_holds_drain_and_then_its_own_output() -> None:
    limits = Limits(outgoing_bytes=100_000)

    child = await python("import os\nwhile True: os.write(1, b'x' * 1000)", limits=limits)
    taker = Taker(child)
    await taker.until_taken(1)
    child.write(b"y" * 90_000)
    await child.drain()
    child.write(b"y" * 90_000)
    waiting = asyncio.create_task(child.drain())
    before = len(taker.taken)
    await until(lambda: len(taker.taken) > before)
    assert not waiting.done()
    child.write(b"y" * 300_000)
    before = len(taker.taken)
    for _ in range(20):  # its pipe is full, and none of it is read
        await asyncio.sleep(0)
    assert len(taker.taken) == before
    await child.close()
    assert waiting.done()


async def test_fifty_children_leave_no_descriptor_and_no_task() -> None:
    async def one(number: int) -> None:
        child = await spawn(CAT, stderr="capture")
        taker = Taker(child)
        child.write(b"%d" % number)
        await taker.until_taken(1)
        if number % 2:
            os.kill(child.pid, signal.SIGKILL)
        await child.close()

    await one(0)
    gc.collect()
    before, tasks = sorted(os.listdir("/proc/self/fd")), asyncio.all_tasks()
    for start in range(0, 50, 10):
        await asyncio.gather(*(one(number) for number in range(start, start + 10)))
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert asyncio.all_tasks() == tasks


@pytest.mark.parametrize(
    ("program", "remedy"),
    [
        ("server.py", "start it with its interpreter: python server.py"),
        ("./server.js", "start it with its interpreter: node ./server.js"),
        ("localhost:8000", "if it is a URL, write it in full: http://localhost:8000"),
        ("127.0.0.1:8000/mcp", "if it is a URL, write it in full: http://127.0.0.1:8000/mcp"),
        ("server.example:80/mcp", "if it is a URL, write it in full: http://server.example:80/mcp"),
        ("nowhere.py", "give its full path, or add its folder to PATH"),
    ],
)
async def test_a_script_or_an_address_instead_of_a_command_says_what_to_type(
    program: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("server.py", "server.js"):
        (tmp_path / name).write_text("", "utf-8")
    with pytest.raises(NotStarted) as raised:
        await spawn([program])
    assert str(raised.value).endswith(f"; {remedy}")
