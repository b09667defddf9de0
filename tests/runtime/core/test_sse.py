"""Server-sent events are read by the WHATWG's rules, whatever the chunks are."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_runtime.core.wire.lines import ENDS_BYTES, TooLong
from mcp_runtime.core.wire.sse import Event, Events, encode

LIMIT = 64


def read(*chunks: bytes, limit: int = LIMIT) -> list[Event | TooLong]:
    events = Events(limit)
    return [event for chunk in chunks for event in events.feed(chunk)]


def check(stream: bytes, *expected: Event) -> None:
    assert read(stream) == list(expected)
    assert read(*(stream[i : i + 1] for i in range(len(stream)))) == list(expected)


def test_each_line_end_ends_a_line() -> None:
    for end in (b"\n", b"\r", b"\r\n"):
        check(b"data: a" + end + end, Event(data=b"a"))
    check(b"data: a\r\ndata: b\rdata: c\n\r\n", Event(data=b"a\nb\nc"))
    check(b"data: a\r\r\ndata: b\n\r", Event(data=b"a"), Event(data=b"b"))
    check(
        "data: a\u2028\x85\x0b\x0c\x1cb\n\n".encode(),
        Event(data="a\u2028\x85\x0b\x0c\x1cb".encode()),
    )


@pytest.mark.requirement("transport.http.stream.comments-skipped")
def test_comments_and_unknown_fields_are_skipped() -> None:
    check(b": hello\n:\n::\nfield: 1\nDATA: 2\n data: 3\n\n")
    check(b":\r\n\r\ndata: a\n: in between\ndata: b\n\n", Event(data=b"a\nb"))


def test_one_blank_after_the_colon_is_no_part_of_the_value() -> None:
    check(
        b"data:a\n\ndata: a\n\ndata:  a\n\n", Event(data=b"a"), Event(data=b"a"), Event(data=b" a")
    )
    check(b"data:\ta\n\ndata: a:b\n\n", Event(data=b"\ta"), Event(data=b"a:b"))


def test_a_block_without_data_is_no_event() -> None:
    check(b"event: a\n\nevent: b\nid: 1\n\ndata: c\n\n", Event("1", data=b"c"))
    check(b"\n\n\n")


def test_empty_data_is_an_event() -> None:
    check(b"data\n\ndata:\ndata:\n\n", Event(data=b""), Event(data=b"\n"))
    check(b"id: 7\nretry: 500\ndata:\n\n", Event("7", data=b"", retry=500))


def test_an_unfinished_block_is_no_event() -> None:
    check(b"data: a\n\ndata: b\n", Event(data=b"a"))
    check(b"data: a")


def test_a_bom_at_the_start_alone_is_skipped() -> None:
    check(b"\xef\xbb\xbfdata: a\n\n", Event(data=b"a"))
    check(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n")
    check(b"data: a\n\n\xef\xbb\xbfdata: b\n\n", Event(data=b"a"))


def test_a_name_holds_for_its_event_and_an_id_until_the_next() -> None:
    check(
        b"event: x\nevent: y\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
        Event("1", "y", b"a"),
        Event("1", data=b"b"),
        Event(data=b"c"),
    )


def test_an_id_with_nul_is_ignored() -> None:
    check(b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", Event("1", data=b"a"), Event("1", data=b"b"))


def test_retry_is_digits_only() -> None:
    for wait, retry in ((b"0", 0), (b"0020", 20), (b"3000", 3000)):
        check(b"retry: " + wait + b"\ndata\n\n", Event(retry=retry))
    for wait in (b"", b"-1", b"1.5", b"1 ", "\u0663".encode(), b"9" * 16):
        check(b"retry: " + wait + b"\ndata\n\n", Event())


def test_id_and_retry_are_known_without_an_event() -> None:
    events = Events(LIMIT)
    assert list(events.feed(b"id: 1\ndata: a\n\nid: 2\nretry: 10\n")) == [Event("1", data=b"a")]
    assert (events.id, events.retry) == ("1", 10)
    assert list(events.feed(b"\n")) == []
    assert (events.id, events.retry) == ("2", 10)


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * LIMIT + b"\n\n",
        b":" + b"x" * LIMIT,
        b"data: 0123456789\n" * 6 + b"\n",
        b"data\n" * (LIMIT + 1) + b"\n",
    ],
)
def test_an_event_that_is_too_large_is_reported_and_skipped(stream: bytes) -> None:
    whole = list(Events(LIMIT).feed(stream + b"\n\ndata: a\n\n"))
    events = Events(LIMIT)
    bytewise = [event for byte in stream for event in events.feed(bytes([byte]))]
    bytewise += events.feed(b"\n\ndata: a\n\n")
    for first, last, after in (whole, bytewise):
        assert isinstance(first, TooLong)
        assert isinstance(last, TooLong)
        assert (first.limit, first.tail, last.head) == (LIMIT, None, first.head)
        assert after == Event(data=b"a")


def test_of_an_event_that_is_too_large_its_data_begins_and_ends_the_report() -> None:
    data = b'{"id":7,' + b"x" * 10_000 + b',"id":8}'
    first, last = Events(LIMIT).feed(b"id: 1\nevent: message\ndata: " + data + b"\n\n")
    assert isinstance(first, TooLong)
    assert isinstance(last, TooLong)
    assert (first.head, last.tail) == (data[: len(first.head)], data[-ENDS_BYTES:])
    assert len(first.head) > 8


def test_an_event_that_is_too_large_costs_no_more_memory_than_the_limit() -> None:
    events = Events(1 << 20)
    tracemalloc.start()
    try:
        for _ in range(1000):
            list(events.feed(b"data: " + b"x" * (1 << 16)))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_the_limit_is_of_one_event_not_of_the_stream() -> None:
    assert len(read(b": keep-alive\n\ndata: 0123456789\n\n" * 100)) == 100
    assert len(read(b": keep-alive\n" * 100 + b"data\n\n")) == 1


@pytest.mark.wide
def test_no_more_is_held_than_the_limit() -> None:
    events = Events(LIMIT)
    tracemalloc.start()
    try:
        for _ in range(20_000):  # a byte that is kept of each would be too much
            assert list(events.feed(b":\nevent: x\nid: y\n")) == []
        assert tracemalloc.get_traced_memory()[0] < 10_000
    finally:
        tracemalloc.stop()


FIELDS = (b"data", b"id", b"event", b"retry", b"data: x\n", b":", b": ", b"a", b"1", b"\0")
ENDS = (b"\n", b"\r", b"\r\n", b"\n\n")
PIECES = st.sampled_from([*FIELDS, *ENDS, b"\xef\xbb\xbf", "\u20ac".encode()])


@given(st.lists(PIECES, max_size=40).map(b"".join), st.data())
def test_any_chunks_give_the_same_events(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(*chunks, limit=1000) == read(stream, limit=1000)


TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))


@given(
    TEXT,
    TEXT.filter(bool),
    st.binary().map(lambda data: data.replace(b"\r", b"")),
    st.none() | st.integers(0, 10**9),
)
def test_what_is_written_is_read(id: str, name: str, data: bytes, retry: int | None) -> None:
    event = Event(id, name, data, retry)
    assert read(encode(event), limit=10_000) == [event]


def test_an_event_is_written_as_few_lines() -> None:
    assert encode(Event(data=b"{}")) == b"data: {}\n\n"
    assert encode(Event("1", retry=500)) == b"id: 1\nretry: 500\ndata: \n\n"
    assert encode(Event(name="endpoint", data=b"/x")) == b"event: endpoint\ndata: /x\n\n"
    assert encode(Event(data=b"a\r\nb\rc\n")) == b"data: a\ndata: b\ndata: c\ndata: \n\n"


@pytest.mark.parametrize("event", [Event("a\nb"), Event("a\0"), Event(name="a\rdata: b")])
def test_no_field_is_written_that_would_be_two(event: Event) -> None:
    with pytest.raises(ValueError, match="has a line end or NUL"):
        encode(event)
