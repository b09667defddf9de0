"""Two wires in one process are each other's peer."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime.limits import Limits
from mcp_runtime.transports.memory import pair
from tests.support.patience import until
from tests.support.virtual_time import elapse
from tests.support.wires import Taker


async def test_bytes_arrive_in_order_in_a_later_turn_of_the_loop() -> None:
    one, other = pair()
    takers = Taker(one), Taker(other)
    for number in range(10):
        one.write(b"%d" % number)
        other.write(b"%d" % (9 - number))
    assert [bytes(taker.taken) for taker in takers] == [b"", b""]
    await asyncio.sleep(0)
    assert [bytes(taker.taken) for taker in takers] == [b"9876543210", b"0123456789"]


async def test_what_is_written_before_the_peer_starts_waits_for_it() -> None:
    one, other = pair()
    one.write(b"early")
    await one.close()
    taker = Taker(other)
    await taker.until_ended()
    assert taker.taken == b"early"


@pytest.mark.parametrize("closer", [0, 1])
async def test_either_side_ends_both_and_what_was_written_still_arrives(closer: int) -> None:
    sides = pair()
    takers = [Taker(side) for side in sides]
    sides[closer].write(b"last words")
    await sides[closer].close()
    await sides[closer].close()
    await sides[1 - closer].close()
    for side in sides:
        side.write(b"too late")
        await side.drain()
    await elapse(0.01)
    assert [len(taker.ends) for taker in takers] == [1, 1]
    assert takers[1 - closer].taken == b"last words"
    assert takers[closer].taken == b""


async def test_drain_waits_while_as_much_as_the_limit_waits() -> None:
    one, other = pair(Limits(outgoing_bytes=10))
    one.write(b"x" * 9)
    await asyncio.wait_for(one.drain(), 1)
    one.write(b"x")
    waiting = asyncio.create_task(one.drain())
    await elapse(0.01)
    assert not waiting.done()
    taker = Taker(other)
    await asyncio.wait_for(waiting, 1)
    assert len(taker.taken) == 10


async def test_drain_returns_when_the_peer_is_gone() -> None:
    one, other = pair(Limits(outgoing_bytes=1))
    one.write(b"x")
    waiting = asyncio.create_task(one.drain())
    await other.close()
    await until(waiting.done)
