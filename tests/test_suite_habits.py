"""The suite reads its own sources: no test sleeps, measures time, or takes a port of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support.habits import findings

pytestmark = pytest.mark.sources

OTHER_PROGRAMS: Final = "a program of its own, which runs beside real peers"
REAL: Final = "a process is waited for, which the test cannot be told of"
ACCEPTED: Final = {
    "cli/test_run.py": {"sleeps": "a server is stopped in the middle of a call"},
    "adopt/probe.py": {"asyncio.run": OTHER_PROGRAMS},
    "cli/test_sign_in.py": {"asyncio.run": "the command under test runs in this process"},
    "conformance": {"sleeps": OTHER_PROGRAMS, "asyncio.run": OTHER_PROGRAMS},
    "interop": {"sleeps": OTHER_PROGRAMS, "asyncio.run": OTHER_PROGRAMS},
    "laws/test_laws.py": {"asyncio.run": "each example of a random test has a loop"},
    "runtime/auth/test_work_for_strangers.py": {
        "asyncio.run": "a verifier is asked on one event loop after another"
    },
    "runtime/client/test_event_loops.py": {
        "asyncio.run": "a client that is used on several loops, or after one was closed"
    },
    "runtime/server/http/test_mounting.py": {
        "asyncio.run": "an event loop ends, and its tasks with it, before the application does"
    },
    "runtime/shared/test_threads.py": {"asyncio.run": "a forked process has a loop of its own"},
    "scaffold/test_scale.py": {"sleeps": REAL, "asyncio.run": "servers are asked from outside"},
    "support/attacked_server.py": dict.fromkeys(["sleeps", "asyncio.run"], OTHER_PROGRAMS),
    "support/browser.py": {"sleeps": REAL, "asserts a clock": "the deadline of a browser"},
    "support/clock.py": {"sleeps": "virtual time passes by it"},
    "support/json_peers.py": {"sleeps": "on virtual time, and on real time for what may come"},
    "support/pair_scenario.py": {"sleeps": "on virtual time, and between processes"},
    "support/pair_server.py": {"sleeps": "a call that is cancelled"},
    "support/patience.py": {"sleeps": "the one place that looks again and again"},
    "support/schema_server.py": {"sleeps": REAL},
    "support/shared_server.py": {"sleeps": "a server that other processes ask"},
    "support/successor_methods.py": {"asyncio.run": OTHER_PROGRAMS},
    "support/successor_talk.py": {"asyncio.run": OTHER_PROGRAMS},
    "support/virtual_time.py": {"sleeps": "virtual time passes by it"},
    "test_examples.py": {"asyncio.run": "an example is run as its page says"},
    "test_virtual_time.py": {"sleeps": "what both kinds of loops do with a task that soon ends"},
    # Not converted yet.
    "spec/test_meta.py": {"asyncio.run": "not converted yet"},
    "spec/test_transports.py": {"asserts a clock": "not converted yet"},
}
"""A file or a folder below tests/, what it may do, and why."""


def accepted(path: Path) -> dict[str, str]:
    """The habits of a file by the rows for it and the folders around it."""
    places = [path, *path.parents]
    return {
        habit: reason
        for place in places
        for habit, reason in ACCEPTED.get(place.as_posix(), {}).items()
    }


def test_no_test_sleeps_or_measures_time_or_takes_a_port(root: Path) -> None:
    tests = root / "tests"
    faults = [
        f"{path}:{line}: {habit}"
        for path in (each.relative_to(tests) for each in sorted(tests.rglob("*.py")))
        for habit, line in findings((tests / path).read_text("utf-8"))
        if habit not in accepted(path)
    ]
    assert faults == []


def test_every_file_that_is_accepted_needs_it(root: Path) -> None:
    unused = [
        f"{name}: {habit}"
        for name, habits in ACCEPTED.items()
        if name.endswith(".py")
        for habit in habits
        if habit not in dict(findings((root / "tests" / name).read_text("utf-8")))
    ]
    assert unused == []


PLANTED: Final = {
    "async def test_a():\n    await asyncio.sleep(0.01)": ["sleeps"],
    "def test_a():\n    time.sleep(seconds)": ["sleeps"],
    "async def test_a():\n    async def tool():\n        await sleep(1)": ["sleeps"],
    "async def helper():\n    await asyncio.sleep(2)": ["sleeps"],
    "async def test_a():\n    await asyncio.sleep(0)": [],
    "@pytest.mark.real_time\nasync def test_a():\n    await asyncio.sleep(1)": [],
    "pytestmark = pytest.mark.real_time\nasync def test_a():\n    await asyncio.sleep(1)": [],
    "pytestmark = [pytest.mark.a, pytest.mark.real_time]\ndef helper():\n    sleep(1)": [],
    "@pytest.mark.real_time\ndef test_a(): ...\ndef test_b():\n    time.sleep(1)": ["sleeps"],
    "PROGRAM = 'time.sleep(1); asyncio.run(main())'": [],
    "def test_a():\n    assert time.monotonic() < end": ["asserts a clock"],
    "def test_a():\n    began = time.perf_counter()\n    assert f() - began < 1": [
        "asserts a clock"
    ],
    "@pytest.mark.real_time\nasync def test_a():\n"
    "    took = asyncio.get_running_loop().time() - began\n    assert took < 1": [
        "asserts a clock"
    ],
    "@pytest.mark.real_time\nasync def test_a():\n    assert loop.time() > 1": ["asserts a clock"],
    "async def test_a():\n    assert loop.time() == 30": [],
    "async def test_a():\n    began = now()\n    assert now() - began == 30": [],
    "def test_a():\n    assert record.time() == 1": [],
    "def test_a():\n    began = time.process_time()\n    assert time.process_time() < 9": [],
    "async def test_a():\n    await asyncio.start_server(f, '127.0.0.1', 8000)": ["fixed port"],
    "def test_a():\n    socket.create_server(('127.0.0.1', 8000))": ["fixed port"],
    "def test_a():\n    server.run_http(port=8000)": ["fixed port"],
    "def test_a():\n    socket.create_server(('127.0.0.1', 0))": [],
    "def test_a():\n    asyncio.run(main())": ["asyncio.run"],
}


@pytest.mark.parametrize(("text", "habits"), PLANTED.items(), ids=range(len(PLANTED)))
def test_a_habit_is_seen(text: str, habits: list[str]) -> None:
    assert [habit for habit, _ in findings(text)] == habits
