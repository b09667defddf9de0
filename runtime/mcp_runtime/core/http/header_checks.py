"""HTTP headers with members of the body: a client writes them, a server compares them.

Source: 2026-07-28 basic/transports/streamable-http, "Request Metadata".
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

import msgspec

from mcp_runtime.core.wire import error_codes, peek
from mcp_runtime.core.wire.jsonrpc import Request
from mcp_runtime.errors import RpcError, TooMuch
from mcp_runtime.revisions import first_name

Path: TypeAlias = tuple[str, ...]
ParamHeaders: TypeAlias = Mapping[str, Path]
"""The headers of a tool, without their prefix, each with the path of its argument."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A valid name of a header. Source: RFC 9110 5.6.2."""
SAFE: Final = 2**53 - 1
"""The largest integer exact in every language. Source: 2026-07-28 server/tools, "x-mcp-header"."""

_NAMED: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""The member of params repeated by `Mcp-Name`."""
_PLAIN: Final = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_CODED: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_IN_HEADERS: Final = re.compile(r"[\x20-\x7e\t]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DIGITS: Final = 64
_decode: Final = msgspec.json.decode


def request_headers(
    request: Request,
    of_tools: Mapping[str, ParamHeaders],
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the headers of a request of the per-request era.

    `of_tools` has the headers wanted by each tool, and `names`, for methods of extensions, the
    member of params repeated by `Mcp-Name`. Raises TooMuch for an integer above 2**53 - 1, which
    not every peer can hold.
    """
    params = peek.request_params(request.params or b"{}")
    headers = {
        "MCP-Protocol-Version": str(params.meta.protocol_version or ""),
        "Mcp-Method": encode_header(request.method),
    }
    method = first_name(request.method)
    name = getattr(params, _NAMED[method]) if method in _NAMED else _member_of(request, names)
    if isinstance(name, str):  # the server refuses a request whose name is anything else
        headers["Mcp-Name"] = encode_header(name)
    if method == "tools/call" and isinstance(name, str) and (asked := of_tools.get(name)):
        arguments = _decode(params.arguments)
        for header, path in asked.items():
            value = _text(_at(arguments, path), path)
            if value is not None:
                headers[f"Mcp-Param-{header}"] = encode_header(value)
    return headers


def encode_header(value: str) -> str:
    """Return a value as a header: plain if it is safe, else in base64."""
    if _PLAIN.fullmatch(value) and not _CODED.fullmatch(value):
        return value
    return f"=?base64?{b64encode(value.encode()).decode()}?="


def _at(value: Any, path: Path) -> Any:
    """Return the value at a path; None if it is absent."""
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _text(value: Any, path: Path) -> str | None:
    """Return a value as text; None for values without a header, such as objects."""
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


# ---- comparison by a server


def check_headers(
    headers: Mapping[str, str],
    method: str,
    params: peek.RequestParams,
    version: str,
    of_tool: Callable[[object], ParamHeaders],
) -> None:
    """Raise RpcError (HeaderMismatch) if a header differs from the body.

    `headers` have names in lower case; `of_tool` returns the headers wanted by a tool.
    Source: 2026-07-28 basic/transports/streamable-http, "Server Validation".
    """
    if headers.get("mcp-protocol-version") != version:
        _require_equal(headers, "MCP-Protocol-Version", version, coded=False)
    if headers.get("mcp-method") != method:
        _require_equal(headers, "Mcp-Method", method, coded=False)
    method = first_name(method)
    if method in _NAMED:
        said, header = getattr(params, _NAMED[method]), headers.get("mcp-name")
        if header is None or header != said or not (header.isascii() and header.isidentifier()):
            _require_equal(headers, "Mcp-Name", said, coded=True)
    if method == "tools/call" and (asked := of_tool(params.name)):
        check_arguments(headers, asked, _decode(params.arguments))


def check_arguments(headers: Mapping[str, str], asked: ParamHeaders, arguments: object) -> None:
    """Raise RpcError (HeaderMismatch) if a header of a tool differs from its argument.

    `headers` have names in lower case; `arguments` are parsed JSON.
    """
    for name, path in asked.items():
        _require_argument(headers, f"Mcp-Param-{name}", _at(arguments, path))


def check_name(headers: Mapping[str, str], request: Request, names: Mapping[str, str]) -> None:
    """Raise RpcError (HeaderMismatch) if `Mcp-Name` breaks the rule of an extension."""
    if request.method in names:
        _require_equal(headers, "Mcp-Name", _member_of(request, names), coded=True)


def _member_of(request: Request, names: Mapping[str, str]) -> Any:
    """Return the member of an extension's params for `Mcp-Name`; None if the method has none."""
    member = names.get(request.method)
    return None if member is None else _at(_decode(request.params or b"{}"), (member,))


def _require_equal(headers: Mapping[str, str], name: str, said: Any, *, coded: bool) -> None:
    header = headers.get(name.lower())
    if header is None:
        raise _mismatch(f"{name} is missing")
    if not isinstance(said, str):
        return  # the body is at fault, and is refused for that
    value = decode_header(name, header) if coded else header.strip(" \t")
    if value != said:
        raise _mismatch(f"{name} is {header[:100]!r}, the body says {said[:100]!r}")


def _require_argument(headers: Mapping[str, str], name: str, argument: Any) -> None:
    header = headers.get(name.lower())
    if argument is None and header is None:
        return
    if header is None:
        raise _mismatch(f"{name} is missing, the body has {_as_text(argument)[:100]!r}")
    value = decode_header(name, header)
    if argument is None:
        raise _mismatch(f"{name} is {header[:100]!r}, the body has no such argument")
    if value != _as_text(argument) and not _is_number(value, argument):
        raise _mismatch(f"{name} is {header[:100]!r}, the body says {_as_text(argument)[:100]!r}")


def decode_header(name: str, header: str) -> str:
    """Return the value of a header, decoded if it is base64. Raises RpcError (HeaderMismatch).

    Source: 2026-07-28 basic/transports/streamable-http, "Value Encoding".
    """
    value = header.strip(" \t")
    if not _IN_HEADERS.fullmatch(value):
        raise _mismatch(f"{name} has characters that a header cannot have")
    match = _CODED.fullmatch(value)
    if match is None:
        return value
    try:
        value = b64decode(match[1], validate=True).decode()
    except (Base64Error, ValueError):
        raise _mismatch(f"{name} is not base64 of UTF-8") from None
    if b64encode(value.encode()).decode() != match[1]:
        raise _mismatch(f"{name} is not in canonical base64")
    return value


def _as_text(value: Any) -> str:
    """Return any argument in the form of a header."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _is_number(text: str, number: Any) -> bool:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return len(text) <= _DIGITS and bool(_NUMBER.fullmatch(text)) and Decimal(text) == number


def _mismatch(why: str) -> RpcError:
    return RpcError(error_codes.HEADER_MISMATCH, f"Header mismatch: {why}")
