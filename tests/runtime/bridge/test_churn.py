"""Clients come and go, servers die, the bridge ends: nothing of them stays."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from bench.bridge_churn import Processes, Servers, Wires, left, life
from tests.support.virtual_time import elapse

SEEDS: Final = range(20261129, 20261132)


@pytest.fixture(autouse=True)
def _alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of others is counted: no files, and no records of the log."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    caplog.set_level("CRITICAL", "mcp_runtime")


async def come_and_go(
    servers: Servers, calls: int, settle: Callable[[], Awaitable[object]] | None = None
) -> list[int]:
    """Check what stays of each life of a bridge, and return the number of objects after each.

    The first life makes all that is made once.
    """
    held, others = list[dict[str, int]](), len(asyncio.all_tasks()) - 1
    for seed in SEEDS:
        ends = await life(servers, calls, seed)
        assert ends["answered"], f"seed {seed}: {ends}"
        if settle is not None:
            await settle()
        held.append(await left(servers))
    objects = [each.pop("objects") for each in held]
    assert held == [held[0]] * len(held)
    assert (held[0]["servers"], held[0]["tasks"], held[0]["files"]) == (0, others, 0)
    return objects


@pytest.mark.wide
async def test_nothing_stays_of_clients_that_leave_and_servers_that_are_cut_off() -> None:
    objects = await come_and_go(Wires(), 60, partial(elapse, 60))  # all timers are over
    grown = min(after - before for before, after in pairwise(objects))  # a leak is in each life
    assert grown < 60


@pytest.mark.long
@pytest.mark.real_time
async def test_no_process_stays_of_servers_that_are_killed() -> None:
    await come_and_go(Processes(), 10)
