"""Headers repeat what a body says, in characters that a header can hold."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_runtime.core.http.header_checks import (
    ParamHeaders,
    decode_header,
    encode_header,
    request_headers,
)
from mcp_runtime.core.wire.jsonrpc import Request
from mcp_runtime.errors import RpcError, TooMuch

VERSION = "2026-07-28"


def headers_of(method: str, marked: ParamHeaders | None = None, **params: Any) -> dict[str, str]:
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION}
    body = json.dumps({**params, "_meta": meta}).encode()
    return request_headers(Request(1, method, body), {"t": marked or {}})


def mirror(value: Any, path: tuple[str, ...] = ("a",)) -> str | None:
    headers = headers_of("tools/call", {"A": path}, name="t", arguments={"a": value})
    return headers.get("Mcp-Param-A")


@pytest.mark.requirement("transport.http.headers.method", "transport.http.headers.on-each-post")
@pytest.mark.requirement("transport.http.version-header.equals-body")
def test_each_request_repeats_its_method_and_version() -> None:
    assert headers_of("tools/list") == {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}


@pytest.mark.requirement("transport.http.headers.name")
def test_what_is_named_is_repeated() -> None:
    uri = "file:///path/to/file%20name.txt"
    assert headers_of("tools/call", name="my-tool")["Mcp-Name"] == "my-tool"
    assert headers_of("prompts/get", name="p q")["Mcp-Name"] == "p q"
    assert headers_of("resources/read", uri=uri)["Mcp-Name"] == uri
    assert "Mcp-Name" not in headers_of("completion/complete", name="p", uri=uri)


@pytest.mark.requirement("transport.http.headers.name-encoded")
def test_a_name_that_no_header_holds_goes_in_base64() -> None:
    assert headers_of("tools/call", name="wetter/Z\u00fcrich")["Mcp-Name"] == (
        "=?base64?d2V0dGVyL1rDvHJpY2g=?="
    )


@pytest.mark.requirement(
    "transport.http.encoding.string", "transport.http.encoding.sentinel-escaped"
)
@pytest.mark.requirement("transport.http.encoding.base64", "transport.http.encoding.markers")
@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("", ""),
        ("us-west1", "us-west1"),
        ("us west 1", "us west 1"),
        ("=?base64?", "=?base64?"),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("Hello, \u4e16\u754c", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        (" ", "=?base64?IA==?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("a\n", "=?base64?YQo=?="),
        ("a\x7f", "=?base64?YX8=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_a_value_goes_as_it_is_or_in_base64(value: str, header: str) -> None:
    assert encode_header(value) == header


@pytest.mark.wide
@pytest.mark.requirement("transport.http.encoding.applied")
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_value_is_a_header_and_comes_back(value: str) -> None:
    header = encode_header(value)
    assert header == header.strip()
    assert all(" " <= character <= "~" for character in header)
    coded = header.startswith("=?base64?") and header.endswith("?=") and len(header) > 10
    assert (b64decode(header[9:-2]).decode() if coded else header) == value


@pytest.mark.requirement("transport.http.encoding.integer", "transport.http.encoding.boolean")
def test_values_are_told_as_json_tells_them() -> None:
    assert [mirror(value) for value in (42, -7, 0, 42.0)] == ["42", "-7", "0", "42"]
    assert [mirror(value) for value in (True, False)] == ["true", "false"]


@pytest.mark.requirement("transport.http.param-headers.omit-absent")
@pytest.mark.requirement("transport.http.param-headers.omit-null")
@pytest.mark.requirement("transport.http.param-headers.exact-path")
def test_what_is_not_there_has_no_header() -> None:
    assert mirror(None) is None
    assert mirror("x", ("b",)) is None
    assert mirror({"b": "x"}, ("a", "b")) == "x"
    assert mirror(["x"], ("a", "0")) is None
    assert mirror({"b": {}}, ("a", "b")) is None
    assert headers_of("tools/call", {"A": ("a",)}, name="t").keys() >= {"Mcp-Name"}


@pytest.mark.requirement("transport.http.param-headers.safe-integer")
def test_an_integer_that_not_every_peer_can_hold_is_not_sent() -> None:
    most = 2**53 - 1
    assert [mirror(most), mirror(-most)] == [str(most), str(-most)]
    for value in (most + 1, -most - 1, 1e300):
        with pytest.raises(TooMuch, match=r"a: -?[0-9]+ is over"):
            mirror(value)


@pytest.mark.parametrize("coded", ["YR==", "YWJ=", "YQ==\n"])
def test_base64_that_is_not_canonical_is_refused(coded: str) -> None:
    with pytest.raises(RpcError) as raised:
        decode_header("Mcp-Name", f"=?base64?{coded}?=")
    assert raised.value.code == -32020
