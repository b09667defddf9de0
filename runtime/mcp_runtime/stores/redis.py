"""Stores on a server of Redis 7 or Valkey, for processes on many machines.

Each operation is one command; simultaneous commands share a round trip. All keys of a session
expire by themselves. Keys begin with `mcp:`; the keys of one session share a hash tag, so a cluster
keeps them together.

The events of a session are a hash and a list, not a Redis stream with MAXLEN: a stream limits the
number of entries, and a session is limited in bytes. In the hash an event's key is its number, so
it is read in one step, and stored once even if it is appended twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack
from functools import cache
from hashlib import sha1
from math import ceil
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlsplit

from mcp_runtime.errors import NotInstalled
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import (
    DELETED,
    EVENT_OVERHEAD,
    Kept,
    NoSuchEvent,
    Stored,
    StoreUnavailable,
    TooManyTasks,
    kept,
)
from mcp_runtime.stores.batches import Batches
from mcp_runtime.stores.queued_bus import Message, QueuedBus

try:
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import NoScriptError, RedisError
except ModuleNotFoundError:
    raise NotInstalled("a store on Redis", "redis", "redis") from None

_T = TypeVar("_T")

_DIGITS: Final = 15
"""Versions have fewer digits."""
_DATABASE: Final = re.compile(r"/?[0-9]*")
"""The path of a URL: the number of a database."""

_APPEND: Final = f"""
local stream, added = ARGV[1] .. '.', 0
for at = 6, #ARGV do
  local event = stream .. (ARGV[2] + at - 5)
  if redis.call('HSETNX', KEYS[1], event, ARGV[at]) == 1 then
    redis.call('RPUSH', KEYS[2], event)
    added = added + #ARGV[at] + {EVENT_OVERHEAD}
  end
end
if added == 0 then return end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], stream)
else
  redis.call('HSET', KEYS[1], stream, ARGV[3])
end
local size = redis.call('HINCRBY', KEYS[1], 'size', added)
if size == added then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
while size > tonumber(ARGV[4]) and redis.call('LLEN', KEYS[2]) > 0 do
  local oldest = redis.call('LPOP', KEYS[2])
  local freed = redis.call('HSTRLEN', KEYS[1], oldest) + {EVENT_OVERHEAD}
  redis.call('HDEL', KEYS[1], oldest)
  size = redis.call('HINCRBY', KEYS[1], 'size', -freed)
end
"""
"""Add new events, set the note of their stream, delete the session's oldest events.

The first event sets the expiry of the keys; each use of the session extends it (`_GET`)."""

_AFTER: Final = """
local stream, later = ARGV[1] .. '.', {}
if redis.call('HEXISTS', KEYS[1], stream .. ARGV[2]) == 0 then return false end
while true do
  local data = redis.call('HGET', KEYS[1], stream .. (ARGV[2] + #later + 1))
  if not data then return {later, redis.call('HGET', KEYS[1], stream) or ''} end
  later[#later + 1] = data
end
"""
"""Return the events of a stream after an event, and the stream's note."""

_PUT: Final = """
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'record', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""
"""Replace the record of a session if it has a given version."""

_GET: Final = """
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return redis.call('HMGET', KEYS[1], 'version', 'record')
"""

_DELETE: Final = f"""
redis.call('HSET', KEYS[1], 'version', '{DELETED}', 'record', '')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
"""


_PUT_TASK: Final = """
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if version == '0' and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then return -1 end
redis.call('HSET', KEYS[1], 'version', ARGV[2] + 1, 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], string.format('%d', now + ARGV[4]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[2], last[2])
return 1
"""
"""Replace the record of a task if it has a given version, within the limit of its owner's tasks."""


class _Server:
    """A client of the server, which sends many commands at a time.

    Raises StoreUnavailable if the server cannot answer.
    """

    def __init__(self, client: Redis, limits: Limits) -> None:
        self.client: Final[Any] = client
        self._batches = Batches(self._send, limits.store_wait)

    async def run(self, *command: str | bytes | int) -> Any:
        """Run one command and return its result."""
        return await self._batches.run(command)

    async def script(self, text: str, keys: Sequence[str], *arguments: str | bytes | int) -> Any:
        """Run a script and return its result; after the first time it is sent as its digest."""
        try:
            return await self.run("EVALSHA", _digest(text), len(keys), *keys, *arguments)
        except NoScriptError:
            return await self.run("EVAL", text, len(keys), *keys, *arguments)

    async def _send(self, commands: Sequence[Sequence[Any]]) -> Sequence[Any]:
        pipeline = self.client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        results = await _answer_of(pipeline.execute(raise_on_error=False))
        return [_result(each) for each in results]


@cache
def _digest(script: str) -> str:
    return sha1(script.encode(), usedforsecurity=False).hexdigest()


def _result(answer: Any) -> Any:
    if isinstance(answer, RedisError) and not isinstance(answer, NoScriptError):
        return _unavailable(answer)
    return answer


async def _answer_of(work: Awaitable[_T]) -> _T:
    """Await `work`; raise StoreUnavailable in place of the library's errors."""
    try:
        return await work
    except (RedisError, OSError, TimeoutError) as error:
        raise _unavailable(error) from None


def _unavailable(error: Exception) -> StoreUnavailable:
    """Wrap an error of the library. If its `str` is empty, its `repr` at least names the class."""
    return StoreUnavailable(f"Redis: {str(error) or repr(error)}")


class RedisEvents:
    """An event store with `Limits.event_bytes` for each session."""

    def __init__(self, server: _Server, limits: Limits) -> None:
        self._server = server
        self._size: Final = limits.event_bytes
        self._age: Final = int(limits.session_idle * 1000)

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        limits = self._size, self._age
        await self._server.script(_APPEND, _keys(session), stream, count, note, *limits, *events)

    async def after(self, session: str, stream: str, number: int) -> Stored:
        if (kept := await self._server.script(_AFTER, _keys(session), stream, number)) is None:
            raise NoSuchEvent(stream, number)
        return Stored(*kept)

    async def forget(self, session: str) -> None:
        await self._server.run("DEL", *_keys(session))


def _keys(session: str) -> tuple[str, str]:
    """Return the keys of a session's events and notes, and of the order of its events."""
    return f"mcp:{{{session}}}:events", f"mcp:{{{session}}}:order"


class RedisSessions:
    """A store of sessions, each for `Limits.session_idle` seconds after its last use."""

    def __init__(self, server: _Server, limits: Limits) -> None:
        self._server = server
        self._age: Final = int(limits.session_idle * 1000)

    async def put(self, session: str, record: bytes, version: int) -> bool:
        keys = (_session_key(session),)
        return bool(await self._server.script(_PUT, keys, version, record, self._age))

    async def get(self, session: str) -> Kept | None:
        keys = (_session_key(session), *_keys(session))
        version, record = await self._server.script(_GET, keys, self._age)
        return _read_kept(version, record)

    async def delete(self, session: str) -> None:
        await self._server.script(_DELETE, (_session_key(session),), self._age)


def _read_kept(version: bytes | None, record: object) -> Kept | None:
    is_number = version is not None and version.isdigit() and len(version) < _DIGITS
    return kept(int(version or 0), record) if is_number else None


def _session_key(session: str) -> str:
    return f"mcp:{{{session}}}:session"


class RedisTasks:
    """A store for `Limits.tasks` tasks of each owner."""

    def __init__(self, server: _Server, limits: Limits) -> None:
        self._server = server
        self._most: Final = limits.tasks

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        keys, age = (_task_key(owner, task), _tasks_key(owner)), ceil(max(0, seconds) * 1000)
        arguments = task, version, record, age, self._most
        done = await self._server.script(_PUT_TASK, keys, *arguments)
        if done < 0:
            raise TooManyTasks(owner)
        return bool(done)

    async def get(self, owner: str, task: str) -> Kept | None:
        key = _task_key(owner, task)
        version, record = await self._server.run("HMGET", key, "version", "record")
        return _read_kept(version, record)

    async def ids(self, owner: str) -> list[str]:
        seconds, micros = await self._server.run("TIME")
        now = int(seconds) * 1000 + int(micros) // 1000
        kept = await self._server.run("ZRANGEBYSCORE", _tasks_key(owner), f"({now}", "+inf")
        return sorted(id.decode() for id in kept)


def _task_key(owner: str, task: str) -> str:
    return f"{_tasks_key(owner)}:{task}"


def _tasks_key(owner: str) -> str:
    """Return the key of the ids of an owner's tasks; all keys of an owner share a hash tag."""
    return f"mcp:{{{sha1(owner.encode(), usedforsecurity=False).hexdigest()}}}:tasks"


class RedisLeases:
    """Leases, which expire on the server."""

    def __init__(self, server: _Server) -> None:
        self._server = server

    async def hold(self, name: str, seconds: float) -> None:
        await self._server.run("SET", f"mcp:lease:{name}", b"", "PX", int(seconds * 1000))

    async def is_held(self, name: str) -> bool:
        return bool(await self._server.run("EXISTS", f"mcp:lease:{name}"))

    async def release(self, name: str) -> None:
        await self._server.run("DEL", f"mcp:lease:{name}")


class RedisBus(QueuedBus):
    """A bus on the server. Channels span all databases, so a channel's name has the database."""

    def __init__(self, server: _Server, limits: Limits) -> None:
        super().__init__(limits)
        self._server = server
        self._listener: Any = server.client.pubsub()
        database = server.client.connection_pool.connection_kwargs.get("db") or 0
        self._prefix: Final = f"mcp:{database}:bus:"
        self._wait: Final = limits.store_wait
        self._heard: dict[str, asyncio.Event] = {}
        """The subscribed channels, each with an event set once the server confirms it."""

    async def close(self) -> None:
        await self._listener.aclose()

    async def _send(self, messages: Sequence[Message]) -> None:
        sent = (self._server.run("PUBLISH", self._prefix + topic, data) for topic, data in messages)
        await asyncio.gather(*sent)

    async def _adapt_to_topics(self) -> None:
        wanted = {self._prefix + topic for topic in self._receivers}
        for channel in wanted - self._heard.keys():
            confirmed = self._heard[channel] = asyncio.Event()
            await _answer_of(self._subscribe(channel, confirmed))
        for channel in self._heard.keys() - wanted:
            del self._heard[channel]
            await _answer_of(self._listener.unsubscribe(channel))

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
        message = await _answer_of(self._listener.get_message(timeout=None))
        if message is None:
            return
        channel = message["channel"].decode()
        if message["type"] == "message":
            self._deliver(channel.removeprefix(self._prefix), message["data"])
        elif message["type"] == "subscribe" and channel in self._heard:
            self._heard[channel].set()


_IDLE: Final = 0.01
"""Seconds between two checks for a topic to receive."""


def _client(url: str, wait: float) -> Redis:
    """Make a client. Raises ValueError without the URL, as it may have a password."""
    try:
        if not _DATABASE.fullmatch(urlsplit(url).path):
            raise ValueError
        client: Any = cast("Any", Redis).from_url(
            url,
            socket_timeout=wait,
            socket_connect_timeout=wait,
            retry=Retry(NoBackoff(), 1),  # at once: the server may have closed a pooled connection
        )
        client.connection_pool.make_connection()  # raises for unknown options in the URL
    except (ValueError, TypeError, RedisError):
        why = "the URL of the store is not redis://USER:PASSWORD@HOST:PORT/NUMBER"
        raise ValueError(f"{why}; write special characters of the password as %XX") from None
    return cast("Redis", client)


class RedisStore:
    """All stores on one server. Entering raises StoreUnavailable if the server does not answer."""

    def __init__(self, url: str, limits: Limits = DEFAULT) -> None:
        """Raise ValueError for an invalid URL."""
        self._server = _Server(_client(url, limits.store_wait), limits)
        self.events: Final = RedisEvents(self._server, limits)
        self.sessions: Final = RedisSessions(self._server, limits)
        self.tasks: Final = RedisTasks(self._server, limits)
        self.leases: Final = RedisLeases(self._server)
        self.bus: Final = RedisBus(self._server, limits)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> RedisStore:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._server.client.aclose)
            stack.push_async_callback(self.bus.close)
            await self.leases.is_held("")  # any command shows if the server answers
            await stack.enter_async_context(self.bus.running())
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()
