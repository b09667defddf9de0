"""A server owns its standard input and output: nothing else reaches the wire."""

from __future__ import annotations

import fcntl
import os
import pty
import socket
import subprocess
import sys
import termios
from pathlib import Path
from typing import Final

import pytest

from mcp_runtime.limits import Limits
from mcp_runtime.transports.child_process import Child
from tests.support.patience import PATIENCE, until
from tests.support.wires import RUNTIME, SERVER, Taker, python

RUN: Final = "\nasyncio.run(main())\n"
ENV: Final = {**os.environ, "PYTHONPATH": RUNTIME, "PYTHONUNBUFFERED": ""}
STRAY: Final = {
    "print": "print('stray')",
    "a descriptor": "os.write(1, b'stray\\n')",
    "C": "import ctypes; ctypes.CDLL(None).puts(b'stray')",
    "a child": "import subprocess; subprocess.run(['echo', 'stray'])",
    "a logger": (
        "import logging; logging.basicConfig(stream=sys.stdout, format='%(message)s');"
        " logging.warning('stray')"
    ),
    "the first stdout": "sys.__stdout__.write('stray\\n')",
    "a new stdout": "sys.stdout = open(1, 'w', closefd=False); sys.stdout.write('stray\\n')",
}


def ran(text: str, **streams: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", text]
    return subprocess.run(command, env=ENV, timeout=PATIENCE, check=False, **streams)


async def until_it_reads_no_more(child: Child) -> None:
    """Wait until a server sleeps at many looks in a row, while input waits for it."""
    looks = 0

    def sleeps() -> bool:
        nonlocal looks
        state = Path(f"/proc/{child.pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
        looks = looks + 1 if state == "S" and child._outlet.waiting else 0
        return looks > 20

    await until(sleeps)


def unread(child: Child) -> int:
    """Bytes that wait in the pipe of its output."""
    count = fcntl.ioctl(child._inlet._fd, termios.FIONREAD, bytes(4))
    return int.from_bytes(count, sys.byteorder)


@pytest.mark.parametrize("way", STRAY)
def test_stray_output_goes_to_standard_error_and_is_counted(way: str) -> None:
    text = f"{SERVER}\ndef hook(wire):\n    {STRAY[way]}\n{RUN}"
    done = ran(text, input=b"a call\n", capture_output=True)
    assert done.stdout == b"a call\n"
    assert done.stderr.count(b"stray\n") == 1
    assert done.stderr.endswith(
        b"mcp_runtime: 6 bytes for standard output went to standard error\n"
    )
    assert done.returncode == 0


def test_a_clean_server_says_nothing() -> None:
    done = ran(SERVER + RUN, input=b"a call\n", capture_output=True)
    assert (done.stdout, done.stderr, done.returncode) == (b"a call\n", b"", 0)


def test_what_is_held_back_from_before_is_diverted_and_afterwards_all_is_as_it_was() -> None:
    text = f"""{SERVER}
sys.stdout.write("before ")
{RUN}
print("after", sys.stdin.read(), os.get_blocking(0), os.get_blocking(1), flush=True)
subprocess = __import__("subprocess")
subprocess.run(["echo", "child"])
"""
    done = ran(text, input=b"", capture_output=True)
    assert done.stdout == b"after  True True\nchild\n"
    assert done.stderr.startswith(b"before mcp_runtime: 7 bytes")


def test_a_great_deal_of_stray_output_holds_nothing_up() -> None:
    text = f"{SERVER}\ndef hook(wire):\n    print('x' * 3_000_000)\n{RUN}"
    done = ran(text, input=b"a call\n", capture_output=True)
    assert done.stdout == b"a call\n"
    assert done.stderr.endswith(
        b"mcp_runtime: 3000001 bytes for standard output went to standard error\n"
    )


def test_c_may_write_a_good_deal_while_no_thread_of_ours_runs() -> None:
    hook = "import ctypes; ctypes.PyDLL(None).puts(b'x' * 900_000)"  # it keeps the GIL
    done = ran(
        f"{SERVER}\ndef hook(wire):\n    {hook}\n{RUN}", input=b"a call\n", capture_output=True
    )
    assert done.stdout == b"a call\n"
    assert b"mcp_runtime: 900001 bytes" in done.stderr


def test_handlers_read_nothing_from_the_wire() -> None:
    text = f"{SERVER}\ndef hook(wire):\n    assert sys.stdin.read() == ''\n{RUN}"
    done = ran(text, input=b"a call\n", capture_output=True)
    assert (done.stdout, done.stderr) == (b"a call\n", b"")


@pytest.mark.real_time
async def test_a_child_that_outlives_the_serving_does_not_hold_it_up() -> None:
    text = f"""{SERVER}
import subprocess
def hook(wire):
    sleeper = subprocess.Popen(["sleep", "600"])
    print(sleeper.pid, file=sys.stderr, flush=True)
{RUN}"""
    text = text.replace("sleeper =", "global sleeper; sleeper =")

    child = await python(text)
    taker = Taker(child)
    child.write(b"a call\n")
    await taker.until_taken(7)
    child._outlet.finish()
    await taker.until_ended()
    os.kill(int(child.stderr), 0)  # it lives
    await child.close()
    assert child.returncode == 0


def test_files_are_read_and_written(tmp_path: Path) -> None:
    given = b"".join(b"%d\n" % number for number in range(100_000))
    (tmp_path / "in").write_bytes(given)
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        done = ran(SERVER + RUN, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out").read_bytes() == given


def test_dev_null_ends_at_once() -> None:
    done = ran(SERVER + RUN, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=-1)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_without_standard_streams_there_is_no_wire(closed: str) -> None:
    text = f"""{SERVER}
from mcp_runtime.errors import Disconnected
try:
    asyncio.run(main())
except Disconnected:
    sys.exit(7)
"""
    command = ["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, text]
    assert subprocess.run(command, env=ENV, timeout=PATIENCE, check=False).returncode == 7


def test_without_standard_error_stray_output_is_lost() -> None:
    text = f"{SERVER}\ndef hook(wire):\n    print('stray')\n{RUN}"
    command = ["/bin/sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, text]
    done = subprocess.run(
        command, env=ENV, timeout=PATIENCE, check=False, input=b"a call\n", stdout=subprocess.PIPE
    )
    assert (done.returncode, done.stdout) == (0, b"a call\n")


def test_one_socket_for_both_is_a_wire() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE)
        ours.sendall(b"a call\n")
        with subprocess.Popen(
            [sys.executable, "-c", SERVER + RUN], env=ENV, stdin=theirs, stdout=theirs
        ) as process:
            assert ours.recv(100) == b"a call\n"
            ours.shutdown(socket.SHUT_WR)
            assert process.wait(PATIENCE) == 0


def test_a_terminal_is_a_wire_and_keeps_its_flags() -> None:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", SERVER + RUN], env=ENV, stdin=theirs, stdout=theirs
        ) as process:
            os.write(ours, b"a call\n")
            seen = b""
            while seen.count(b"a call") < 2:  # its echo, and the answer
                seen += os.read(ours, 100)
            assert os.get_blocking(theirs)
            os.write(ours, b"\x04")
            assert process.wait(PATIENCE) == 0
        assert os.get_blocking(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_client_that_reads_no_more_ends_the_server_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER + RUN],
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"a call\n")
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


@pytest.mark.real_time
async def test_a_client_that_reads_nothing_cannot_make_the_server_grow() -> None:
    text = f"""{SERVER.replace("own_pipes()", "own_pipes(limits)")}
import resource
from mcp_runtime.limits import Limits
limits = Limits(outgoing_bytes=1_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{RUN}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)
"""

    child = await python(text, limits=Limits(outgoing_bytes=100_000_000))
    child.write(b"x" * 50_000_000)
    await until(lambda: child._outlet.waiting < 49_000_000)
    await until_it_reads_no_more(child)
    taker = Taker(child)
    await taker.until_taken(50_000_000)
    await child.close()
    assert int(child.stderr) < 8_000  # KiB


@pytest.mark.real_time
async def test_a_client_that_takes_nothing_is_given_up_when_the_server_ends() -> None:
    text = f"{SERVER}\ndef hook(wire):\n    wire.write(b'y' * 1_000_000)\n{RUN}"

    child = await python(text)
    child.write(b"a call\n")
    await until(lambda: unread(child) >= 65_536)
    child._outlet.finish()
    await until(
        lambda: os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    )
    await child.close()
    assert child.returncode == 0


def test_a_full_disk_ends_the_server_quietly() -> None:
    text = SERVER.replace("await echo.over.wait()", "await echo.over.wait(); await wire.drain()")
    with open("/dev/full", "wb") as full:
        ours, theirs = os.pipe()
        os.write(theirs, b"a call\n")  # and no end: what cannot be written is what ends it
        try:
            done = ran(text + RUN, stdin=ours, stdout=full, stderr=subprocess.PIPE)
        finally:
            os.close(ours)
            os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_serving_leaves_no_descriptor() -> None:
    text = f"""{SERVER}
async def often():
    await main()
    before = os.listdir("/proc/self/fd")
    for _ in range(20):
        await main()
    assert os.listdir("/proc/self/fd") == before
asyncio.run(often())
"""
    for streams in ({"input": b"a call\n"}, {"stdin": subprocess.DEVNULL}):
        done = ran(text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **streams)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.real_time
async def test_a_receiver_that_fails_does_not_keep_the_wire_from_ending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(Taker):
        def received(self, chunk: bytes) -> None:
            super().received(chunk)
            raise ValueError("a fault of the receiver")

    child = await python("print('a'); import time; time.sleep(0.1); print('b')")
    taker = Failing(child)
    await taker.until_ended()
    await child.close()
    assert taker.taken == b"a\nb\n"
    assert "a fault of the receiver" in caplog.text


@pytest.mark.parametrize("size", [1, 65_536, 10_000_000])
def test_all_that_is_written_before_the_end_arrives(size: int) -> None:
    text = f"{SERVER}\ndef hook(wire):\n    wire.write(b'y' * {size})\n{RUN}"
    done = ran(text, input=b"a call\n", capture_output=True)
    assert done.stdout == b"y" * size + b"a call\n"
