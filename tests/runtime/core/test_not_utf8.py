"""Bytes that are not UTF-8 are refused in one place, whatever kind of message has them."""

from __future__ import annotations

from typing import Final

import pytest

from mcp_runtime.core.wire import error_codes, jsonrpc
from mcp_runtime.core.wire.jsonrpc import Malformed

REQUEST: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b}'
NOTIFICATION: Final = b'{"jsonrpc":"2.0","method":"notifications/x",%b}'
PLACES: Final = {
    "a request's params": REQUEST % b'{"a":"\xff"}',
    "a request's params, with more": REQUEST % b'{"\xff":0},"x":1',
    "a notification's params": NOTIFICATION % b'"params":{"a":"\xff"}',
    "a notification's params, with more": NOTIFICATION % b'"params":{"a":"\xc3"},"x":1',
    "a result": b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xed\xa0\x80"}}',
    "a result, before its id": b'{"result":{"a":"\xf5"},"id":1,"jsonrpc":"2.0"}',
    "an error's data": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":"\xff"}}',
    "an unknown member": NOTIFICATION % b'"x":"\xff"',
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_it_is_no_message_and_keeps_its_id(text: bytes) -> None:
    frame = jsonrpc.read(text)
    assert isinstance(frame, Malformed)
    assert frame.code == error_codes.PARSE_ERROR
    assert frame.id == (1 if b'"id"' in text else None)
    assert frame.is_response == (b'"result"' in text or b'"error"' in text)


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES)
def test_in_a_batch_it_is_no_message_either(text: bytes) -> None:
    assert isinstance(jsonrpc.read(b"[%b]" % text, max_batch=2), jsonrpc.Batch | Malformed)
    frame = jsonrpc.read(b"[%b]" % text, max_batch=2)
    parts = frame.frames if isinstance(frame, jsonrpc.Batch) else (frame,)
    assert [type(part) for part in parts] == [Malformed]


def test_text_that_is_no_ascii_is_read() -> None:
    text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"é 漢 🙂"}}'.encode()
    assert isinstance(jsonrpc.read(text), jsonrpc.Request)
