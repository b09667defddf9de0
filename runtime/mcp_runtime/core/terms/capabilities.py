"""Capabilities as dotted paths, and the paths needed by a request.

Capabilities are the parsed JSON declared by a peer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_runtime.errors import NotOffered
from mcp_runtime.revisions import HANDLERS, UNSET, first_name, latest, revision


def declares(capabilities: Mapping[str, Any], path: str) -> bool:
    """True if `path` is empty, or is declared and not false.

    `elicitation: {}` declares `elicitation.form` alone.
    Source: 2025-11-25 client/elicitation, "Capabilities".
    """
    value: Any = capabilities
    for name in path.split(".") if path else ():
        if path == "elicitation.form" and name == "form" and _is_empty(value):
            return True
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value is not None and value is not False


def _is_empty(value: Any) -> bool:
    """True for an object without members, or with null members only."""
    if not isinstance(value, dict):
        return False
    return all(each is None for each in cast("dict[str, object]", value).values())


def needed(method: str, capability: str, params: Mapping[str, Any]) -> Iterator[str]:
    """Yield the capabilities needed by a request to a client, for its method and its params.

    `params` is parsed JSON.
    Source: 2026-07-28 client/elicitation and client/sampling, "Capabilities".
    """
    yield capability
    method = first_name(method)
    if method == "elicitation/create":
        yield "elicitation.url" if params.get("mode") == "url" else "elicitation.form"
    uses_tools = any(params.get(name) is not None for name in ("tools", "toolChoice"))
    if method == "sampling/createMessage" and uses_tools:
        yield "sampling.tools"


def capability_of(method: str) -> str:
    """Return the capability which a request to a client needs, in the handlers' revision.

    It is the first part of the method's name if that revision does not have the method.
    """
    known = revision(HANDLERS).methods.get(first_name(method))
    return method.partition("/")[0] if known is None else known.capability


def require_client(method: str, capability: str, params: Any, declared: Mapping[str, Any]) -> None:
    """Raise NotOffered if a request to a client needs a capability missing in `declared`."""
    body: Mapping[str, Any] = {} if params is UNSET else latest.to_wire(params)
    for path in needed(method, capability, body):
        if not declares(declared, path):
            raise NotOffered(method, path, "client")
