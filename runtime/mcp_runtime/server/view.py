"""Protocol of the server, as the context of a request uses it."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.threads import Threads

__all__ = ["ServerView"]

_Ctx = TypeVar("_Ctx", contravariant=True)
"""The context that handlers of this server take."""


class ServerView(Protocol[_Ctx]):
    """What a request's context reads from the server."""

    limits: Limits
    threads: Threads
    state: Any

    async def read(
        self, uri: str, ctx: _Ctx, /
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """The contents of a resource. Raises RpcError if the server has no such resource."""
        ...
