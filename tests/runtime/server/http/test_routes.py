"""Functions for paths beside the endpoint answer everyone but web pages that change something."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.server.http import Document
from mcp_runtime.server.routes import Reply, RouteRequest
from tests.support.asgi_client import Client, Response

ELSEWHERE: Final = {"host": "clinic.example"}


def clinic() -> Server:
    server = Server("clinic", "1")

    @server.route("GET", "/health")
    async def health(request: RouteRequest) -> str:
        return "ok"

    @server.route("post", "/hook")
    async def hook(request: RouteRequest) -> dict[str, Any]:
        text = request.body.decode()
        return {"query": request.query, "body": text, "to": request.headers["X-To"]}

    @server.route("GET", "/gone")
    async def gone(request: RouteRequest) -> Reply:
        return Reply(body=b"<p>", status=410, media_type="text/html", headers={"X-By": "me"})

    @server.route("GET", "/raw")
    async def raw(request: RouteRequest) -> bytes:
        return request.path.encode()

    @server.route("GET", "/broken")
    async def broken(request: RouteRequest) -> bytes:
        raise ValueError("secret-in-exception")

    return server


async def get(path: str) -> Response:
    return await Client(clinic().asgi()).ask("GET", path, ELSEWHERE)


@pytest.mark.parametrize(
    ("path", "status", "media_type", "body"),
    [
        ("/health", 200, "text/plain; charset=utf-8", b"ok"),
        ("/health/", 200, "text/plain; charset=utf-8", b"ok"),
        ("/gone", 410, "text/html", b"<p>"),
        ("/raw", 200, "application/octet-stream", b"/raw"),
    ],
)
async def test_a_value_becomes_a_response(
    path: str, status: int, media_type: str, body: bytes
) -> None:
    response = await get(path)
    assert (response.status, response.body) == (status, body)
    assert response.headers["content-type"] == media_type
    assert response.headers.get("x-by") == ("me" if path == "/gone" else None)


async def test_a_route_reads_the_request() -> None:
    client = Client(clinic().asgi())
    response = await client.ask(
        "POST", "/hook", {**ELSEWHERE, "x-to": "Ada"}, [b"hel", b"lo"], query="a=1"
    )
    assert response.status == 200
    assert json.loads(response.body) == {"query": "a=1", "body": "hello", "to": "Ada"}
    assert (await client.ask("DELETE", "/hook", ELSEWHERE)).status == 405


async def test_a_web_page_changes_nothing() -> None:
    """A page whose name leads to this machine could otherwise use it without its user."""
    client = Client(clinic().asgi())
    page = {**ELSEWHERE, "origin": "https://evil.example"}
    assert (await client.ask("POST", "/hook", {**page, "x-to": "Ada"}, [b"x"])).status == 403
    assert (await client.ask("GET", "/health", page)).status == 200


async def test_the_text_of_an_exception_stays_here(caplog: pytest.LogCaptureFixture) -> None:
    response = await get("/broken")
    assert response.status == 500
    assert b"internal error (reference " in response.body
    assert b"secret" not in response.body
    assert "GET /broken failed" in caplog.text


def test_a_path_has_a_slash_and_one_function_for_each_method() -> None:
    server = clinic()
    with pytest.raises(ValueError, match="begin it with a slash"):
        server.route("GET", "health")
    with pytest.raises(ValueError, match="GET /health has a function already"):
        server.route("get", "/health")
    with pytest.raises(ValueError, match="/health is served already"):
        server.asgi(health="/health")
    about = Document("text/plain", b"about")
    assert server.asgi(documents={"/about": about}) is not None
