"""Answers clients that accept JSON and no event stream, with the one message they wait for.

Progress, logs and changes are dropped: such a client has no place for them. A request of the server
or a subscription cannot be dropped and needs a stream.
Source: 2025-11-25 basic/transports, "Sending Messages to the Server"; RFC 9110 section 15.5.7.
"""

from __future__ import annotations

import asyncio

from mcp_runtime.core.http import http_rules
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.core.wire.jsonrpc import Notification, Request
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import ClientGone, HttpError, HttpRequest


def takes_streams(request: HttpRequest) -> bool:
    """Return True if the client accepts an event stream."""
    return http_rules.accepts(request.headers.get("accept"), http_rules.EVENT_STREAM)


def stream_needed(why: str) -> HttpError:
    """Return the refusal of an answer that is more than one JSON message."""
    return HttpError(406, f"Accept must have {http_rules.EVENT_STREAM}: {why}")


async def single_answer(stream: Outbox, request: HttpRequest) -> bytes:
    """Wait for the answer on a stream, however long it takes.

    Raises HttpError where the server asks the client something, ClientGone.
    """
    reader = stream.attach()
    answer = asyncio.ensure_future(_answer(stream, reader))
    gone = asyncio.ensure_future(request.gone())
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientGone
        return answer.result()
    finally:
        answer.cancel()
        gone.cancel()
        stream.leave(reader)


async def _answer(stream: Outbox, reader: int) -> bytes:
    while (message := await stream.next(reader)) is not None:
        frame = jsonrpc.read(message)
        if isinstance(frame, Request):
            raise stream_needed(f"the server asks the client, by {frame.method}")
        if not isinstance(frame, Notification):
            return message
    raise stream_needed("the answer goes on in another response")
