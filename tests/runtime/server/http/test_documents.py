"""Public documents beside the endpoint: anyone may read them; caches ask what has changed."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from mcp_runtime.server.http import Document
from mcp_runtime.server.http.asgi.cross_origin import cross_origin
from tests.support.asgi_client import Client, Response

PATH: Final = "/mcp/about"
ABOUT: Final = Document("application/about+json", b'{"name":"s"}', max_age=60)
ORIGIN: Final = "https://app.example.com"
ELSEWHERE: Final = {"host": "mcp.example.com", "origin": ORIGIN}


class Nobody:
    """Knows no token."""

    keeps = 0.0

    async def verify(self, token: str, /) -> VerifiedToken:
        raise InvalidToken("the token is not known")


def served(**options: Any) -> Client:
    return Client(Server("s", "1").asgi(documents={PATH: ABOUT}, **options))


async def read(client: Client, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.ask("GET", PATH, {**ELSEWHERE, **named})


async def test_anyone_may_read_a_document() -> None:
    """Also under a host, and from an origin, that may not use the endpoint."""
    response = await read(served())
    assert (response.status, response.body) == (200, b'{"name":"s"}')
    assert response.headers["content-type"] == "application/about+json"
    assert response.headers["cache-control"] == "public, max-age=60"
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["access-control-expose-headers"] == "ETag"


async def test_a_document_needs_no_token() -> None:
    auth = BearerAuth(Nobody(), issuer="https://as.example", resource="https://mcp.example/mcp")
    client = served(auth=auth)
    assert (await read(client)).status == 200
    assert (await client.ask("GET", "/mcp", {"host": "localhost"})).status == 401


@pytest.mark.parametrize("asked", ["{}", "W/{}", '"other", {}', "*"])
async def test_whoever_has_the_document_is_told_that_it_has_not_changed(asked: str) -> None:
    tag = (await read(served())).headers["etag"]
    response = await read(served(), if_none_match=asked.format(tag))
    assert (response.status, response.body) == (304, b"")
    assert response.headers["etag"] == tag
    assert "content-length" not in response.headers


async def test_whoever_has_another_document_gets_this_one() -> None:
    other = Client(Server("s", "1").asgi(documents={PATH: Document("text/plain", b"old")}))
    tag = (await read(other)).headers["etag"]
    assert (await read(served(), if_none_match=tag)).status == 200


async def test_a_web_page_may_ask_with_the_tag_that_it_has() -> None:
    response = await served().ask("OPTIONS", PATH, ELSEWHERE)
    assert response.status == 204
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["access-control-allow-methods"] == "GET"
    assert response.headers["access-control-allow-headers"] == "Content-Type, If-None-Match"


async def test_a_named_origin_is_allowed_once() -> None:
    """A browser refuses an answer that allows two origins."""
    app = Server("s", "1").asgi(documents={PATH: ABOUT}, origins=[ORIGIN])
    response = await read(Client(cross_origin(app, app.origins)))
    allowed = [value for name, value in response.raw if name == b"access-control-allow-origin"]
    assert allowed == [b"*"]


async def test_a_document_is_only_read() -> None:
    response = await served().ask("POST", PATH, ELSEWHERE)
    assert (response.status, response.headers["allow"]) == (405, "GET, OPTIONS")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/sse", "/messages", "/health"])
def test_a_path_that_serves_something_else_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=f"{path} is served already"):
        Server("s", "1").asgi(documents={path: ABOUT}, health="/health")


@pytest.mark.parametrize(
    "paths",
    [
        {"health": "/mcp"},
        {"ready": "/messages"},
        {"health": "/up", "ready": "/up/"},
        {"sse": "/mcp"},
        {"messages": "/mcp/"},
    ],
)
def test_a_path_serves_one_thing(paths: dict[str, str]) -> None:
    """A health check answers everyone: the endpoint at its path would be open to all."""
    with pytest.raises(ValueError, match="is served already"):
        Server("s", "1").asgi(**paths)
