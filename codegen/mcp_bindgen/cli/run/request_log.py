"""One line on standard error for each request that a server answers over HTTP."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp_bindgen.cli.show import safe, warn

if TYPE_CHECKING:
    from mcp_runtime.shared.calls import Call

_CHARACTERS: Final = 80
_NAMED: Final = frozenset({"tools/call", "prompts/get"})
"""Methods whose target has a name. Arguments and URIs may hold secrets, and are not shown."""


def log_requests(server: Any) -> None:
    """Write a line for each request that the server answers, if it has hooks."""
    if hasattr(server, "on_call"):
        server.on_call(_log)


@contextmanager
def _log(call: Call) -> Generator[None]:
    began = time.monotonic()
    yield
    if call.direction == "received":
        name = str(call.params.get("name", "")) if call.method in _NAMED else ""
        what = safe(f"{call.method} {name}".strip()[:_CHARACTERS])
        warn(f"{what}: {_outcome(call)}, {(time.monotonic() - began) * 1000:.0f} ms")


def _outcome(call: Call) -> str:
    """Return "ok", or the kind of the failure without its text, which may hold secrets."""
    if call.error is not None:
        code = getattr(call.error, "code", None)
        return f"error {code}" if isinstance(code, int) else type(call.error).__name__
    return "tool error" if getattr(call.result, "is_error", None) is True else "ok"
