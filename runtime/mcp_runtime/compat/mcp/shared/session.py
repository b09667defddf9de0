"""Stand-in for `mcp.shared.session`: the base class of sessions, for annotations alone."""

from __future__ import annotations

from typing import Any, Protocol

from mcp_runtime.compat.generics import Subscriptable


class BaseSession(Subscriptable):
    """The base of both sessions."""


class ProgressFnT(Protocol):
    """Gets the progress, the total and a message."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


RequestResponder = Any
