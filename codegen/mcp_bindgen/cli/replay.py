"""`mcp-bindgen replay`: serves a recorded trace in place of its server, to test a client."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Final

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.options import open_input
from mcp_bindgen.cli.show import safe, warn
from mcp_bindgen.errors import InputError
from mcp_bindgen.json_values import object_of
from mcp_bindgen.limits import MAX_MESSAGE_BYTES

__all__ = ["command"]

_OPENING: Final = ("initialize", "server/discover")
"""Requests that only a client sends."""
_BY_METHOD: Final = (*_OPENING, "ping", "logging/setLevel")
"""Requests whose params differ from client to client: the method alone is compared."""
_NOT_RECORDED: Final = -32603


@dataclass(slots=True)
class _Exchange:
    """A recorded request, the notifications before its response, and the response."""

    request: dict[str, Any]
    notifications: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    response: dict[str, Any] | None = None


@click.command("replay")
@click.option(
    "--strict", is_flag=True, help="Take requests in their recorded order only, each of them once."
)
@click.argument("file", metavar="TRACE")
def command(strict: bool, file: str) -> int:
    """Serve the recorded messages of TRACE on standard input and output, as its server did.

    A request gets the response to the recorded request with the same method and arguments; the
    last one is repeated. Requests of the server to the client are left out. Exit status 0: every
    request was recorded; 1: another one came; 2: the trace is unusable.
    """
    with open_input(file) as stream:
        exchanges = _exchanges(_messages(stream, file))
    if not exchanges:
        raise InputError(
            f"{file}: has no request with a response", remedy="Write one with `call --trace FILE`."
        )
    script = _Script(exchanges, strict)
    output = sys.stdout.buffer
    for line in _requests(sys.stdin.buffer):
        for message in script.answer(line):
            output.write(json.dumps(message).encode() + b"\n")
        output.flush()
    return FINDINGS if script.misses else OK


def _messages(stream: IO[bytes], file: str) -> list[tuple[str, dict[str, Any]]]:
    """Read a trace: pairs of a direction and a message. Raises InputError for another file."""
    messages: list[tuple[str, dict[str, Any]]] = []
    number = 0
    while text := stream.readline(4 * MAX_MESSAGE_BYTES):
        number += 1
        try:
            line = _object(json.loads(text))
            direction, message = line["direction"], object_of(line.get("message"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{file}: line {number} is not a line of a trace") from None
        if message is not None:
            messages.append((direction, message))
    return messages


def _exchanges(messages: list[tuple[str, dict[str, Any]]]) -> list[_Exchange]:
    """Pair each request of the client with its response, in the order of the requests."""
    client = next((side for side, m in messages if m.get("method") in _OPENING), "sent")
    exchanges: list[_Exchange] = []
    waiting: dict[str, _Exchange] = {}
    for side, message in messages:
        key = repr(message.get("id"))
        if side == client and "method" in message and "id" in message:
            waiting[key] = _Exchange(message)
            exchanges.append(waiting[key])
        elif side != client and "method" not in message and key in waiting:
            waiting.pop(key).response = message
        elif side != client and "method" in message and "id" not in message and waiting:
            _owner(message, waiting).notifications.append(message)
    return [each for each in exchanges if each.response is not None]


def _owner(notification: dict[str, Any], waiting: dict[str, _Exchange]) -> _Exchange:
    """Return the open request that a notification belongs to: by its token, else the newest."""
    token = _object(notification.get("params")).get("progressToken", _NONE)
    of_token = (e for e in waiting.values() if token is not _NONE and _token(e.request) == token)
    return next(of_token, next(reversed(waiting.values())))


_NONE: Final = object()


def _object(value: Any) -> dict[str, Any]:
    return object_of(value) or {}


def _token(request: dict[str, Any]) -> Any:
    meta = _object(_object(request.get("params")).get("_meta"))
    return meta.get("progressToken", _NONE)


def _requests(stream: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a client; other lines are skipped and named on standard error."""
    while line := stream.readline(MAX_MESSAGE_BYTES + 1):
        try:
            message = object_of(json.loads(line))
        except (ValueError, RecursionError):
            message = None
        if message is not None:
            yield message
        else:
            warn("mcp-bindgen: a line is not a JSON object, and is skipped")


class _Script:
    """The recorded exchanges, and how many of each kind were played."""

    def __init__(self, exchanges: list[_Exchange], strict: bool) -> None:
        from mcp_runtime.trace import redacted

        self.misses = 0
        self._redacted: Callable[[Any], Any] = redacted
        self._strict = strict
        self._all = exchanges
        self._next = 0
        self._of: dict[str, list[_Exchange]] = {}
        for each in exchanges:
            self._of.setdefault(self._key(each.request), []).append(each)

    def _key(self, request: dict[str, Any]) -> str:
        """Return the text by which requests are compared; a trace has no secrets, so neither it."""
        method, params = request["method"], _object(request.get("params"))
        if method in _BY_METHOD:
            return json.dumps([method])
        rest = {name: value for name, value in params.items() if name != "_meta"}
        return json.dumps([method, self._redacted(rest)], sort_keys=True)

    def answer(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the recorded messages for a request, with its id and its progress token."""
        method, id = message.get("method"), message.get("id")
        if method.__class__ is not str or "id" not in message:
            return
        exchange = self._take(message)
        if exchange is None or exchange.response is None:
            self.misses += 1
            warn(safe(f"mcp-bindgen: the trace has no such {method} here"))
            why = f"the trace has no {method} with these arguments"
            yield {"jsonrpc": "2.0", "id": id, "error": {"code": _NOT_RECORDED, "message": why}}
            return
        token = _token(message)
        for each in exchange.notifications:
            params = _object(each.get("params"))
            if "progressToken" not in params:
                yield each
            elif token is not _NONE:
                yield {**each, "params": {**params, "progressToken": token}}
        yield {**exchange.response, "id": id}

    def _take(self, request: dict[str, Any]) -> _Exchange | None:
        key = self._key(request)
        if self._strict:
            due = self._all[self._next] if self._next < len(self._all) else None
            if due is None or self._key(due.request) != key:
                return None
            self._next += 1
            return due
        known = self._of.get(key, [])
        return known.pop(0) if len(known) > 1 else next(iter(known), None)
