"""Which pages may connect: by their origin as such, or by its host where it is a web page."""

from __future__ import annotations

import pytest

from mcp_runtime.core.http.http_rules import Hosts

OURS = Hosts(["example.com", "example.org:8000"], ["https://other.example"])


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "http://example.com",
        "https://EXAMPLE.com:8443",
        "https://example.org:8000",
        "https://other.example",
    ],
)
def test_a_page_of_a_host_or_origin_that_is_named_may_connect(origin: str | None) -> None:
    assert OURS.admits_origin(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "example.com",
        "ftp://example.com",
        "file://example.com",
        "chrome-extension://example.com",
        "https://example.org",
        "https://example.org:8001",
        "http://other.example",
        "https://example.com.evil.example",
        "https://example.com@evil.example",
        "https://evil.example/https://example.com",
    ],
)
def test_no_other_page_may_connect(origin: str) -> None:
    assert not OURS.admits_origin(origin)
