"""Refuses aliases which lead back to themselves, unless through an object or an array.

An alias for exactly all of JSON becomes the primitive `json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_bindgen.errors import LimitExceeded, SchemaMeaningError
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Declaration,
    Map,
    Prim,
    Ref,
    Type,
    Uni,
)
from mcp_bindgen.limits import MAX_DEPTH
from mcp_bindgen.source import Source

__all__ = ["json_aliases", "require_no_circles"]


def require_no_circles(declarations: Sequence[Declaration], source: Source) -> None:
    """Refuse aliases which lead only to one another."""
    aliases = {d.name: d for d in declarations if isinstance(d, Alias)}
    done: set[str] = set()
    for name in aliases:
        _visit(name, aliases, source, [], done)


def _visit(
    name: str, aliases: dict[str, Alias], source: Source, path: list[str], done: set[str]
) -> None:
    if name in done or name not in aliases:
        return
    at = aliases[name].at
    if name in path:
        chain = " → ".join([*path[path.index(name) :], name])
        message = f"an alias is built on itself: {chain}"
        raise source.error(SchemaMeaningError, at, message, "Break the cycle.")
    if len(path) >= MAX_DEPTH:
        message = f"more than {MAX_DEPTH} aliases build on one another"
        raise source.error(LimitExceeded, at, message, "Put an interface between.")
    for inner in _needs(aliases[name].type):
        _visit(inner, aliases, source, [*path, name], done)
    done.add(name)


def _needs(type: Type) -> Iterator[str]:
    """The names to resolve for a value of `type`, except inside its members and items."""
    match type:
        case Ref():
            yield type.name
        case Bounded():
            yield from _needs(type.of)
        case Uni():
            for arm in type.arms:
                yield from _needs(arm)
        case _:
            return


def json_aliases(declarations: Sequence[Declaration]) -> Iterator[Declaration]:
    """The declarations, with each alias for all of JSON replaced by the primitive json."""
    json = _json_names({d.name: d for d in declarations if isinstance(d, Alias)})
    for declaration in declarations:
        if (
            isinstance(declaration, Alias)
            and declaration.name in json
            and isinstance(declaration.type, Uni)
        ):
            declaration = replace(declaration, type=Prim("json"))
        yield declaration


def _json_names(aliases: dict[str, Alias]) -> set[str]:
    """The aliases which accept exactly JSON, its objects or its arrays, if the others do."""
    names = set(aliases)
    while True:
        kept = {name for name in names if _is_json_part(aliases[name].type, names, aliases)}
        if kept == names:
            break
        names = kept
    roots = {n for n in names if isinstance(aliases[n].type, Uni)}
    return names if roots else set()


def _is_json_part(type: Type, json: set[str], aliases: dict[str, Alias]) -> bool:
    """Return whether a type is a map or an array of all JSON, or the union of all kinds of JSON."""
    match type:
        case Map(of=Ref(name=name)) | Arr(of=Ref(name=name)):
            return name in json and isinstance(aliases[name].type, Uni)
        case Uni():
            prims = {arm.name for arm in _plain(type, aliases) if isinstance(arm, Prim)}
            shapes = {
                aliases[arm.name].type.__class__
                for arm in type.arms
                if isinstance(arm, Ref) and arm.name in json and arm.name in aliases
            } | {arm.__class__ for arm in type.arms if _is_json_part_inline(arm, json, aliases)}
            return {"string", "number", "boolean", "null"} <= prims and {Map, Arr} <= shapes
        case _:
            return False


def _is_json_part_inline(type: Type, json: set[str], aliases: dict[str, Alias]) -> bool:
    return isinstance(type, Map | Arr) and _is_json_part(type, json, aliases)


def _plain(type: Uni, aliases: dict[str, Alias]) -> Iterator[Type]:
    """The arms of a union, including those of a named union of primitives."""
    for arm in type.arms:
        inner = aliases[arm.name].type if isinstance(arm, Ref) and arm.name in aliases else arm
        plain = isinstance(inner, Uni) and all(isinstance(each, Prim) for each in inner.arms)
        yield from inner.arms if isinstance(inner, Uni) and plain else (arm,)
