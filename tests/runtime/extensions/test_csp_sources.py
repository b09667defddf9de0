"""The policy of a page names origins, and nothing that would open it to everyone."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime import Server
from mcp_runtime.extensions import apps
from mcp_runtime.extensions.apps import models

MEMBERS = ("connect_domains", "resource_domains", "frame_domains", "base_uri_domains")


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    "source",
    [
        *("*", "https:", "javascript:alert(1)", "data:", "blob:", "'unsafe-inline'", "'self'"),
        *("https://a.example https://b.example", "https://a.example;", "https://a.example,b", ""),
        *("https://a.example\n", "\nhttps://a.example", "https://a.example; script-src *"),
        *("https://*", "https://a.*.example", "https://", "//a.example", "a.example", "ftp://a"),
        *("https://u@a.example", "https://a.example?x", "https://a.example#x", "https://ä.example"),
        *("https://a.example'", 'https://a.example"', "HTTPS://a.example:999999", 3, None),
    ],
)
def test_what_is_no_origin_is_refused(member: str, source: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        apps.Csp(**{member: [source]})


@pytest.mark.parametrize(
    "source",
    [
        *("https://api.example.com", "https://*.example.com", "wss://live.example.com:8443"),
        *("http://localhost:3000", "http://127.0.0.1:*", "https://cdn.example.com/lib/a-1.2.js"),
        *("https://[2606:4700::1]:8080", "HTTPS://Example.COM"),
    ],
)
def test_an_origin_is_taken(source: str) -> None:
    server = Server("s", "1", extensions=[apps.extension])
    csp = apps.Csp(connect_domains=[source], frame_domains=[source])
    apps.resource(server, "ui://s/page", "<p>", csp=csp)
    assert models.to_wire(csp) == {"connectDomains": [source], "frameDomains": [source]}


def test_a_policy_that_was_made_otherwise_is_checked_too() -> None:
    server = Server("s", "1", extensions=[apps.extension])
    plain = models.McpUiResourceCsp(connect_domains=["*"])
    with pytest.raises(ValueError, match="is not an origin"):
        apps.resource(server, "ui://s/page", "<p>", csp=plain)
    changed = apps.Csp(connect_domains=[])
    assert isinstance(changed.connect_domains, list)
    changed.connect_domains.append("*")
    with pytest.raises(ValueError, match="is not an origin"):
        apps.resource(server, "ui://s/page", "<p>", csp=changed)
