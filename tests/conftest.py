"""What every test shares: the places, hypothesis' profiles, and the law that a skip is not a pass.

With `--strict-skips`, or `CI=true` in the environment, a run fails if a test was skipped for any
reason that does not name `../shared`, or if no test ran at all.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, settings

from tests.support import portable, seeds, wide

if TYPE_CHECKING:
    from tests.support.loopback import Loopback
    from tests.support.redis_server import RedisServer

ROOT: Final = Path(__file__).resolve().parents[1]
EXCUSE: Final = "../shared"
DEBUGS: Final = "MCP_TEST_ASYNCIO_DEBUG"
"""Stands for PYTHONASYNCIODEBUG, which children inherit: theirs says on standard error how long a
step took, where a test reads what a server has said.
"""
_UNTIMED: Final = settings(
    deadline=None, print_blob=True, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)
"""A busy machine is slow; that is no fault of an example."""
PROFILES: Final = {
    "bounded": settings(_UNTIMED, max_examples=40),
    "wide": settings(_UNTIMED, max_examples=100),
    "long": settings(_UNTIMED, max_examples=5_000),
}


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}


for _name, _profile in PROFILES.items():
    settings.register_profile(_name, _profile)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "bounded")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `../shared`, with messages of the protocol's pages. Skips without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"{EXCUSE} is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def loopback() -> Iterator[Loopback]:
    """An HTTP server for the tests of a process."""
    from tests.support.loopback import Loopback

    with Loopback() as served:
        yield served


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """A Redis server for the tests of a module. Skips where the program is not installed."""
    from tests.support.redis_server import PROGRAM, redis_server

    if PROGRAM is None:
        pytest.skip("redis-server is not installed")
    with redis_server() as server:
        yield server


@pytest.fixture(
    params=["sqlite", pytest.param("redis", marks=[pytest.mark.wide, pytest.mark.real_time])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that processes share: each kind in its turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: RedisServer = request.getfixturevalue("redis")
    return server.url


@pytest.fixture(autouse=True)
def _unknown_servers() -> None:
    """No test knows what a server of another test spoke."""
    if (memory := sys.modules.get("mcp_runtime.client.server_memory")) is not None:
        memory.OF_PROCESS.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test may be a coroutine: it runs on virtual time, or, marked `real_time`, on real time."""
    if not _is_async(pyfuncitem.obj) or pyfuncitem.get_closest_marker("anyio"):
        return None
    from tests.support.async_tests import run_item

    return run_item(pyfuncitem)


def _is_async(test: Any) -> bool:
    given = getattr(test, "hypothesis", None)
    return inspect.iscoroutinefunction(test if given is None else given.inner_test)


class Skips:
    """Counts what ran and keeps what was skipped; registered where the reports come together."""

    def __init__(self) -> None:
        self.ran = 0
        self.unexcused: list[str] = []

    @property
    def problems(self) -> list[str]:
        return self.unexcused if self.ran else [*self.unexcused, "no test ran"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._skipped(report)
        elif report.when == "call":
            self.ran += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._skipped(report)

    def _skipped(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        where = report.longrepr
        reason = where[2] if isinstance(where, tuple) else str(where)
        if EXCUSE not in reason:
            self.unexcused.append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.problems and session.exitstatus in {
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        }:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.problems:
            terminalreporter.section("a skip is not a pass", red=True)
            for problem in self.problems:
                terminalreporter.line(problem)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--strict-skips",
        action="store_true",
        default=in_ci(),
        help=f"fail if a test is skipped and its reason does not name {EXCUSE} (default: if CI)",
    )
    parser.addoption("--seed", default="", help=f"draw by this seed, or by a {seeds.NEW!r} one")
    parser.addoption("--part", type=wide.part, help="run a part of the cases, as 2/3")
    parser.addoption("--at-most", type=int, help="draw this many cases, from every file in turn")


def _choose_seed(config: pytest.Config) -> None:
    """Choose the seed of the run, unless this is a worker: it inherits that of its run.

    Hypothesis reads its option later.
    """
    seed = seeds.choose("" if hasattr(config, "workerinput") else config.option.seed)
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(zlib.crc32(seed.encode()))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    _choose_seed(config)
    if os.environ.pop("PYTHONASYNCIODEBUG", ""):
        os.environ[DEBUGS] = "1"
    gathers = not hasattr(config, "workerinput")
    if gathers and config.getoption("strict_skips") and not config.option.collectonly:
        config.pluginmanager.register(Skips(), "strict-skips")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Mark the items before `-m` chooses among them; `--part` and `--at-most` cut its choice."""
    portable.mark(items, ROOT / "tests")
    wide.mark_what_waits(items)
    yield
    kept = items
    if part := config.getoption("part"):
        kept = items[part]
    if most := config.getoption("at_most"):
        kept = wide.draw_at_most(kept, most)
    config.hook.pytest_deselected(items=[*{*items}.difference(kept)])
    items[:] = kept


def pytest_collection_finish() -> None:
    """Nothing that was imported will ever be garbage: a collection need not look at it again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.line(f"all that was drawn by chance follows from --seed {seeds.choose()}")


def pytest_report_header() -> str:
    profile = settings.get_current_profile_name()
    return f"hypothesis: profile {profile}, drawn by --seed {seeds.choose()}"
