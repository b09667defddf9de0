"""Which headers repeat a message's body: what a client sends, a server compares, a tool asks for.

Source: 2026-07-28 basic/transports/streamable-http, "Request Metadata"; server/tools,
"x-mcp-header".
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec

from mcp_runtime.core import error_codes
from mcp_runtime.core.jsonrpc import Request
from mcp_runtime.errors import RpcError, TooMuch

__all__ = [
    "SAFE",
    "TOKEN",
    "BadParamHeader",
    "ParamHeaders",
    "check_mirrors",
    "decoded",
    "encoded",
    "marks",
    "mirrored",
]

Path: TypeAlias = tuple[str, ...]
ParamHeaders: TypeAlias = Mapping[str, Path]
"""The headers of a tool, without their prefix, each with the path of its argument."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name that a header can have. Source: RFC 9110 5.6.2."""
SAFE: Final = 2**53 - 1
"""Integers up to here are exact everywhere. Source: 2026-07-28 server/tools, "x-mcp-header"."""

_MARK: Final = "x-mcp-header"
_NAMED: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of params that `Mcp-Name` repeats."""
_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_PRIMITIVE: Final = frozenset({"boolean", "integer", "string"})
_PLAIN: Final = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_CODED: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_IN_HEADERS: Final = re.compile(r"[\x20-\x7e\t]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DIGITS: Final = 64
_MAX_SHOWN: Final = 80

# Where a schema has schemas: one, a list of them, or an object of them.
_ONE: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS: Final = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


class BadParamHeader(Exception):
    """An `x-mcp-header` breaks a rule; the text says which, and where."""


def mirrored(request: Request, marked: Mapping[str, ParamHeaders]) -> dict[str, str]:
    """The headers of a request of the per-request era; `marked` has the marks of each tool.

    Raises TooMuch for an integer that not every peer can hold.
    """
    params: dict[str, Any] = msgspec.json.decode(request.params or b"{}")
    headers = {
        "MCP-Protocol-Version": str(params.get("_meta", {}).get(_VERSION, "")),
        "Mcp-Method": encoded(request.method),
    }
    if request.method in _NAMED:
        headers["Mcp-Name"] = encoded(params[_NAMED[request.method]])
    asked: ParamHeaders = marked.get(params["name"], {}) if request.method == "tools/call" else {}
    for name, path in asked.items():
        value = _text(_at(params.get("arguments"), path), path)
        if value is not None:
            headers[f"Mcp-Param-{name}"] = encoded(value)
    return headers


def encoded(value: str) -> str:
    """As a header can hold it: as it is where that is safe, in base64 where it is not."""
    if _PLAIN.fullmatch(value) and not _CODED.fullmatch(value):
        return value
    return f"=?base64?{b64encode(value.encode()).decode()}?="


def _at(value: Any, path: Path) -> Any:
    """None where nothing is there."""
    for name in path:
        value = _object(value).get(name)
    return value


def _text(value: Any, path: Path) -> str | None:
    """None for what no header is made of."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    match value:
        case bool():
            return "true" if value else "false"
        case int() if abs(value) > SAFE:
            raise TooMuch(f"{'.'.join(path)}: {value} is over 2**53 - 1, and goes into a header")
        case int() | str():
            return str(value)
        case _:
            return None


# ---- what a server compares


def check_mirrors(
    headers: Mapping[str, str],
    method: str,
    params: Mapping[str, Any],
    version: str,
    marks: ParamHeaders,
) -> None:
    """Raises RpcError (HeaderMismatch) where a header does not say what the body does.

    `headers` have their names in lower case; `marks` are those of the tool that is called.
    Source: 2026-07-28 basic/transports/streamable-http, "Server Validation".
    """
    _require_equal(headers, "MCP-Protocol-Version", version, coded=False)
    _require_equal(headers, "Mcp-Method", method, coded=False)
    if method in _NAMED:
        _require_equal(headers, "Mcp-Name", params.get(_NAMED[method]), coded=True)
    for name, path in marks.items():
        _require_argument(headers, f"Mcp-Param-{name}", _at(params.get("arguments"), path))


def _require_equal(headers: Mapping[str, str], name: str, told: Any, *, coded: bool) -> None:
    found = headers.get(name.lower())
    if found is None:
        raise _mismatch(f"{name} is missing")
    if not isinstance(told, str):
        return  # the body is at fault, and says so itself
    value = decoded(name, found) if coded else found.strip(" \t")
    if value != told:
        raise _mismatch(f"{name} is {found[:100]!r}, the body says {told[:100]!r}")


def _require_argument(headers: Mapping[str, str], name: str, told: Any) -> None:
    found = headers.get(name.lower())
    if told is None and found is None:
        return
    if found is None:
        raise _mismatch(f"{name} is missing, the body has {_said(told)[:100]!r}")
    value = decoded(name, found)
    if told is None:
        raise _mismatch(f"{name} is {found[:100]!r}, the body has no such argument")
    if value != _said(told) and not _is_number(value, told):
        raise _mismatch(f"{name} is {found[:100]!r}, the body says {_said(told)[:100]!r}")


def decoded(name: str, header: str) -> str:
    """The value that a header holds, which may be in base64. Raises RpcError (HeaderMismatch).

    Source: 2026-07-28 basic/transports/streamable-http, "Value Encoding".
    """
    value = header.strip(" \t")
    if not _IN_HEADERS.fullmatch(value):
        raise _mismatch(f"{name} has characters that no header has")
    match = _CODED.fullmatch(value)
    if match is None:
        return value
    try:
        return b64decode(match[1], validate=True).decode()
    except (Base64Error, ValueError):
        raise _mismatch(f"{name} is no base64 of UTF-8") from None


def _said(value: Any) -> str:
    """Any argument as a header would say it."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_number(text: str, told: Any) -> bool:
    if isinstance(told, bool) or not isinstance(told, int | float):
        return False
    return len(text) <= _DIGITS and bool(_NUMBER.fullmatch(text)) and Decimal(text) == told


def _mismatch(why: str) -> RpcError:
    return RpcError(error_codes.HEADER_MISMATCH, f"Header mismatch: {why}")


# ---- the marks of a tool


def marks(schema: Mapping[str, Any]) -> ParamHeaders:
    """Of a tool's input schema, parsed JSON. Raises BadMark; then the tool is not to be used."""
    found: dict[str, Path] = {}
    for name, path in _found(schema, (), reachable=True):
        if name.lower() in {known.lower() for known in found}:
            raise BadParamHeader(f"{'.'.join(path)}: {_MARK} {name!r} stands there a second time")
        found[name] = path
    return found


def _found(schema: Mapping[str, Any], path: Path, *, reachable: bool) -> Iterator[tuple[str, Path]]:
    if _MARK in schema:
        yield _checked(schema, path, reachable and path != ()), path
    for key, part, inner in _parts(schema):
        below = reachable and key == "properties"
        yield from _found(inner, (*path, *part), reachable=below)


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    """The schemas directly inside a schema: the keyword, what follows in the path, the schema."""
    for key in _ONE:
        yield from _schema(key, (key,), schema.get(key))
    for key in _LISTS:
        for each in _list(schema.get(key)):
            yield from _schema(key, (key,), each)
    for key in _MAPS:
        for name, each in _object(schema.get(key)).items():
            yield from _schema(key, (name,) if key == "properties" else (key, name), each)


def _schema(key: str, part: Path, found: Any) -> Iterator[tuple[str, Path, Mapping[str, Any]]]:
    if inner := _object(found):
        yield key, part, inner


def _checked(schema: Mapping[str, Any], path: Path, reachable: bool) -> str:
    """The mark of a schema. Raises BadMark."""
    name, where = schema[_MARK], ".".join(path) or "the schema itself"
    if not reachable:
        raise BadParamHeader(f"{where}: {_MARK} where no chain of `properties` leads to")
    if not isinstance(name, str) or not TOKEN.fullmatch(name):
        raise BadParamHeader(f"{where}: {_MARK} {repr(name)[:_MAX_SHOWN]} is no name of a header")
    if not _is_primitive(schema.get("type")):
        raise BadParamHeader(f"{where}: {_MARK} on what is no string, integer or boolean")
    return name


def _is_primitive(kind: Any) -> bool:
    """One of the types, or several, or null beside them."""
    kinds = {each for each in [*_list(kind), kind] if isinstance(each, str)} - {"null"}
    return bool(kinds) and kinds <= _PRIMITIVE


def _list(found: Any) -> list[Any]:
    """Empty for what is none; so for objects."""
    return found if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
