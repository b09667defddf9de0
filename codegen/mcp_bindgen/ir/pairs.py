"""Which declarations are methods, which way they travel, and what answers them: facts, by rule.

A message is an interface, an intersection, a braced type or an instance of a generic one whose
`method` member is one string, or a union of them: a method for each. Its direction follows from the
message unions that list it, its result from names; what no rule finds is a row of decisions, later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp_bindgen.ir.resolve import Resolver
from mcp_bindgen.source import syntax

__all__ = ["DIRECTIONS", "Pair", "message_shape", "pairs", "union_names"]

DIRECTIONS: Final = {
    "client-to-server": ("ClientRequest", "ClientNotification"),
    "server-to-client": ("ServerRequest", "ServerNotification"),
}
_RESULTS: Final = {"client-to-server": "ServerResult", "server-to-client": "ClientResult"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A message type with its method, direction, params and, for requests, result.

    `direction` is client-to-server, server-to-client, both, input-request (carried inside an
    `InputRequiredResult`) or none. `params` and `result` are resolved types; `assumed` says that
    no declaration pairs the result with the request.
    """

    type: str
    method: str
    kind: str
    direction: str
    params: syntax.Type | None
    params_optional: bool
    result: syntax.Type | None
    assumed: bool = False


def union_names(resolver: Resolver, name: str) -> list[str]:
    """The names that a union alias lists, nested unions opened; empty without that alias."""
    if name not in resolver.unions:
        resolver.unions[name] = _union_names(resolver, name)
    return resolver.unions[name]


def _union_names(resolver: Resolver, name: str) -> list[str]:
    alias = resolver.declared.get(name)
    if not isinstance(alias, syntax.Alias):
        return []
    names: list[str] = []
    queue = [alias.type]
    while queue:
        arm = queue.pop(0)
        if isinstance(arm, syntax.Union):
            queue[:0] = arm.of
        elif isinstance(arm, syntax.Ref):
            names.append(arm.name)
    return names


def pairs(resolver: Resolver) -> list[Pair]:
    """Every method of the module, in source order."""
    rows: list[Pair] = []
    for key, declaration in resolver.declared.items():
        shape = None if key in resolver.foreign else _shape(resolver, declaration)
        if shape is not None:
            rows += [_pair(resolver, declaration, shape, name) for name in _names(resolver, shape)]
    return rows


def message_shape(resolver: Resolver, declaration: syntax.Declaration) -> syntax.Inline | None:
    """The members of a declaration that is a message; another name of one is none."""
    shape = _shape(resolver, declaration)
    return shape if shape is not None and _names(resolver, shape) else None


def _shape(resolver: Resolver, declaration: syntax.Declaration) -> syntax.Inline | None:
    if not isinstance(declaration, syntax.Interface | syntax.Alias) or declaration.params:
        return None
    if isinstance(declaration, syntax.Alias):
        written = declaration.type
        is_new = isinstance(written, syntax.Intersection | syntax.Inline)
        if not is_new and not (isinstance(written, syntax.Ref) and written.args):
            return None
        opened = resolver.opened(syntax.Ref(declaration.name, (), declaration.at))
        return resolver.object_shape(resolver.bare(opened))
    return resolver.shape(syntax.Ref(declaration.name, (), declaration.at), declaration.at)


def _names(resolver: Resolver, shape: syntax.Inline) -> list[str]:
    """The methods that a message may be of; none where any string will do."""
    method = next((m.type for m in shape.members if m.name == "method"), None)
    arms = [] if method is None else [resolver.bare(arm) for arm in resolver.arms(method)]
    names = [arm.value for arm in arms if isinstance(arm, syntax.Literal)]
    texts = [name for name in names if isinstance(name, str)]
    return texts if len(texts) == len(arms) else []


def _pair(
    resolver: Resolver, declaration: syntax.Declaration, shape: syntax.Inline, method: str
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
    kind = "notification" if _is_notification(resolver, name) else "request"
    params = next((m for m in shape.members if m.name == "params"), None)
    result = _result(resolver, name, declaration.at) if kind == "request" else None
    empty = _empty(resolver, ways, declaration.at) if kind == "request" else None
    return Pair(
        type=name,
        method=method,
        kind=kind,
        direction=direction,
        params=params.type if params else None,
        params_optional=bool(params and params.optional),
        result=result or empty,
        assumed=kind == "request" and result is None,
    )


def _is_notification(resolver: Resolver, name: str) -> bool:
    if name.endswith(("Notification", "Request")):
        return name.endswith("Notification")
    return any(name in union_names(resolver, unions[1]) for unions in DIRECTIONS.values())


def _result(resolver: Resolver, name: str, at: int) -> syntax.Type | None:
    """`result` of XResultResponse, else XResult."""
    stem = name.removesuffix("Request")
    response = f"{stem}ResultResponse"
    if response in resolver.declared:
        shape = resolver.shape(syntax.Ref(response, (), at), at)
        return next((m.type for m in shape.members if m.name == "result"), None)
    return syntax.Ref(f"{stem}Result", (), at) if f"{stem}Result" in resolver.declared else None


def _empty(resolver: Resolver, ways: list[str], at: int) -> syntax.Type | None:
    """EmptyResult, if the other side may send it."""
    if any("EmptyResult" in union_names(resolver, _RESULTS[way]) for way in ways):
        return syntax.Ref("EmptyResult", (), at)
    return None
