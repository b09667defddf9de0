"""Which declarations are methods, which way they travel, and what answers them: facts, by rule.

A method is an interface whose `method` member is one string. Its direction follows from the message
unions that list it, its result from names; what rules cannot find is a row of decisions, later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp_bindgen.ir.resolve import Resolver
from mcp_bindgen.source import syntax

__all__ = ["DIRECTIONS", "Pair", "pairs", "union_names"]

DIRECTIONS: Final = {
    "client-to-server": ("ClientRequest", "ClientNotification"),
    "server-to-client": ("ServerRequest", "ServerNotification"),
}
_RESULTS: Final = {"client-to-server": "ServerResult", "server-to-client": "ClientResult"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A message type with its method, direction, params and, for requests, result.

    `direction` is client-to-server, server-to-client, both, input-request (carried inside an
    `InputRequiredResult`) or none. `params` and `result` are resolved types.
    """

    type: str
    method: str
    kind: str
    direction: str
    params: syntax.Type | None
    params_optional: bool
    result: syntax.Type | None


def union_names(resolver: Resolver, name: str) -> list[str]:
    """The names that a union alias lists, nested unions opened; empty without that alias."""
    found = resolver.declared.get(name)
    if not isinstance(found, syntax.Alias):
        return []
    names: list[str] = []
    queue = [found.type]
    while queue:
        arm = queue.pop(0)
        if isinstance(arm, syntax.Union):
            queue[:0] = arm.of
        elif isinstance(arm, syntax.Ref):
            names.append(arm.name)
    return names


def pairs(resolver: Resolver) -> list[Pair]:
    """Every method of the module, in source order."""
    found: list[Pair] = []
    for declaration in resolver.declared.values():
        if isinstance(declaration, syntax.Interface) and not declaration.params:
            shape = resolver.shape(syntax.Ref(declaration.name, (), declaration.at), declaration.at)
            method = next((m.type for m in shape.members if m.name == "method"), None)
            if isinstance(method, syntax.Literal) and isinstance(method.value, str):
                found.append(_pair(resolver, declaration, shape, method.value))
    return found


def _pair(
    resolver: Resolver, declaration: syntax.Interface, shape: syntax.Inline, method: str
) -> Pair:
    name = declaration.name
    ways = [
        way
        for way, unions in DIRECTIONS.items()
        if any(name in union_names(resolver, union) for union in unions)
    ]
    inside = name in union_names(resolver, "InputRequest")
    direction = (
        "both" if len(ways) == 2 else ways[0] if ways else "input-request" if inside else "none"
    )
    kind = "notification" if name.endswith("Notification") else "request"
    params = next((m for m in shape.members if m.name == "params"), None)
    return Pair(
        type=name,
        method=method,
        kind=kind,
        direction=direction,
        params=params.type if params else None,
        params_optional=bool(params and params.optional),
        result=_result(resolver, name, ways, declaration.at) if kind == "request" else None,
    )


def _result(resolver: Resolver, name: str, ways: list[str], at: int) -> syntax.Type | None:
    """`result` of XResultResponse, else XResult, else EmptyResult if the other side may send it."""
    stem = name.removesuffix("Request")
    response = f"{stem}ResultResponse"
    if response in resolver.declared:
        shape = resolver.shape(syntax.Ref(response, (), at), at)
        return next((m.type for m in shape.members if m.name == "result"), None)
    if f"{stem}Result" in resolver.declared:
        return syntax.Ref(f"{stem}Result", (), at)
    if any("EmptyResult" in union_names(resolver, _RESULTS[way]) for way in ways):
        return syntax.Ref("EmptyResult", (), at)
    return None
