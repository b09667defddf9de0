"""The decisions and the reports of an application on the traffic of a bridge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from mcp_runtime.bridge.names import Kind

Position: TypeAlias = Literal["params", "result"]


class Access(NamedTuple):
    """A client's use of one feature: its `kind`, its public `name` or URI, and its server.

    The name of a "method" is that of a request the bridge itself does not know.
    """

    kind: Kind
    name: str
    upstream: str
    principal: str


class Loss(NamedTuple):
    """A part of a message without a form in the other side's revision."""

    path: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One request passed on by a bridge.

    `client` and `server` are the revisions of both sides; `server` is empty if no server was
    reached. `seconds` is the time until its result. `error` is the code of an error, or None.
    """

    method: str
    name: str
    upstream: str
    principal: str
    client: str
    server: str
    seconds: float
    error: int | None
    losses: tuple[Loss, ...]


Allow: TypeAlias = Callable[[Access], bool | Awaitable[bool]]
"""Called for each feature a client lists, calls, reads or watches; False hides it."""
Rewrite: TypeAlias = Callable[[Position, str, Any, str], Any]
"""Called with the position, the method, the model and the upstream server's name; the returned
model goes on in its place."""
Observe: TypeAlias = Callable[[Crossing], object]
"""Called after each request, with its losses."""
