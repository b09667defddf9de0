"""`Peer`: what the context of a request may ask of its connection, as a `typing.Protocol`."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.pending import Timeout
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.rules import Rules, Switch
from mcp_runtime.shared.places import Room


class Peer(Protocol):
    """Sends messages and requests to one client; `ServerConnection` documents the methods."""

    loop: AbstractEventLoop
    principal: str
    """The user or service the client acts for; empty for nobody."""
    is_anonymous: bool
    """True if it is one of several clients, and did not authenticate."""
    roots: list[t.Root] | None
    """The client's roots, while the client promises to report changes and has reported none."""
    root_changes: int
    """How often the client has reported changed roots."""

    @property
    def rules(self) -> Rules:
        """The rules of this session for its features."""
        ...

    @property
    def thread_room(self) -> Room: ...
    async def log(self, called: Called, level: str, data: Any, logger: str | None, /) -> None: ...
    def log_at_once(self, called: Called, level: str, data: Any, logger: str | None, /) -> bool: ...
    async def report(
        self, called: Called, progress: float, total: float | None, message: str | None, /
    ) -> None: ...
    async def notify(self, method: str, params: Any, /) -> None: ...
    async def notify_about(self, called: Called, method: str, params: Any, /) -> None: ...
    async def request(
        self, method: str, params: Any, /, *, timeout: Timeout, about: Id | None
    ) -> Any: ...
    async def switch(self, switch: Switch, /) -> None: ...
    def forgives(self, name: str, /) -> bool: ...
    def forgive(self, name: str, what: str, /) -> None: ...
    def spawn(self, work: Coroutine[Any, Any, object], /) -> None: ...
    def on_end(self, callback: Callable[[], object], /) -> None: ...
    def interrupt(self, id: Id, retry: int, /) -> None: ...
