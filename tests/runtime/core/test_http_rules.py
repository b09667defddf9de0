"""Which era a POST belongs to, and the status of what answers it."""

from __future__ import annotations

import pytest

from mcp_runtime.core.http.http_rules import is_per_request, status

NAME = b"io.modelcontextprotocol/protocolVersion"


@pytest.mark.parametrize(
    "name", [NAME, NAME.replace(b"i", rb"\u0069", 1), NAME.replace(b"/", rb"\/")]
)
def test_a_body_names_its_revision_however_the_name_is_written(name: bytes) -> None:
    body = b'{"id":1,"method":"tools/list","params":{"_meta":{"%b":"2026-07-28"}}}' % name
    assert is_per_request({"mcp-protocol-version": "2025-11-25"}, body)


@pytest.mark.parametrize("text", [NAME, rb"a \\ b", b""])
def test_a_body_that_has_the_name_elsewhere_names_no_revision(text: bytes) -> None:
    body = b'{"id":1,"method":"tools/call","params":{"arguments":{"text":"%b"}}}' % text
    assert not is_per_request({}, body)


@pytest.mark.parametrize(
    ("code", "number"),
    [
        *((-32700, 400), (-32600, 400), (-32601, 404), (-32602, 200), (-32603, 200)),
        *((-32000, 503), (-32020, 400), (-32021, 400), (-32022, 400), (7, 200)),
    ],
)
def test_an_error_that_answers_a_post_has_the_status_of_its_code(code: int, number: int) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}' % code
    assert status(body, at_once=False) == number
    assert status(body, at_once=True) == (400 if code == -32602 else number)
