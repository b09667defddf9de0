"""The header WWW-Authenticate is read as RFC 9110 says, whatever servers make of it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_runtime.auth.challenge import Challenge, challenges, write_challenge


def bearer(**parameters: str) -> Challenge:
    return Challenge("bearer", parameters)


@pytest.mark.parametrize(
    ("header", "parsed"),
    [
        (None, []),
        ("", []),
        ("Bearer", [bearer()]),
        ('Bearer scope="a b"', [bearer(scope="a b")]),
        ("bearer SCOPE=a , error = bad", [bearer(scope="a", error="bad")]),
        (r'Bearer realm="a \"b\", c=d"', [bearer(realm='a "b", c=d')]),
        (
            'Basic realm="x", Bearer scope=a',
            [Challenge("basic", {"realm": "x"}), bearer(scope="a")],
        ),
        ("Negotiate, Bearer scope=a", [Challenge("negotiate", {}), bearer(scope="a")]),
        ("Negotiate YWJj==, Bearer", [Challenge("negotiate", {}), bearer()]),
        ("Bearer scope=a, scope=b", [bearer(scope="a")]),
        ('Bearer scope="never closed', [bearer()]),
        ("=", []),
    ],
)
def test_a_header_is_its_challenges(header: str | None, parsed: list[Challenge]) -> None:
    assert list(challenges(header)) == parsed


@given(st.text(max_size=300))
def test_any_header_is_read(header: str) -> None:
    for challenge in challenges(header):
        assert challenge.scheme == challenge.scheme.lower()


_PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=40)


@given(st.dictionaries(st.sampled_from(("scope", "error", "resource_metadata")), _PRINTABLE))
def test_what_is_written_is_read_back(parameters: dict[str, str]) -> None:
    assert challenges(write_challenge("Bearer", parameters)) == (Challenge("bearer", parameters),)


def test_a_challenge_cannot_smuggle_another_header() -> None:
    with pytest.raises(ValueError, match="visible ASCII"):
        write_challenge("Bearer", {"error_description": "x\r\nSet-Cookie: a=b"})


def test_a_long_header_costs_no_more_than_its_beginning() -> None:
    assert len(challenges("a=b," * 100_000 + "Bearer")) == 0


def test_spaces_in_a_header_are_read_once() -> None:
    began = time.process_time()
    for _ in range(5):
        assert challenges("Bearer" + " " * 8000 + "?") == (bearer(),)
    assert time.process_time() - began < 1
