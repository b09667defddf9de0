"""Finds the `x-mcp-header` annotations in a tool's input schema.

Source: 2026-07-28 server/tools, "x-mcp-header".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from mcp_runtime.core.http.header_checks import TOKEN, ParamHeaders, Path
from mcp_runtime.json_schema.walk import Schema, parts

_KEYWORD: Final = "x-mcp-header"
_PRIMITIVES: Final = frozenset({"boolean", "integer", "string"})
_MAX_SHOWN: Final = 80


class BadParamHeader(Exception):
    """An `x-mcp-header` breaks a rule; the text names the rule and the place."""


def param_headers(schema: Schema) -> ParamHeaders:
    """Return the headers wanted by a tool.

    Raises BadParamHeader; then the tool must not be called.
    """
    headers: dict[str, Path] = {}
    for name, path in _annotations(schema, (), reachable=True):
        if name.lower() in {known.lower() for known in headers}:
            raise BadParamHeader(f"{'.'.join(path)}: {_KEYWORD} {name!r} is there a second time")
        headers[name] = path
    return headers


def _annotations(schema: Schema, path: Path, *, reachable: bool) -> Iterator[tuple[str, Path]]:
    if _KEYWORD in schema:
        yield _check_name(schema, path, reachable and path != ()), path
    for keyword, key, part in parts(schema):
        within = () if keyword == "properties" else (keyword,)
        name = (key,) if isinstance(key, str) else ()
        below = reachable and keyword == "properties"
        if isinstance(part, dict):
            inner = cast("Schema", part)
            yield from _annotations(inner, (*path, *within, *name), reachable=below)


def _check_name(schema: Schema, path: Path, reachable: bool) -> str:
    """Return the name in an annotation. Raises BadParamHeader."""
    name, where = schema[_KEYWORD], ".".join(path) or "the schema itself"
    if not reachable:
        raise BadParamHeader(f"{where}: {_KEYWORD} is allowed below `properties` alone")
    if not isinstance(name, str) or not TOKEN.fullmatch(name):
        raise BadParamHeader(f"{where}: {_KEYWORD} {repr(name)[:_MAX_SHOWN]} is not a header name")
    if not _is_primitive(schema.get("type")):
        raise BadParamHeader(f"{where}: {_KEYWORD} needs the type string, integer or boolean")
    return name


def _is_primitive(type: Any) -> bool:
    """True if `type` names only primitives, or null beside them."""
    named: list[Any] = [*type] if isinstance(type, list) else [type]
    kinds = {each for each in named if isinstance(each, str)} - {"null"}
    return bool(kinds) and kinds <= _PRIMITIVES
