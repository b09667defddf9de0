"""The token of the HTTP request whose handler is running now."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

if TYPE_CHECKING:
    from mcp_runtime.auth.server.verifier import VerifiedToken

_T = TypeVar("_T")

current_token: Final[ContextVar[VerifiedToken | None]] = ContextVar("current_token", default=None)
"""None where no token was asked for: on standard input and output, or without authorization."""


# ---- requests that go on in another process


def written_token() -> str:
    """Return the content of this request's token, as JSON; empty for none."""
    token = current_token.get()
    return "" if token is None else msgspec.json.encode(token).decode()


def run_with_token(text: str, work: Callable[[], _T]) -> _T:
    """Set the current token from `text`, the result of `written_token()`, and return `work()`."""
    context = copy_context()
    context.run(current_token.set, _read(text) if text else None)
    return context.run(work)


def _read(text: str) -> VerifiedToken:
    from mcp_runtime.auth.server.verifier import VerifiedToken

    return msgspec.json.decode(text, type=VerifiedToken)
