"""Stores on a server of Redis 7 or Valkey, for processes on many machines.

Each operation is one round trip. All keys of a session expire by themselves. Names of keys begin
with `mcp:`; those of one session share a hash tag, so that a cluster keeps them together.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar, cast

from mcp_runtime.errors import NotInstalled
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import Kept, NoSuchEvent, Stored, StoreUnavailable
from mcp_runtime.stores.queued_bus import Message, QueuedBus

try:
    from redis.asyncio import BlockingConnectionPool, Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError
except ModuleNotFoundError:
    raise NotInstalled("a store on Redis", "redis", "redis") from None

__all__ = ["RedisStore"]

_T = TypeVar("_T")

_CONNECTIONS: Final = 32
"""Connections of one process; a further operation waits for one to be free."""
_EVENT_ID: Final = re.compile(r"[0-9]{1,19}-[0-9]{1,19}")
_DELETED: Final = b"-1"
"""The version of a deleted session."""

_APPEND: Final = """
local id = redis.call('XADD', KEYS[1], '*', 'stream', ARGV[1], 'data', ARGV[2])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
end
local size = redis.call('HINCRBY', KEYS[2], ':size', #ARGV[2] + 128)
while size > tonumber(ARGV[4]) do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 2)
  if #oldest < 2 then break end
  redis.call('XDEL', KEYS[1], oldest[1][1])
  size = redis.call('HINCRBY', KEYS[2], ':size', -(#oldest[1][2][4] + 128))
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return id
"""
"""Adds an event, sets the note of its stream, and deletes the oldest events of the session."""

_PUT: Final = """
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'record', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""
"""Replaces the record of a session if it has a certain version."""


async def _answered(work: Awaitable[_T]) -> _T:
    """Raises StoreUnavailable instead of what the library raises."""
    try:
        return await work
    except (RedisError, OSError, TimeoutError) as error:
        raise StoreUnavailable(f"Redis: {error!r}") from None


def _key(session: str, what: str) -> str:
    return f"mcp:{{{session}}}:{what}"


class RedisEvents:
    """Keeps `Limits.event_bytes` of each session."""

    def __init__(self, client: Redis, limits: Limits) -> None:
        self._client = client
        self._limits = limits
        self._append = client.register_script(_APPEND)

    async def append(self, session: str, stream: str, data: bytes, note: bytes) -> str:
        limits = self._limits
        age = int(limits.session_idle * 1000)
        arguments: list[str | bytes | int] = [stream, data, note, limits.event_bytes, age]
        id: bytes = await _answered(self._append(_keys(session), arguments))
        return id.decode()

    async def after(self, session: str, id: str) -> Stored:
        if not _EVENT_ID.fullmatch(id):
            raise NoSuchEvent(id)
        events, notes = _keys(session)
        pipeline = self._client.pipeline(transaction=True)
        pipeline.xrange(events, min=id)
        pipeline.hgetall(notes)
        rows, kept = await _answered(pipeline.execute())
        if not rows or rows[0][0].decode() != id:
            raise NoSuchEvent(id)
        stream: bytes = rows[0][1][b"stream"]
        later = [(at.decode(), each[b"data"]) for at, each in rows[1:] if each[b"stream"] == stream]
        return Stored(stream.decode(), later, kept.get(stream, b""))

    async def take(self, session: str, stream: str) -> bytes:
        _, notes = _keys(session)
        pipeline = self._client.pipeline(transaction=True)
        pipeline.hget(notes, stream)
        pipeline.hdel(notes, stream)
        note, _ = await _answered(pipeline.execute())
        return note or b""

    async def forget(self, session: str) -> None:
        await _answered(self._client.delete(*_keys(session)))


def _keys(session: str) -> tuple[str, str]:
    """Of the events of a session, and of the notes on its streams."""
    return _key(session, "events"), _key(session, "notes")


class RedisSessions:
    """Keeps each session for `Limits.session_idle` seconds after its last use."""

    def __init__(self, client: Redis, limits: Limits) -> None:
        self._client = client
        self._age: Final = int(limits.session_idle * 1000)
        self._put = client.register_script(_PUT)

    async def put(self, session: str, record: bytes, version: int) -> bool:
        arguments: list[bytes | int] = [version, record, self._age]
        return bool(await _answered(self._put([_key(session, "session")], arguments)))

    async def get(self, session: str) -> Kept | None:
        pipeline = self._client.pipeline(transaction=False)
        pipeline.hmget(_key(session, "session"), "version", "record")
        pipeline.pexpire(_key(session, "session"), self._age)
        (version, record), _ = await _answered(pipeline.execute())
        return None if version in (None, _DELETED) else Kept(int(version), record)

    async def delete(self, session: str) -> None:
        pipeline = self._client.pipeline(transaction=True)
        pipeline.hset(_key(session, "session"), "version", _DELETED)
        pipeline.hdel(_key(session, "session"), "record")
        pipeline.pexpire(_key(session, "session"), self._age)
        await _answered(pipeline.execute())


class RedisLeases:
    """Leases that expire on the server."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def hold(self, name: str, seconds: float) -> None:
        await _answered(self._client.set(f"mcp:lease:{name}", b"", px=int(seconds * 1000)))

    async def is_held(self, name: str) -> bool:
        return bool(await _answered(self._client.exists(f"mcp:lease:{name}")))

    async def release(self, name: str) -> None:
        await _answered(self._client.delete(f"mcp:lease:{name}"))


class RedisBus(QueuedBus):
    """Publishes and subscribes on the server."""

    def __init__(self, client: Redis, limits: Limits) -> None:
        super().__init__(limits)
        self._client: Any = client
        self._listener: Any = self._client.pubsub()
        self._wait: Final = limits.store_wait
        self._heard: dict[str, asyncio.Event] = {}
        """The channels that were subscribed to, and whether the server has confirmed it."""

    async def close(self) -> None:
        await self._listener.aclose()

    async def _send(self, messages: Sequence[Message]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for topic, message in messages:
            pipeline.publish(f"mcp:bus:{topic}", message)
        await _answered(pipeline.execute())

    async def _topics_changed(self) -> None:
        wanted = {f"mcp:bus:{topic}" for topic in self._receivers}
        for channel in wanted - self._heard.keys():
            confirmed = self._heard[channel] = asyncio.Event()
            await _answered(self._subscribe(channel, confirmed))
        for channel in self._heard.keys() - wanted:
            del self._heard[channel]
            await _answered(self._listener.unsubscribe(channel))

    async def _subscribe(self, channel: str, confirmed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._wait):
                await self._listener.subscribe(channel)
                await confirmed.wait()
        except BaseException:
            self._heard.pop(channel, None)
            raise

    async def _receive(self) -> None:
        while not self._listener.subscribed:
            await asyncio.sleep(_IDLE)
        message = await _answered(self._listener.get_message(timeout=None))
        if message is None:
            return
        channel = message["channel"].decode()
        if message["type"] == "message":
            self._deliver(channel.removeprefix("mcp:bus:"), message["data"])
        elif message["type"] == "subscribe" and channel in self._heard:
            self._heard[channel].set()


_IDLE: Final = 0.01
"""Seconds between two looks whether there is a topic to receive."""


class RedisStore:
    """All stores on one server. Raises StoreUnavailable on entry if it does not answer."""

    def __init__(self, url: str, limits: Limits = DEFAULT) -> None:
        wait = limits.store_wait
        pool = cast("Any", BlockingConnectionPool).from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=wait,
            socket_timeout=wait,
            socket_connect_timeout=wait,
            retry=Retry(NoBackoff(), 1),  # at once: a kept connection may have been closed
        )
        self._client = Redis.from_pool(pool)
        self.events: Final = RedisEvents(self._client, limits)
        self.sessions: Final = RedisSessions(self._client, limits)
        self.leases: Final = RedisLeases(self._client)
        self.bus: Final = RedisBus(self._client, limits)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> RedisStore:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._client.aclose)
            stack.push_async_callback(self.bus.close)
            await self.leases.is_held("")  # does it answer?
            await stack.enter_async_context(self.bus.running())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()
