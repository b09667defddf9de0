"""Finds by rule which declarations are methods, their directions and their results: facts.

A message is an interface, an intersection, a braced type or an instance of a generic one whose
`method` member is one string, or a union of strings: one method each. It is in one of the unions of
messages, or has the name or the members of a message; other declarations with such a member are
data. Its direction follows from the unions which list it, its result from names; decisions answer
the rest later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_bindgen.ir.resolve.equality import distinct
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import syntax

__all__ = ["Pair", "bystanders", "message_shape", "pairs"]

_DIRECTIONS: Final = {
    "client-to-server": ("ClientRequest", "ClientNotification"),
    "server-to-client": ("ServerRequest", "ServerNotification"),
}
"""The unions of the requests and notifications of each direction."""

_RESULTS: Final = {"client-to-server": "ServerResult", "server-to-client": "ClientResult"}
_INPUTS: Final = "InputRequest"
_UNIONS: Final = (
    *(union for unions in _DIRECTIONS.values() for union in unions),
    *_RESULTS.values(),
    _INPUTS,
)

_FRAME: Final = frozenset({"params", "jsonrpc", "id", "payload"})
"""Members of messages alone: of what `method` stands beside, none of them is in plain data."""

_Listed: TypeAlias = Mapping[str, frozenset[str]]
"""The names in each of `_UNIONS`."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A message type with its method, direction, params and, for requests, result.

    `direction` is client-to-server, server-to-client, both, input-request (carried inside an
    `InputRequiredResult`) or none. `params` and `result` are resolved types; `response` is the
    declaration whose member `result` is the result, if any; `assumed`: no declaration pairs the
    result with the request.
    """

    type: str
    method: str
    kind: str
    direction: str
    params: syntax.Type | None
    params_optional: bool
    result: syntax.Type | None
    response: str = ""
    assumed: bool = False


def pairs(resolver: Resolver) -> list[Pair]:
    """Every method of the module, in source order.

    Raises SchemaMeaningError if two messages have one method, and no union says which it is.
    """
    return _pairs(resolver)[0]


def bystanders(resolver: Resolver) -> list[Pair]:
    """Declarations that name a method without being its message: data, and types like a message."""
    return _pairs(resolver)[1]


def _pairs(resolver: Resolver) -> tuple[list[Pair], list[Pair]]:
    """The methods, and the declarations which look like a message and are none."""
    listed = {union: frozenset(_names_in(resolver, union)) for union in _UNIONS}
    rows: list[Pair] = []
    others: list[Pair] = []
    for key, declaration in resolver.declared.items():
        shape = None if key in resolver.foreign else _shape(resolver, declaration)
        if shape is None and key not in resolver.foreign:
            _require_named(resolver, declaration)
        if shape is not None:
            names = _names(resolver, shape)
            made = [_pair(resolver, listed, declaration, shape, name) for name in names]
            (rows if _is_message(listed, declaration, shape) else others).extend(made)
    by_method: dict[str, list[Pair]] = {}
    for row in rows:
        by_method.setdefault(row.method, []).append(row)
    kept = [row for row in rows if _is_the_message(resolver, row, by_method[row.method])]
    return kept, [*others, *(row for row in rows if row not in kept)]


def _is_message(listed: _Listed, declaration: syntax.Declaration, shape: syntax.Inline) -> bool:
    """Return whether a declaration with a method is a message by a union, its name or its members.

    A response that names the method of its request is none.
    """
    name = declaration.name
    if any(name in names for names in listed.values()):
        return True
    if name.endswith("Response"):
        return False
    members = {member.name for member in shape.members}
    return name.endswith(("Request", "Notification")) or not members.isdisjoint(_FRAME)


def _is_the_message(resolver: Resolver, row: Pair, same: Sequence[Pair]) -> bool:
    """Return whether `row` is the message of its method among those with the same method: the only
    one, or the only one in a union.
    """
    listed = [each for each in same if each.direction != "none"]
    if len(same) == 1 or listed == [row]:
        return True
    if len(listed) == 1:
        return False
    first, second, *_ = sorted(listed or same, key=lambda each: resolver.declared[each.type].at)
    place = resolver.source.place(resolver.declared[first.type].at)
    raise resolver.error(
        resolver.declared[second.type].at,
        f"`{second.type}` is a second message of the method {row.method!r}; "
        f"`{first.type}` at {place} is one too",
        "List one of the two in ClientRequest, ServerRequest or a union like them, or give one "
        "another method.",
    )


def _names_in(resolver: Resolver, union: str) -> Iterator[str]:
    """The names in a union alias, nested unions included; empty if the alias is missing."""
    alias = resolver.declared.get(union)
    queue = [alias.type] if isinstance(alias, syntax.Alias) else []
    seen: set[str] = set()
    while queue:
        arm = queue.pop()
        if isinstance(arm, syntax.Union):
            queue += arm.of
        elif isinstance(arm, syntax.Ref) and arm.name not in seen:
            seen.add(arm.name)
            yield arm.name
            named = resolver.declared.get(arm.name)
            queue += [named.type] if isinstance(named, syntax.Alias) else []


def message_shape(resolver: Resolver, declaration: syntax.Declaration) -> syntax.Inline | None:
    """The members of a message declaration; None for others, and for aliases of a message."""
    shape = _shape(resolver, declaration)
    return shape if shape is not None and _names(resolver, shape) else None


def _shape(resolver: Resolver, declaration: syntax.Declaration) -> syntax.Inline | None:
    if not isinstance(declaration, syntax.Interface | syntax.Alias) or declaration.params:
        return None
    if isinstance(declaration, syntax.Alias):
        written = declaration.type
        if isinstance(written, syntax.Union) or (
            isinstance(written, syntax.Ref) and not written.args
        ):
            return None
        opened = resolver.open_name(syntax.Ref(declaration.name, (), declaration.at))
        if isinstance(opened, syntax.Ref) and isinstance(written, syntax.Indexed):
            return None
        return resolver.object_shape(resolver.bare(opened))
    return resolver.shape(syntax.Ref(declaration.name, (), declaration.at), declaration.at)


def _require_named(resolver: Resolver, declaration: syntax.Declaration) -> None:
    """Raise SchemaMeaningError for a union with an unnamed message in it: methods are named after
    declarations, and must not vanish.
    """
    if not isinstance(declaration, syntax.Alias) or declaration.params:
        return
    ref = syntax.Ref(declaration.name, (), declaration.at)
    bare = resolver.bare(ref)
    for arm in bare.of if isinstance(bare, syntax.Union) else ():
        if isinstance(arm, syntax.Inline) and _names(resolver, arm):
            raise resolver.error(
                arm.at,
                f"`{declaration.name}` has a message in it that has no name",
                "Declare each message as an interface, and name these in the union.",
            )


def _names(resolver: Resolver, shape: syntax.Inline) -> list[str]:
    """The methods of a message; empty if any string is allowed."""
    method = next((m.type for m in shape.members if m.name == "method"), None)
    arms = [] if method is None else [resolver.bare(arm) for arm in resolver.arms(method)]
    names = [arm.value for arm in arms if isinstance(arm, syntax.Literal)]
    texts = [name for name in names if isinstance(name, str)]
    return texts if len(texts) == len(arms) else []


def _pair(
    resolver: Resolver,
    listed: _Listed,
    declaration: syntax.Declaration,
    shape: syntax.Inline,
    method: str,
) -> Pair:
    name = declaration.name
    ways = [
        way for way, unions in _DIRECTIONS.items() if any(name in listed[union] for union in unions)
    ]
    inside = name in listed[_INPUTS]
    direction = (
        "both" if len(ways) == 2 else ways[0] if ways else "input-request" if inside else "none"
    )
    kind = "notification" if _is_notification(listed, name) else "request"
    params = _params(shape)
    response = f"{name.removesuffix('Request')}ResultResponse"
    if kind != "request" or response not in resolver.declared:
        response = ""
    result = _result(resolver, name, declaration.at) if kind == "request" else None
    empty = _empty(listed, ways, declaration.at) if kind == "request" else None
    return Pair(
        type=name,
        method=method,
        kind=kind,
        direction=direction,
        params=params.type if params else None,
        params_optional=bool(params and params.optional),
        result=result or empty,
        response=response,
        assumed=kind == "request" and result is None,
    )


def _params(shape: syntax.Inline) -> syntax.Member | None:
    """The params of a message; its `payload`, where `metadata` stands apart from it."""
    members = {member.name: member for member in shape.members}
    return members.get("params") or (members.get("payload") if "metadata" in members else None)


def _is_notification(listed: _Listed, name: str) -> bool:
    if name.endswith(("Notification", "Request")):
        return name.endswith("Notification")
    return any(name in listed[notifications] for _, notifications in _DIRECTIONS.values())


def _result(resolver: Resolver, name: str, at: int) -> syntax.Type | None:
    """The type of `result` in XResultResponse, else XResult, for the message XRequest."""
    stem = name.removesuffix("Request")
    response = f"{stem}ResultResponse"
    if response in resolver.declared:
        return _answer(resolver, resolver.declared[response])
    return syntax.Ref(f"{stem}Result", (), at) if f"{stem}Result" in resolver.declared else None


def _answer(resolver: Resolver, response: syntax.Declaration) -> syntax.Type:
    """The type of `result` in a response, which may be a union of several, errors among them."""
    ref = syntax.Ref(response.name, (), response.at)
    shapes = [resolver.shape(arm, response.at) for arm in resolver.arms(ref)]
    results = [m.type for shape in shapes for m in shape.members if m.name == "result"]
    if not results:
        payloads = (m for shape in shapes for m in shape.members if m.name == "payload")
        results = [member.type for member in payloads]
    if not results:
        raise resolver.error(
            response.at,
            f"`{response.name}` has no member `result`, so nothing answers its request",
            "Give it one, or another name.",
        )
    return resolver.union_of(distinct(results), response.at)


def _empty(listed: _Listed, ways: list[str], at: int) -> syntax.Type | None:
    """A reference to `EmptyResult` if the declared results of one of the directions include it;
    else None.
    """
    if any("EmptyResult" in listed[_RESULTS[way]] for way in ways):
        return syntax.Ref("EmptyResult", (), at)
    return None
