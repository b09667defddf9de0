"""Bytes are read as the message that they are, or as the error that they deserve."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.core.wire.jsonrpc import (
    Batch,
    ErrorResponse,
    Malformed,
    Notification,
    Request,
    Response,
    read,
)

HEAD = '"jsonrpc":"2.0"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{%s,"id":1,"method":"a"}', Request(1, "a")),
        ('{%s,"id":0,"method":"a","params":{"x":1}}', Request(0, "a", b'{"x":1}')),
        ('{%s,"id":"","method":"a"}', Request("", "a")),
        ('{%s,"id":-5,"method":"a"}', Request(-5, "a")),
        ('{%s,"id":"1","method":"a"}', Request("1", "a")),
        ('{%s,"id":9007199254740993,"method":"a"}', Request(9007199254740993, "a")),
        ('{%s,"id":"\\u00e9\\n","method":"\\u0061"}', Request("é\n", "a")),
        (' {"method" : "a" , %s , "id" : 1 , "params" : { } } ', Request(1, "a", b"{ }")),
        ('{%s,"id":1,"method":"a","more":[1]}', Request(1, "a")),
        ('{%s,"method":"a"}', Notification("a")),
        ('{%s,"method":"a","params":{}}', Notification("a", b"{}")),
        ('{%s,"id":1,"result":{"x":null}}', Response(1, b'{"x":null}')),
        ('{%s,"id":"1","error":{"code":-1,"message":"m"}}', ErrorResponse("1", -1, "m")),
        (
            '{%s,"id":1,"error":{"code":-1,"message":"m","data":[1]}}',
            ErrorResponse(1, -1, "m", b"[1]"),
        ),
        ('{%s,"error":{"code":-1,"message":"m"}}', ErrorResponse(None, -1, "m")),
        ('{%s,"id":null,"error":{"code":-1,"message":"m"}}', ErrorResponse(None, -1, "m")),
    ],
)
def test_a_message_is_what_its_members_say(text: str, expected: jsonrpc.Frame) -> None:
    assert read((text % HEAD).strip().encode()) == expected


@pytest.mark.parametrize("before", [b"\n", b"\r\n", b" \t"])
def test_white_space_before_a_message_says_nothing(before: bytes) -> None:
    text = b'{%b,"id":1,"method":"a"}' % HEAD.encode()
    assert read(before + text) == Request(1, "a")
    assert read(b"%b[%b]\n" % (before, text), max_batch=2) == Batch((Request(1, "a"),))
    assert isinstance(read(before), Malformed)
    assert isinstance(read(b"%b[%b]" % (before, text)), Malformed)


@pytest.mark.parametrize(
    ("text", "id", "why"),
    [
        ('{"id":1,"method":"a"}', 1, "jsonrpc"),
        ('{"jsonrpc":"1.0","id":1,"method":"a"}', 1, "jsonrpc"),
        ('{"jsonrpc":2.0,"id":1,"method":"a"}', 1, "jsonrpc"),
        ('{%s,"id":null,"method":"a"}', None, "null"),
        ('{%s,"id":1.5,"method":"a"}', None, "id"),
        ('{%s,"id":true,"method":"a"}', None, "id"),
        ('{%s,"id":[],"method":"a"}', None, "id"),
        ('{%s,"id":7,"method":1}', 7, "method"),
        ('{%s,"id":7}', 7, "needs one of"),
        ("{%s}", None, "needs one of"),
        ('{%s,"id":7,"method":"a","result":{}}', 7, "needs one of"),
        ('{%s,"id":7,"method":"a","error":{}}', 7, "needs one of"),
        ('{%s,"id":7,"method":"a","method":"b"}', 7, "'method' is there twice"),
        ('{%s,"id":7,"id":7,"method":"a"}', 7, "'id' is there twice"),
        ('{%s,"id":7,"method":"a","x":1,"x":2}', 7, "'x' is there twice"),
        ('{%s,"id":7,"method":"a","par\\u0061ms":{},"params":{}}', 7, "'params'"),
        ("[]", None, "not a JSON object"),
        ("1", None, "not a JSON object"),
        ('"a"', None, "not a JSON object"),
        ("null", None, "not a JSON object"),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(
    text: str, id: jsonrpc.Id | None, why: str
) -> None:
    frame = read((text.replace("%s", HEAD)).encode())
    assert isinstance(frame, Malformed)
    assert (frame.id, frame.code, frame.is_response) == (id, -32600, False)
    assert why in frame.message


@pytest.mark.parametrize(
    "text",
    [
        '{%s,"id":7,"result":{},"error":{"code":1,"message":""}}',
        '{%s,"id":7,"error":{"code":1.5,"message":""}}',
        '{%s,"id":7,"error":{"code":1}}',
        '{%s,"id":7,"error":"failed"}',
        '{%s,"id":7,"result":{},"result":{}}',
    ],
)
def test_a_response_that_does_not_fit_is_told_apart_from_a_request(text: str) -> None:
    frame = read((text % HEAD).encode())
    assert isinstance(frame, Malformed)
    assert (frame.id, frame.is_response) == (7, True)
    assert frame.message.startswith("Invalid response: ")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"a"',
        b'{"jsonrpc":"2.0","id":1,"method":"a"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"a"} {}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"a"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":01}',
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":%b%b}' % (b"[" * 10**6, b"]" * 10**6),
        b"[" * 10**6,
    ],
)
def test_what_is_no_json_is_a_parse_error(text: bytes) -> None:
    frame = read(text)
    assert isinstance(frame, Malformed)
    assert (frame.id, frame.code) == (None, -32700)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":NaN}', 1),
        (b'{"jsonrpc":"2.0","id":"a","method":"a","x":"\\ud800"}', "a"),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","x":"\xff"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","\xff":0}', 1),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"a"}', None),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"a"}', None),
        (b'{"jsonrpc":"2.0","method":"\xff","id":true}', None),
        (b'{"jsonrpc":"2.0","method":"\xff","id":1.0}', None),
        (b'{"jsonrpc":"2.0","method":"\xff","id":%b}' % (b"1" * 5_000), None),
    ],
)
def test_an_id_is_found_in_what_is_no_json_if_that_can_be_taken_apart(text: bytes, id: Any) -> None:
    frame = read(text)
    assert isinstance(frame, Malformed)
    assert (frame.id, frame.code, frame.is_response) == (id, -32700, False)
    assert ("a lone surrogate" in frame.message) == (b"ud800" in text)


def test_a_batch_is_several_messages_where_batches_are() -> None:
    text = b'[{"jsonrpc":"2.0","id":1,"method":"a"}, 1, {"jsonrpc":"2.0","method":"b"}]'
    batch = read(text, max_batch=3)
    assert isinstance(batch, Batch)
    assert batch.frames[0] == Request(1, "a")
    assert isinstance(batch.frames[1], Malformed)
    assert batch.frames[2] == Notification("b")
    refused = read(text, max_batch=2)
    assert isinstance(refused, Batch)
    assert all(isinstance(frame, Malformed) for frame in refused.frames)
    assert isinstance(read(b"[]", max_batch=2), Malformed)
    assert isinstance(read(text), Malformed)


@pytest.mark.parametrize("id", [0, -1, 2**60, "", "1", 'q"\\\n\u2028', "é"])
def test_what_is_written_is_read_as_it_was(id: jsonrpc.Id) -> None:
    body = b'{"a":1}'
    assert read(jsonrpc.request(id, "m/é", body)) == Request(id, "m/é", body)
    assert read(jsonrpc.request(id, "m")) == Request(id, "m")
    assert read(jsonrpc.notification("m", body)) == Notification("m", body)
    assert read(jsonrpc.response(id, body)) == Response(id, body)
    assert read(jsonrpc.error_response(id, -1, "é", body)) == ErrorResponse(id, -1, "é", body)
    assert read(jsonrpc.error_response(None, -1, "m")) == ErrorResponse(None, -1, "m")
    both = jsonrpc.batch([jsonrpc.request(id, "m"), jsonrpc.notification("n")])
    assert read(both, max_batch=2) == Batch((Request(id, "m"), Notification("n")))


def test_no_text_makes_the_reader_fail() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    draw = random.Random(seed)
    good = [
        b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\\u00e9"}}',
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
        b'{"jsonrpc":"2.0","id":"q","error":{"code":1,"message":"m","data":{}}}',
    ]
    for _ in range(20_000):
        text = bytearray(draw.choice(good))
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(text))
            text[at : at + draw.randrange(3)] = draw.choice(
                (
                    b"",
                    b'"',
                    b"{",
                    b"}",
                    b"\xff",
                    b"\\",
                    b",",
                    b":",
                    b"null",
                    bytes([draw.randrange(256)]),
                )
            )
        frame = read(bytes(text), max_batch=4)
        assert_agrees(bytes(text), frame)


def assert_agrees(text: bytes, frame: jsonrpc.Frame) -> None:
    """With the library's reader, where the message is read at all."""
    if isinstance(frame, Malformed | Batch):
        return
    parsed: dict[str, Any] = json.loads(text.decode("utf-8", "surrogateescape"))
    assert parsed["jsonrpc"] == "2.0"
    assert parsed.get("method") == getattr(frame, "method", None)
    assert parsed.get("id") == getattr(frame, "id", None)


SHORT: Final = ('"jsonrpc":"2.0"', '"id":1', '"id":"a,b"', '"method":"id"', '"i\\u0064":2')
LONG: Final = ('"params":{"id":1}', '"params":{}', '"result":{"a":[]}', '"x":1', '"method ":"m"')


@given(
    st.lists(st.sampled_from([*SHORT, *LONG]), min_size=1, max_size=7),
    st.sampled_from(["", " ", "\n\t"]),
)
def test_a_member_that_is_there_twice_is_seen_however_it_is_written(
    members: list[str], space: str
) -> None:
    text = f"{{{space}{f'{space},{space}'.join(members)}{space}}}"
    text = text.replace('":', f'"{space}:{space}')
    names = [name for name, _ in json.loads(text, object_pairs_hook=list)]
    frame = read(text.encode())
    is_refused = isinstance(frame, Malformed) and "there twice" in frame.message
    if is_refused:
        assert len(names) > len(set(names))
    if len(names) > len(set(names)):
        assert isinstance(frame, Malformed)
