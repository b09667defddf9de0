"""Which era a POST belongs to."""

from __future__ import annotations

import pytest

from mcp_runtime.core.http_rules import is_per_request

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
