"""Who gets the next place in a server's threads, however many of whose functions hang or wait."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime.shared.places import Places, Room


class Waiting:
    """Functions that enter rooms; `inside` are those that have a place, by name, in order."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def enter(self, room: Room, name: str, count: int = 1) -> list[asyncio.Task[None]]:
        async def entered() -> None:
            await room.enter()
            self.inside.append(name)

        tasks = [asyncio.create_task(entered()) for _ in range(count)]
        self.tasks += tasks
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return tasks

    async def leave(self, room: Room, name: str) -> None:
        self.inside.remove(name)
        room.leave()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()


async def test_a_peer_has_its_first_place_whatever_others_have() -> None:
    places, waiting = Places(8), Waiting()
    for number in range(5):
        await waiting.enter(Room(places, 8), "ab cde"[number], 9)
    assert sorted(waiting.inside) == sorted("aaaaaaa" + "b cd")
    waiting.end()


async def test_places_that_become_free_go_to_the_peers_that_wait_in_turn() -> None:
    places, waiting = Places(4), Waiting()
    large, *small = (Room(places, 9) for _ in range(3))
    await waiting.enter(large, "l", 9)
    for room, name in zip(small, "ab", strict=True):
        await waiting.enter(room, name, 3)
    assert waiting.inside == [*"llllab"]
    for _ in range(3):
        await waiting.leave(large, "l")
    assert waiting.inside == [*"lablab"]
    waiting.end()


async def test_a_peer_that_leaves_its_last_place_gets_one_again_at_once() -> None:
    places, waiting = Places(4), Waiting()
    large, small = Room(places, 9), Room(places, 9)
    await waiting.enter(large, "l", 9)
    await waiting.enter(small, "s", 3)
    for _ in range(2):
        await waiting.leave(small, "s")
        assert waiting.inside.count("s") == 1
    waiting.end()


async def test_sessions_have_their_part_of_the_places_of_their_peer_in_turn() -> None:
    places, waiting = Places(64), Waiting()
    peer = Room(places, 4)
    rooms = [peer.within(3), peer.within(3)]
    for room, name in zip(rooms, "ab", strict=True):
        await waiting.enter(room, name, 5)
    assert waiting.inside == [*"aaab"]
    await waiting.leave(rooms[1], "b")
    assert waiting.inside == [*"aaab"]
    for _ in range(2):
        await waiting.leave(rooms[0], "a")
    assert sorted(waiting.inside) == [*"aabb"]
    assert peer.count == 4
    waiting.end()


@pytest.mark.parametrize("when", ["waits", "has just got it"])
async def test_a_place_is_not_lost_with_a_caller_that_was_cancelled(when: str) -> None:
    places, waiting = Places(64), Waiting()
    room = Room(places, 1)
    await waiting.enter(room, "a")
    (cancelled,) = await waiting.enter(room, "b")
    await waiting.enter(room, "c")
    if when == "waits":
        cancelled.cancel()
    waiting.inside.remove("a")
    room.leave()
    cancelled.cancel()
    await asyncio.wait([cancelled])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert waiting.inside == ["c"]
    await waiting.leave(room, "c")
    assert (room.count, room.waits, places.free) == (0, False, 48)
    waiting.end()
