"""Opens a store by its URL.

redis://host:6379/0    a server of Redis 7 or Valkey; rediss:// with TLS
sqlite:///path/file    a file for the processes of one machine
memory:                for servers within one process
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import Store
from mcp_runtime.stores.memory import MemoryStore


def store_at(url: str, limits: Limits = DEFAULT) -> Store:
    """Return a store, to be entered by the caller.

    Raises ValueError for another URL, without its text, as it may have a password. Raises
    NotInstalled for Redis without the extra `redis`.
    """
    scheme = urlsplit(url).scheme
    if scheme not in _KINDS:
        names = ", ".join(sorted(_KINDS))
        why = f"a text with the scheme {scheme!r} is not the URL of a store"
        raise ValueError(f"{why}; its scheme is one of {names}")
    return _KINDS[scheme](url, limits)


def _redis(url: str, limits: Limits) -> Store:
    from mcp_runtime.stores.redis import RedisStore

    return RedisStore(url, limits)


def _sqlite(url: str, limits: Limits) -> Store:
    from mcp_runtime.stores.sqlite import SQLiteStore

    _, _, path = url.partition("://")
    if not path.startswith("/") or path == "/" or "?" in path:
        raise ValueError(f"{url!r} names no file; write sqlite:///name or sqlite:////folder/name")
    return SQLiteStore(path[1:], limits)


def _memory(url: str, limits: Limits) -> Store:
    return MemoryStore(limits)


_KINDS: Final = {"memory": _memory, "redis": _redis, "rediss": _redis, "sqlite": _sqlite}
