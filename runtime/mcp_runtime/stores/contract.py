"""The tests of the contract of stores, for adapters of other engines too.

    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    def test_my_store(check):
        asyncio.run(check(lambda limits: MyStore("my://engine", limits)))

Each check opens stores on one engine, as several processes would. Session names are new each time,
so checks may run at the same time. A check raises AssertionError if the contract is broken.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from random import Random
from typing import Any, Final, TypeAlias

from mcp_runtime.limits import Limits
from mcp_runtime.stores import Kept, NoSuchEvent, Store, TooManyTasks

OpenStore: TypeAlias = Callable[[Limits], Store]
"""Makes a store on the engine, with these limits. The check enters the store."""
Check: TypeAlias = Callable[[OpenStore], Coroutine[Any, Any, None]]
_Body: TypeAlias = Callable[..., Awaitable[None]]

_SOON: Final = 5.0
"""Seconds within which a message has to arrive."""
_BRIEF: Final = 2.0
"""Seconds until an entry expires: long enough for a few operations on a slow machine."""
_STEPS: Final = 60
"""The number of operations in a random schedule."""

CHECKS: Final[dict[str, Check]] = {}
"""The checks by name; checks which wait for an entry to expire are the last."""


def _check(count: int, **limits: Any) -> Callable[[_Body], _Body]:
    """Add a check to CHECKS; it is called with `count` entered stores with these limits."""

    def add(body: _Body) -> _Body:
        async def check(open: OpenStore) -> None:
            async with AsyncExitStack() as stack:
                stores = [open(Limits(**limits)) for _ in range(count)]
                for store in stores:
                    await stack.enter_async_context(store)
                await body(*stores)

        CHECKS[body.__name__] = check
        return body

    return add


def _name() -> str:
    return secrets.token_urlsafe(16)


# ---- sessions


@_check(2)
async def a_record_is_replaced_by_its_version_alone(one: Store, other: Store) -> None:
    name = _name()
    assert await one.sessions.get(name) is None
    assert await one.sessions.put(name, b"first", 0)
    assert not await other.sessions.put(name, b"again", 0)
    assert await other.sessions.get(name) == Kept(1, b"first")
    assert await other.sessions.put(name, b"second \x00\xff", 1)
    assert not await one.sessions.put(name, b"late", 1)
    assert await one.sessions.get(name) == Kept(2, b"second \x00\xff")


@_check(3)
async def of_many_who_replace_one_version_one_succeeds(*stores: Store) -> None:
    name = _name()
    assert await stores[0].sessions.put(name, b"", 0)
    for version in range(1, 8):
        tries = [store.sessions.put(name, bytes([version]), version) for store in stores]
        assert sorted(await asyncio.gather(*tries)) == [False, False, True]


@_check(2)
async def a_deleted_session_stays_deleted(one: Store, other: Store) -> None:
    for name in (_name(), _name()):
        assert await one.sessions.put(name, b"record", 0)
        await other.sessions.delete(name)
        await one.sessions.delete(name)
        assert await one.sessions.get(name) is None
        assert not await one.sessions.put(name, b"undone", 1)
        assert not await one.sessions.put(name, b"begun anew", 0)
        assert await other.sessions.get(name) is None


# ---- events


@_check(2)
async def events_come_back_in_order_by_stream(one: Store, other: Store) -> None:
    name, strange = _name(), _name()
    for count in range(0, 6, 2):
        for store, stream in ((one, "1"), (other, "2")):
            events = [f"{stream} {count}".encode(), b"\x00\xff"]
            await store.events.append(name, stream, count, events, b"note")
    await other.events.append(strange, "1", 6, [b"of another session"], b"")
    later = [b"\x00\xff", b"1 2", b"\x00\xff", b"1 4", b"\x00\xff"]
    for number in range(6):
        stored = await other.events.after(name, "1", number + 1)
        assert (list(stored.events), stored.note) == (later[number:], b"note")


@_check(2)
async def an_append_that_is_repeated_is_stored_once(one: Store, other: Store) -> None:
    name = _name()
    await one.events.append(name, "1", 0, [b"", b"a"], b"first")
    await one.events.append(name, "1", 0, [b"", b"a", b"a"], b"second")
    await other.events.append(name, "2", 0, [b"", b"x"], b"")
    await other.events.append(name, "1", 2, [b"too late"], b"")
    await other.events.append(name, "1", 1, [b"too late"], b"")
    stored = await other.events.after(name, "1", 1)
    assert (list(stored.events), stored.note) == ([b"a", b"a"], b"second")
    tries = [each.events.append(name, "1", 3, [b"b", b"c"], b"") for each in (one, other) * 4]
    await asyncio.gather(*tries)
    stored = await one.events.after(name, "1", 3)
    assert (list(stored.events), stored.note) == ([b"b", b"c"], b"")


@_check(1)
async def an_event_that_is_not_kept_is_said_to_be_none(store: Store) -> None:
    name, strange = _name(), _name()
    await store.events.append(name, "1", 0, [b"data"], b"note")
    await store.events.append(strange, "2", 0, [b"data", b""], b"note")
    for session, stream, number in (
        (name, "1", 0),
        (name, "1", 2),
        (name, "1", 10**14),
        (name, "x" * 400, 1),
        (strange, "1", 1),
        (_name(), "1", 1),
    ):
        assert await _is_gone(store, session, stream, number), (session, stream, number)
    await store.events.forget(name)
    assert await _is_gone(store, name, "1", 1)
    assert not await _is_gone(store, strange, "2", 1)


async def _is_gone(store: Store, session: str, stream: str, number: int) -> bool:
    try:
        await store.events.after(session, stream, number)
    except NoSuchEvent:
        return True
    return False


@_check(2)
async def the_note_of_a_stream_is_its_last(one: Store, other: Store) -> None:
    name = _name()
    await one.events.append(name, "1", 0, [b""], b"old \x00\xff")
    await other.events.append(name, "2", 0, [b"data"], b"other")
    await one.events.append(name, "1", 1, [b"data"], b"new \x00\xff")
    assert (await other.events.after(name, "1", 1)).note == b"new \x00\xff"
    await other.events.append(name, "1", 2, [b"last"], b"")
    assert (await one.events.after(name, "1", 1)).note == b""
    assert (await one.events.after(name, "2", 1)).note == b"other"


@_check(1, event_bytes=10_000)
async def the_oldest_events_of_a_session_are_given_up_by_bytes(store: Store) -> None:
    name = _name()
    for count in range(0, 50, 2):
        await store.events.append(name, "1", count, [b"x" * 500] * 2, b"note")
    gone = [await _is_gone(store, name, "1", number) for number in range(1, 51)]
    assert 30 <= sum(gone) <= 45, gone
    assert gone == sorted(gone, reverse=True)
    await store.events.append(name, "2", 0, [b"x" * 20_000], b"note")
    assert await _is_gone(store, name, "2", 1)
    await store.events.append(name, "2", 1, [b"x"], b"note")
    assert (await store.events.after(name, "2", 2)).note == b"note"
    for count in range(300):
        await store.events.append(name, "3", count, [b""], b"note")
    assert await _is_gone(store, name, "3", 1)


# ---- tasks


@_check(2)
async def a_task_is_replaced_by_its_version_alone(one: Store, other: Store) -> None:
    owner, task = _name(), _name()
    assert await one.tasks.get(owner, task) is None
    assert await one.tasks.put(owner, task, b"first", 0, 60)
    assert not await other.tasks.put(owner, task, b"again", 0, 60)
    assert await other.tasks.put(owner, task, b"second \x00\xff", 1, 60)
    assert not await one.tasks.put(owner, task, b"late", 1, 60)
    assert await one.tasks.get(owner, task) == Kept(2, b"second \x00\xff")
    tries = [store.tasks.put(owner, task, b"", 2, 60) for store in (one, other)]
    assert sorted(await asyncio.gather(*tries)) == [False, True]


@_check(2)
async def a_task_does_not_exist_for_another_owner(one: Store, other: Store) -> None:
    owner, strange, task = _name(), _name() + ":tasks} \x00\u00e9", _name()
    assert await one.tasks.put(owner, task, b"record", 0, 60)
    assert await other.tasks.get(strange, task) is None
    assert not await other.tasks.put(strange, task, b"", 1, 60)
    assert list(await other.tasks.ids(strange)) == []
    assert await other.tasks.put(strange, task, b"its own", 0, 60)
    assert await one.tasks.get(owner, task) == Kept(1, b"record")
    assert await one.tasks.get(strange, task) == Kept(1, b"its own")


@_check(2, tasks=1)
async def a_task_that_is_kept_for_no_time_makes_room(one: Store, other: Store) -> None:
    owner, first, second = _name(), _name(), _name()
    assert await one.tasks.put(owner, first, b"record", 0, 60)
    assert await _has_no_room(other, owner)
    assert await other.tasks.put(owner, first, b"", 1, 0)
    assert await one.tasks.get(owner, first) is None
    assert await one.tasks.put(owner, second, b"record", 0, 60)
    assert list(await other.tasks.ids(owner)) == [second]


# ---- the bus


@_check(3)
async def a_message_reaches_all_who_are_subscribed_to_its_topic(*stores: Store) -> None:
    topic, received = _name(), [list[bytes]() for _ in stores]
    sent = [b"%d \x00\xff" % number for number in range(100)]
    async with AsyncExitStack() as stack:
        for store, name, messages in zip(stores, (topic, topic, _name()), received, strict=True):
            await stack.enter_async_context(store.bus.subscribed(name, messages.append))
        for message in sent:
            stores[2].bus.publish(topic, message)
        await _until(lambda: min(map(len, received[:2])) >= len(sent))
    assert received == [sent, sent, []]


@_check(1)
async def a_subscription_ends(store: Store) -> None:
    topic, early, late = _name(), list[bytes](), list[bytes]()
    async with store.bus.subscribed(topic, late.append):
        async with store.bus.subscribed(topic, early.append):
            store.bus.publish(topic, b"first")
            await _until(lambda: bool(early and late))
        store.bus.publish(topic, b"second")
        await _until(lambda: len(late) == 2)
    assert early == [b"first"]


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(_SOON):
        while not is_so():
            await asyncio.sleep(0.01)


# ---- random schedules


@_check(3)
async def random_schedules_end_as_in_the_model(*stores: Store) -> None:
    """Run operations of three processes in a random order; a failure names the seed."""
    seed = secrets.randbits(32)
    random, sessions, events = Random(seed), dict[str, Kept | None](), dict[str, list[bytes]]()
    names = [_name() for _ in range(3)]
    for step in range(_STEPS):
        store, name = random.choice(stores), random.choice(names)
        fault = await _step(random, store, name, sessions, events)
        assert not fault, f"seed {seed}, step {step}: {fault}"


async def _step(
    random: Random,
    store: Store,
    name: str,
    sessions: dict[str, Kept | None],
    events: dict[str, list[bytes]],
) -> str:
    """Run one operation on the store and the model; return the difference, empty for none."""
    kept = sessions.get(name, Kept(0, b""))
    match random.randrange(6):
        case 0:
            version, record = random.randrange(4), random.randbytes(4)
            fits = kept is not None and kept.version == version
            if fits:
                sessions[name] = Kept(version + 1, record)
            done = await store.sessions.put(name, record, version)
            return "" if done == fits else f"put {version}: {done}, not {fits}"
        case 1 if random.random() < 0.2:
            sessions[name] = None
            await store.sessions.delete(name)
        case 2:
            stored = events.setdefault(name, [])
            count = random.randrange(len(stored) + 1)  # events from `count` on are repeated
            new = [random.randbytes(4) for _ in range(random.randrange(1, 4))]
            again = [*stored[count:], *new]
            await store.events.append(name, "1", count, again, b"note")
            stored += new
        case 3 if name in events:
            number = random.randrange(len(events[name])) + 1
            later = list((await store.events.after(name, "1", number)).events)
            return "" if later == events[name][number:] else f"after {number}: {later}"
        case _:
            got = await store.sessions.get(name)
            expected = kept if kept is not None and kept.version else None
            return "" if got == expected else f"get: {got}, not {expected}"
    return ""


# ---- expiry


async def _ends(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(_BRIEF + _SOON):
        while await is_so():
            await asyncio.sleep(0.05)


@_check(1, session_idle=_BRIEF)
async def a_session_is_given_up_when_nobody_has_used_it_for_long(store: Store) -> None:
    used, unused = _name(), _name()
    for name in (unused, used):
        assert await store.sessions.put(name, b"record", 0)
    end = asyncio.get_running_loop().time() + _BRIEF
    while asyncio.get_running_loop().time() <= end:
        assert await store.sessions.get(used) == Kept(1, b"record")
        await asyncio.sleep(_BRIEF / 10)
    assert await store.sessions.get(unused) is None


@_check(1)
async def a_task_is_kept_for_its_time(store: Store) -> None:
    owner, brief, renewed, long = _name(), *sorted(_name() for _ in range(3))
    for task, seconds in ((brief, _BRIEF), (renewed, _BRIEF), (long, 60)):
        assert await store.tasks.put(owner, task, b"record", 0, seconds)
    assert await store.tasks.put(owner, renewed, b"more", 1, 60)
    assert list(await store.tasks.ids(owner))[-2:] == [renewed, long]
    await _ends(lambda: store.tasks.get(owner, brief))
    assert await store.tasks.get(owner, renewed) == Kept(2, b"more")
    assert list(await store.tasks.ids(owner)) == [renewed, long]
    assert not await store.tasks.put(owner, brief, b"late", 1, 60)


@_check(2, tasks=2)
async def an_owner_has_no_more_tasks_than_the_limit(one: Store, other: Store) -> None:
    owner, kept = _name(), _name()
    assert await one.tasks.put(owner, kept, b"", 0, 60)
    assert await other.tasks.put(owner, _name(), b"", 0, _BRIEF)
    assert await _has_no_room(one, owner)
    assert len(await one.tasks.ids(owner)) == 2
    assert await one.tasks.put(owner, kept, b"changed", 1, 60)
    assert await one.tasks.put(_name(), _name(), b"of another", 0, 60)
    await _ends(lambda: _has_no_room(one, owner))


async def _has_no_room(store: Store, owner: str) -> bool:
    try:
        await store.tasks.put(owner, _name(), b"", 0, 60)
    except TooManyTasks:
        return True
    return False


@_check(2)
async def a_lease_is_held_until_it_lapses_or_is_released(one: Store, other: Store) -> None:
    brief, renewed, released = _name(), _name(), _name()
    assert not await other.leases.is_held(brief)
    await one.leases.hold(brief, _BRIEF)
    await one.leases.hold(renewed, _BRIEF)
    await one.leases.hold(released, 60)
    assert await other.leases.is_held(brief)
    assert await other.leases.is_held(released)
    await one.leases.hold(renewed, 60)
    await other.leases.release(released)
    assert not await one.leases.is_held(released)
    await _ends(lambda: other.leases.is_held(brief))
    assert await other.leases.is_held(renewed)
    await one.leases.release(renewed)
