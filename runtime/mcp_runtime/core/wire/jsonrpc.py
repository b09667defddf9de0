"""JSON-RPC: parses bytes to messages in one pass, and writes messages to bytes.

Params and results stay JSON; the decoder of their method reads them later. A text without a valid
message becomes a `Malformed`, with the id where it is readable.

Source: all revisions, basic/index, "Messages".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_runtime.core.wire.error_codes import INVALID_REQUEST, PARSE_ERROR

Id: TypeAlias = str | int
"""The id of a request. Source: 2025-11-25 basic/index, "Requests"."""


class Request(Struct, frozen=True, gc=False):
    """A request; `params` is JSON, empty if there are none."""

    id: Id
    method: str
    params: bytes = b""


class Notification(Struct, frozen=True, gc=False):
    method: str
    params: bytes = b""


class Response(Struct, frozen=True, gc=False):
    """A response with a result."""

    id: Id
    result: bytes


class ErrorResponse(Struct, frozen=True, gc=False):
    """A response with an error; `id` is None if the peer could not read our id."""

    id: Id | None
    code: int
    message: str
    data: bytes = b""


class Malformed(Struct, frozen=True, gc=False):
    """An invalid message and its error. If `is_response`, it is not answered."""

    id: Id | None
    code: int
    message: str
    is_response: bool = False


Single: TypeAlias = Request | Notification | Response | ErrorResponse | Malformed


class Batch(Struct, frozen=True, gc=False):
    """Several messages in one array. Source: 2025-03-26 basic/index, "Batching"."""

    frames: tuple[Single, ...]


Frame: TypeAlias = Single | Batch


class _Error(Struct, frozen=True):
    code: int
    message: str
    data: Raw = Raw()


class _Wire(Struct, frozen=True, gc=False):
    """The members of any message, in the order in which we write them."""

    jsonrpc: str | UnsetType = UNSET
    id: Id | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Shape(Struct, frozen=True):
    """The readable members of a malformed message."""

    id: Raw = Raw()
    method: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_wire: Final = msgspec.json.Decoder(_Wire)
_error: Final = msgspec.json.Decoder(_Error)
_shape: Final = msgspec.json.Decoder(_Shape)
_id: Final[msgspec.json.Decoder[Id]] = msgspec.json.Decoder(Id)
_array: Final = msgspec.json.Decoder(list[Raw])
_any: Final = msgspec.json.Decoder(Raw)
_dump: Final = msgspec.json.Encoder().encode

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of decoding a text which is not JSON of the expected shape."""
_MAX_DIGITS: Final = 4300
_REFUSED: Final = 1024
"""The number of error responses to a batch above the limit; further messages get none."""
# `_FIRST`, one long member and `_LAST` together match a message of the usual form. Possessive
# quantifiers (`*+`, `++`) keep the matching linear in the length of a hostile text.
_PLAIN: Final = len('{"jsonrpc":"2.0","id":,"method":"","params":}')
_PLAIN_RESPONSE: Final = len('{"jsonrpc":"2.0","id":,"result":}')
_SHORT: Final = rb'\s*"(?:jsonrpc|id|method)"\s*:\s*(?:"[^"\\]*+"|-?[0-9]++)\s*'
_FIRST: Final = re.compile(rb'\{(?:%b,)*+\s*"(?:params|result|error)"\s*:\s*' % _SHORT)
_NOTHING_LONG: Final = re.compile(rb"\{%b" % _SHORT)
_LAST: Final = re.compile(rb"\s*(?:,%b)*+\}\s*" % _SHORT)
_NAME: Final = re.compile(rb'"(?:jsonrpc|id|method)"\s*:')
_BLANK: Final = b" \t\r\n"
"""White space allowed before a body of HTTP. Source: RFC 8259, section 2."""


def read(text: bytes, *, max_batch: int = 0) -> Frame:
    """Parse the one message in `text`.

    `max_batch` is the limit of messages in an array; 0 refuses arrays.
    """
    if text[:1] != b"{":
        text = text.lstrip(_BLANK)
        if text[:1] == b"[" and max_batch:
            return _batch(text, max_batch)
    return read_single(text)


def read_single(text: bytes) -> Single:
    """Parse one message as `read`, and refuse an array."""
    if not text.isascii() and (fault := _no_utf8(text)) is not None:
        return fault  # raw members such as params are passed on undecoded, so check all bytes here
    if text[:1] != b"{":
        text = text.lstrip(_BLANK)
        if text[:1] != b"{":
            return _no_object(text)
    try:
        wire = _wire.decode(text)
    except msgspec.ValidationError as error:
        return _unfit(text, str(error))
    except UNREADABLE as error:
        return _unreadable(text, error)
    if wire.jsonrpc != "2.0":
        return _unfit(text, "`jsonrpc` is not 2.0")
    id, method, params = wire.id, wire.method, wire.params
    if (
        isinstance(id, int)
        and isinstance(method, str)
        and isinstance(params, Raw)
        and len(text) == _PLAIN + len(str(id)) + len(method) + len(params)
    ):
        # The fast path: the text is exactly as long as these members, so no other member and no
        # second one of the same name fits in it, and the search for duplicates is not needed.
        return Request(id, method, bytes(params))
    result = wire.result
    if (
        isinstance(id, int)
        and isinstance(result, Raw)
        and len(text) == _PLAIN_RESPONSE + len(str(id)) + len(result)
    ):
        return Response(id, bytes(result))
    if not _is_read_whole(text, wire) and (fault := _duplicate_member_error(text)) is not None:
        return fault
    return _frame_of(text, wire)


def _no_utf8(text: bytes) -> Malformed | None:
    """Return the error of a text with invalid UTF-8, else None."""
    try:
        str(text, "utf-8")
    except UnicodeDecodeError as error:
        return _unreadable(text, error)
    return None


def _is_read_whole(text: bytes, wire: _Wire) -> bool:
    """True if each member of the text was decoded, and stands there once.

    False means unknown: `_duplicate_member_error` decides.
    """
    # msgspec skips unknown members and takes the last of two with one name. A proxy may take the
    # first, and so check another message than the one we serve. Parsing a second time would find
    # this but costs as much as the message; three regular expressions around the long member, whose
    # bytes are known already, settle it for all ordinary messages.
    raw = next((r for r in (wire.params, wire.result, wire.error) if isinstance(r, Raw)), b"")
    first = (_FIRST if raw else _NOTHING_LONG).match(text)
    if first is None or not text.startswith(raw, first.end()):
        return False
    last = _LAST.fullmatch(text, first.end() + len(raw))
    if last is None:
        return False
    short = sum(member is not UNSET for member in (wire.jsonrpc, wire.id, wire.method))
    return len(_NAME.findall(first[0])) + len(_NAME.findall(last[0])) == short


def _duplicate_member_error(text: bytes) -> Malformed | None:
    """Return the error of a text with a duplicate member, else None."""
    twice = _twice(text)
    return _unfit(text, twice) if twice else None


def _frame_of(text: bytes, wire: _Wire) -> Single:
    method, id = wire.method, wire.id
    answers = (wire.result is not UNSET) + (wire.error is not UNSET)
    if isinstance(method, str) and not answers:
        params = b"" if wire.params is UNSET else bytes(wire.params)
        if id is UNSET:
            return Notification(method, params)
        return _unfit(text, "`id` is null") if id is None else Request(id, method, params)
    if method is not UNSET or answers != 1:
        return _unfit(text, "it needs one of `method`, `result` and `error`")
    if isinstance(wire.error, Raw):
        return _error_response(text, wire.error, None if id is UNSET else id)
    if id is None or id is UNSET:
        return _unfit(text, "a result without an `id`")
    assert isinstance(wire.result, Raw)
    return Response(id, bytes(wire.result))


def _error_response(text: bytes, raw: Raw, id: Id | None) -> Single:
    try:
        error = _error.decode(raw)
    except UNREADABLE as fault:
        return _unfit(text, str(fault))
    return ErrorResponse(id, error.code, error.message, bytes(error.data))


def _batch(text: bytes, max_batch: int) -> Frame:
    try:
        parts = _array.decode(text)
    except UNREADABLE as error:
        return _no_json(error)
    if not parts:
        return Malformed(None, INVALID_REQUEST, "Invalid request: an empty batch")
    if len(parts) > max_batch:
        why = f"a batch of more than {max_batch}"
        return Batch(tuple(_unfit(bytes(part), why) for part in parts[:_REFUSED]))
    return Batch(tuple(map(read_single, map(bytes, parts))))


# ---- malformed messages


def _no_json(error: Exception) -> Malformed:
    why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return Malformed(None, PARSE_ERROR, f"Parse error: {why}")


def _unreadable(text: bytes, error: Exception) -> Malformed:
    """Find the id and the kind of an undecodable message; Python's parser accepts more texts."""
    try:
        members = dict(_members(text))
    except (ValueError, RecursionError):
        return _no_json(error)
    if _is_halved(members):  # msgspec takes some of these for the end of the text
        error = ValueError("a text has a lone surrogate, half of a character")
    id, answers = members.get("id"), "result" in members or "error" in members
    is_id = isinstance(id, int | str) and not isinstance(id, bool) and _is_text(id)
    is_response = answers and "method" not in members
    return Malformed(id if is_id else None, PARSE_ERROR, _no_json(error).message, is_response)


def _is_halved(members: dict[str, Any]) -> bool:
    try:
        json.dumps(members, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_text(id: Id) -> bool:
    return isinstance(id, int) or not any("\ud800" <= c <= "\udfff" or c == "\ufffd" for c in id)


def _no_object(text: bytes) -> Malformed:
    try:
        _any.decode(text)
    except UNREADABLE as error:
        return _no_json(error)
    return Malformed(None, INVALID_REQUEST, "Invalid request: it is not a JSON object")


def _unfit(text: bytes, why: str) -> Malformed:
    try:
        shape = _shape.decode(text)
    except UNREADABLE as error:
        return _unreadable(text, error)
    answers = shape.result is not UNSET or shape.error is not UNSET
    is_response = answers and shape.method is UNSET
    what = "response" if is_response else "request"
    return Malformed(_id_of(shape.id), INVALID_REQUEST, f"Invalid {what}: {why}", is_response)


def _id_of(raw: Raw) -> Id | None:
    try:
        return _id.decode(raw)
    except UNREADABLE:
        return None


def _twice(text: bytes) -> str:
    """Return the fault of a top-level member with a duplicate name; empty if there is none."""
    try:
        counts = Counter(name for name, _ in _members(text))
    except (ValueError, RecursionError):
        return "it is nested too deeply"
    name = next((name for name, count in counts.items() if count > 1), None)
    return "" if name is None else f"the member {name[:80]!r} is there twice"


def _members(text: bytes) -> list[tuple[str, Any]]:
    """Parse the top-level members of an object, which may have invalid UTF-8.

    Raises ValueError and RecursionError.
    """
    last: list[tuple[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        last[:] = pairs

    readable = str(text, "utf-8", "replace")
    json.loads(readable, object_pairs_hook=keep, parse_int=_integer, parse_float=_no_id)
    return last


def _no_id(digits: str) -> None:
    """Read a fraction as None: it is never an id."""


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MAX_DIGITS else None


# ---- writing


def request(id: Id, method: str, params: bytes = b"") -> bytes:
    """Write a request; `params` is a JSON object, empty for none."""
    head = b'{"jsonrpc":"2.0","id":%b,"method":%b' % (_dump(id), _dump(method))
    return b'%b,"params":%b}' % (head, params) if params else head + b"}"


def notification(method: str, params: bytes = b"") -> bytes:
    head = b'{"jsonrpc":"2.0","method":%b' % _dump(method)
    return b'%b,"params":%b}' % (head, params) if params else head + b"}"


def response(id: Id, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_dump(id), result)


def error_response(id: Id | None, code: int, message: str, data: bytes = b"") -> bytes:
    """Write an error response; `data` is JSON, empty for none.

    Without an id the response has no `id` member.
    """
    error = b'{"code":%d,"message":%b' % (code, _dump(message))
    error = b'%b,"data":%b}' % (error, data) if data else error + b"}"
    head = b"" if id is None else b'"id":%b,' % _dump(id)
    return b'{"jsonrpc":"2.0",%b"error":%b}' % (head, error)


def refusal(id: Id | None, code: int, message: str, data: Any = None) -> bytes:
    """Write an error response; `data` is a value to encode, None for none."""
    return error_response(id, code, message, b"" if data is None else _dump(data))


def cancellation(id: Id, reason: str, method: str = "notifications/cancelled") -> bytes:
    """Write `notifications/cancelled` for a request; the reason may be empty."""
    body = {"requestId": id, "reason": reason} if reason else {"requestId": id}
    return notification(method, _dump(body))


def batch(messages: Sequence[bytes]) -> bytes:
    """Join messages as one JSON array."""
    return b"[%b]" % b",".join(messages)
