"""A stream is cut into lines, whatever its chunks are."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from mcp_runtime.core.wire.lines import ENDS_BYTES, Lines, TooLong

LIMIT = 32
HEAD = ENDS_BYTES
LONG = b"x" * 1000


def too_long(line: bytes) -> list[TooLong]:
    return [TooLong(LIMIT, line[:HEAD]), TooLong(LIMIT, line[:HEAD], line[-HEAD:])]


def fed(*chunks: bytes, limit: int = LIMIT) -> list[bytes | TooLong]:
    lines = Lines(limit)
    return [line for chunk in chunks for line in lines.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"a", []),
        (b"a\n", [b"a"]),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\n", [b"a", b"b"]),
        (b"\n \n\t\r\na\n", [b"a"]),
        ("a\u2028b\x0b\x0c\x85\n".encode(), ["a\u2028b\x0b\x0c\x85".encode()]),
        (b"x" * LIMIT + b"\n", [b"x" * LIMIT]),
        (b"x" * (LIMIT + 1) + b"\na\n", [*too_long(b"x" * (LIMIT + 1)), b"a"]),
        (LONG + b"\n" + LONG + b"\na\n", [*too_long(LONG), *too_long(LONG), b"a"]),
    ],
)
def test_a_line_ends_at_a_newline_only(stream: bytes, expected: list[bytes | TooLong]) -> None:
    assert fed(stream) == expected
    bytewise = fed(*(stream[i : i + 1] for i in range(len(stream))))
    assert [_without_head(line) for line in bytewise] == [_without_head(line) for line in expected]


def _without_head(line: bytes | TooLong) -> object:
    """Where the limit is crossed, no more has come than it."""
    return line if isinstance(line, bytes) else (line.limit, line.tail)


def test_any_chunks_give_the_same_lines() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    draw = random.Random(seed)
    for _ in range(300):
        stream = b"".join(
            draw.choice((b"a", b"{}", b" ", b"\r", b"x" * 20)) + draw.choice((b"", b"\n"))
            for _ in range(30)
        )
        cuts = sorted(draw.choices(range(len(stream) + 1), k=draw.randrange(10)))
        chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        lines = [_without_head(line) for line in fed(*chunks)]
        assert lines == [_without_head(line) for line in fed(stream)]


def test_a_line_that_is_too_long_is_told_before_it_ends() -> None:
    lines = Lines(LIMIT)
    assert list(lines.feed(b"x" * (LIMIT + 1))) == [TooLong(LIMIT, b"x" * (LIMIT + 1))]
    assert list(lines.feed(b"x" * 10_000)) == []
    end = b"x" * (ENDS_BYTES - 3) + b"end"
    assert list(lines.feed(b"end\na\n")) == [TooLong(LIMIT, b"x" * (LIMIT + 1), end), b"a"]


def test_a_line_without_end_costs_no_more_memory_than_the_limit() -> None:
    lines, chunk = Lines(1 << 20), b"x" * (1 << 16)
    tracemalloc.start()
    try:
        for _ in range(4096):  # 256 MiB
            list(lines.feed(chunk))
        assert tracemalloc.get_traced_memory()[1] < 3 << 20
    finally:
        tracemalloc.stop()
