"""Capabilities as dotted paths, and which of them a request needs.

Capabilities are parsed JSON, as a peer has declared them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_runtime.errors import NotOffered
from mcp_runtime.revisions import UNSET, latest


def declares(capabilities: Mapping[str, Any], path: str) -> bool:
    """Whether `path` is declared, and not false; the empty path always is.

    `elicitation: {}` stands for forms alone.
    Source: 2025-11-25 client/elicitation, "Capabilities".
    """
    value: Any = capabilities
    for name in path.split(".") if path else ():
        if path == "elicitation.form" and name == "form" and _is_empty(value):
            return True
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value is not None and value is not False


def _is_empty(value: Any) -> bool:
    """Whether an object has no members, or none that is not null."""
    if not isinstance(value, dict):
        return False
    return all(each is None for each in cast("dict[str, object]", value).values())


def needed(method: str, capability: str, params: Mapping[str, Any]) -> Iterator[str]:
    """The capabilities that a request to a client needs, for its method and for its params.

    `params` is parsed JSON.
    Source: 2026-07-28 client/elicitation and client/sampling, "Capabilities".
    """
    yield capability
    if method == "elicitation/create":
        yield "elicitation.url" if params.get("mode") == "url" else "elicitation.form"
    uses_tools = any(params.get(name) is not None for name in ("tools", "toolChoice"))
    if method == "sampling/createMessage" and uses_tools:
        yield "sampling.tools"


def require_client(method: str, capability: str, params: Any, declared: Mapping[str, Any]) -> None:
    """Raises NotOffered if a client that has declared this lacks what a request to it needs."""
    body: Mapping[str, Any] = {} if params is UNSET else latest.to_wire(params)
    for path in needed(method, capability, body):
        if not declares(declared, path):
            raise NotOffered(method, path, "client")
