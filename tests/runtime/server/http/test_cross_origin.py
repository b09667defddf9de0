"""Web pages of other origins: what `run` answers them."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Final

import httpx2
import pytest

from mcp_runtime import Server
from mcp_runtime.server.http.asgi.cross_origin import cross_origin
from mcp_runtime.server.http.uvicorn import serve
from tests.support.asgi_client import SHAKEN, Client, initialize

PAGE: Final = "https://app.example.com"
PREFLIGHT: Final = {
    "host": "localhost",
    "origin": PAGE,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,mcp-param-city",
}


def client_of(origins: list[str]) -> Client:
    app = Server("s", "1").asgi(origins=origins)
    return Client(cross_origin(app, app.origins))


async def test_a_preflight_of_a_named_origin_is_answered() -> None:
    response = await client_of([PAGE]).ask("OPTIONS", "/mcp", PREFLIGHT)
    assert response.status == 204
    assert response.headers["access-control-allow-origin"] == PAGE
    assert response.headers["access-control-allow-headers"] == "content-type,mcp-param-city"
    assert "DELETE" in response.headers["access-control-allow-methods"]
    assert response.headers["access-control-max-age"] == "600"


@pytest.mark.parametrize("origin", ["https://other.example.com", "null", "http://localhost:3000"])
async def test_a_preflight_of_another_origin_is_not_answered(origin: str) -> None:
    response = await client_of([PAGE]).ask("OPTIONS", "/mcp", {**PREFLIGHT, "origin": origin})
    assert response.status in (403, 405)
    assert "access-control-allow-origin" not in response.headers


async def test_the_page_may_read_the_answer_and_what_its_headers_ask_for() -> None:
    response = await client_of([PAGE]).post(initialize(SHAKEN[0]), {"origin": PAGE}).until_over()
    assert (response.status, response.headers["access-control-allow-origin"]) == (200, PAGE)
    exposed = response.headers["access-control-expose-headers"]
    assert exposed == "Mcp-Session-Id, WWW-Authenticate, Retry-After"
    middleware = f"expose_headers={exposed.split(', ')}".replace("'", '"')
    assert middleware in (Path(__file__).parents[4] / "docs/HTTP.md").read_text("utf-8")


async def test_without_a_named_origin_nothing_is_added() -> None:
    app = Server("s", "1").asgi()
    assert cross_origin(app, app.origins) is app


@pytest.mark.real_time
async def test_what_is_served_answers_preflights() -> None:
    url, served = asyncio.get_running_loop().create_future(), Server("s", "1").asgi(origins=[PAGE])
    serving = asyncio.create_task(serve(served, "127.0.0.1:0", url.set_result))
    async with httpx2.AsyncClient() as client:
        response = await client.options(await url, headers={**PREFLIGHT, "host": "127.0.0.1"})
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (204, PAGE)
    signal.raise_signal(signal.SIGTERM)
    await serving
