"""An application among the routes of another: of Starlette and of FastAPI, behind a proxy too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from mcp_runtime.stores.sqlite import SQLiteStore
from tests.runtime.server.http.test_legacy_sse import Old
from tests.runtime.server.http.test_serving import lived
from tests.support.asgi_client import (
    GET,
    LATEST,
    SHAKEN,
    Client,
    initialize,
    mirrors,
    plain,
    request,
)
from tests.support.async_tests import run
from tests.support.patience import PATIENCE

Host: TypeAlias = Callable[..., Any]


def in_starlette(place: str, app: Any, **options: Any) -> Any:
    return Starlette(routes=[Mount(place, app=app)], **options)


def in_fastapi(place: str, app: Any, **options: Any) -> Any:
    host = FastAPI(**options)
    host.mount(place, app)
    return host


def in_both(place: str, app: Any, **options: Any) -> Any:
    return Starlette(routes=[Mount("/outer", app=in_fastapi(place, app))], **options)


HOSTS: Final[list[tuple[Host, str]]] = [
    (in_starlette, "/tools"),
    (in_fastapi, "/tools"),
    (in_both, "/outer/tools"),
]
hosts: Final = pytest.mark.parametrize(("host", "place"), HOSTS)
proxied: Final = pytest.mark.parametrize("root", ["", "/api"])
"""What a proxy takes away from the path, and the server puts before it again."""


@asynccontextmanager
async def mounted(
    host: Host, root: str = "", path: str = "/", **options: Any
) -> AsyncGenerator[tuple[Client, dict[str, Any]]]:
    app = plain().asgi(path=path, **options)
    client = Client(host("/tools", app))
    try:
        yield client, {"root_path": root}
    finally:
        for response in client.open:
            response.disconnect()
        await app.drain()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(each.task for each in client.open))


def text(answer: Any) -> str:
    words: str = answer["result"]["content"][0]["text"]
    return words


@hosts
@proxied
@pytest.mark.parametrize("path", ["/", "/mcp"])
async def test_both_eras_are_served_at_the_endpoint_below_the_path(
    host: Host, place: str, root: str, path: str
) -> None:
    async with mounted(host, root, path) as (client, scope):
        at: dict[str, Any] = {"path": root + place + path, **scope}
        response = await client.call("echo", {"text": "one"}, **at).until_over()
        assert text(response.json) == "one"
        session = await client.session(SHAKEN[0], **at)
        assert text((await session.call("echo", {"text": "two"}).until_over()).json) == "two"
        headers = {**GET, **session.headers}
        opened = client.begin("GET", at["path"], headers, **scope)
        assert (await opened.until_events(1)).status == 200
        gone = await client.ask("DELETE", at["path"], headers, **scope)
        assert gone.status == 204
        await opened.until_over()


@hosts
@proxied
async def test_http_with_sse_tells_the_place_below_the_path(
    host: Host, place: str, root: str
) -> None:
    async with mounted(host, root) as (client, scope):
        old = await Old.connect(client, f"{root}{place}/sse", **scope)
        assert old.place.path == f"{root}{place}/messages"
        await old.open()
        call = {"name": "echo", "arguments": {"text": "three"}}
        assert text(await old.ask("tools/call", call, 7)) == "three"


@hosts
async def test_what_lies_beside_the_endpoint_is_told_apart_from_what_lies_beside_the_path(
    host: Host, place: str
) -> None:
    async with mounted(host, path="/mcp") as (client, _):
        message = request("server/discover")
        for path, is_ours in ((f"{place}/other", True), ("/mcp", False), ("/toolsmcp", False)):
            response = await client.post(message, mirrors(message), path=path).until_over()
            assert (response.status, b"jsonrpc" in response.body) == (404, is_ours)


@hosts
async def test_the_path_itself_leads_to_the_endpoint_below_it(host: Host, place: str) -> None:
    async with mounted(host) as (client, _):
        response = await client.call("echo", path=place, scheme="http").until_over()
        assert (response.status, response.headers["location"]) == (
            307,
            f"http://localhost{place}/",
        )


@pytest.mark.parametrize("framework", [Starlette, FastAPI])
async def test_an_endpoint_is_a_route_without_a_path_of_its_own(
    framework: Callable[..., Any],
) -> None:
    app = plain().asgi()
    client = Client(framework(routes=[Route("/mcp", endpoint=app)]))
    session = await client.session()
    assert text((await session.call("echo", {"text": "four"}).until_over()).json) == "four"
    assert (await client.call("echo", {"text": "five"}).until_over()).status == 200
    assert (await session.delete().until_over()).status == 204
    await app.drain()


# ---- middleware of the host


async def named(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response = await call_next(request)
    response.headers["x-host"] = "outer"
    return response


@pytest.mark.parametrize(
    ("middleware", "name", "value"),
    [
        (Middleware(GZipMiddleware, minimum_size=1), "vary", "Accept-Encoding"),
        (Middleware(BaseHTTPMiddleware, dispatch=named), "x-host", "outer"),
    ],
    ids=["gzip", "base"],
)
@hosts
async def test_a_middleware_may_add_headers_to_answers_and_streams(
    host: Host, place: str, middleware: Middleware, name: str, value: str
) -> None:
    app = plain().asgi(path="/")
    client = Client(host("/tools", app, middleware=[middleware]))
    response = await client.call("echo", path=f"{place}/").until_over()
    assert (response.status, response.headers[name]) == (200, value)
    session = await client.session(path=f"{place}/")
    opened = client.begin("GET", f"{place}/", {**GET, **session.headers})
    assert (await opened.until_begun()).status == 200
    await app.drain()
    assert (await opened.until_over()).headers.get(name, value) == value


# ---- lifespans


@hosts
async def test_the_lifespan_is_entered_at_the_first_request_and_left_where_the_host_ends(
    host: Host, place: str
) -> None:
    """A host passes its own lifespan on to no application below it."""

    log: list[str] = []
    app = lived(log).asgi(path="/")

    @asynccontextmanager
    async def lifespan(outer: Any) -> AsyncGenerator[None]:
        log.append("host entered")
        yield
        await app.drain()
        log.append("host left")

    outer = host("/tools", app, lifespan=lifespan)
    events: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.ensure_future(outer({"type": "lifespan"}, events.get, sent.put))
    events.put_nowait({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    assert log == ["host entered"]
    client = Client(outer)
    responses = [client.call("state", path=f"{place}/") for _ in range(5)]
    for each in responses:
        assert text((await each.until_over()).json) == "state"
    assert log == ["host entered", "entered"]
    session = await client.session(path=f"{place}/")
    opened = client.begin("GET", f"{place}/", {**GET, **session.headers})
    await opened.until_begun()
    events.put_nowait({"type": "lifespan.shutdown"})
    assert (await sent.get())["type"] == "lifespan.shutdown.complete"
    await life
    assert (await opened.until_over()).over
    assert log == ["host entered", "entered", "left", "host left"]


@hosts
def test_a_host_that_has_ended_can_be_started_again(host: Host, place: str) -> None:
    """As `with TestClient(app)` does in each test, on an event loop of its own."""
    log: list[str] = []
    app = lived(log).asgi(path="/")
    outer = host("/tools", app)

    async def main() -> None:
        client = Client(outer)
        assert (await client.call("state", path=f"{place}/").until_over()).status == 200
        await app.drain()
        assert (await client.call("state", path=f"{place}/").until_over()).status == 503

    for _ in range(2):
        run(main)
    assert log == ["entered", "left"] * 2


@pytest.mark.parametrize("era", ["handshake", "per-request"])
def test_an_application_goes_on_where_its_event_loop_has_ended(
    era: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with a TestClient that is not entered: each request has an event loop of its own."""
    log: list[str] = []
    client = Client(lived(log).asgi())
    headers: dict[str, str] = {}

    async def begin() -> None:
        if era == "handshake":
            headers.update((await client.session(SHAKEN[-1])).headers)
        assert text((await client.call("state").until_over()).json) == "state"

    async def again() -> None:
        if headers:
            assert (await client.ask("DELETE", "/mcp", {**GET, **headers})).status == 404
        await begin()

    for main in (begin, again, again):
        asyncio.run(main())
    assert log == ["entered", "left"] * 3
    ended = [one.message for one in caplog.records]
    assert all("`with TestClient(app)" in each for each in ended)
    assert len(ended) == (2 if headers else 0)
    assert capsys.readouterr().err == ""


def test_an_event_loop_that_ends_without_drain_leaves_the_store_and_complains_of_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    log: list[str] = []
    store = SQLiteStore(str(tmp_path / "store.db"))
    client = Client(lived(log).asgi(store=store))

    async def main() -> None:
        assert text((await client.call("state").until_over()).json) == "state"

    for _ in range(2):
        asyncio.run(main())
    assert log == ["entered", "left"] * 2
    assert [one.message for one in caplog.records if one.levelname == "ERROR"] == []
    assert capsys.readouterr().err == ""


# ---- pages of other origins


PAGE: Final = "https://page.example"
PREFLIGHT: Final = {
    "host": "localhost",
    "origin": PAGE,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, mcp-protocol-version, mcp-method, mcp-name",
}


async def test_a_page_of_another_origin_is_served_behind_the_middleware_of_the_host() -> None:
    """As docs/HTTP.md says; without it a preflight is no request that the endpoint knows."""

    app: Any = plain().asgi(origins=[PAGE])
    response = await Client(app).ask("OPTIONS", "/mcp", PREFLIGHT)
    assert (response.status, response.headers["allow"]) == (405, "DELETE, GET, POST")
    client = Client(
        CORSMiddleware(
            app,
            allow_origins=[PAGE],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate", "Retry-After"],
        )
    )
    response = await client.ask("OPTIONS", "/mcp", PREFLIGHT)
    assert response.status == 200
    assert response.headers["access-control-allow-origin"] == PAGE
    assert "mcp-name" in response.headers["access-control-allow-headers"]
    begun = await client.post(initialize(SHAKEN[0]), {"origin": PAGE}).until_over()
    assert begun.headers["access-control-allow-origin"] == PAGE
    assert "Mcp-Session-Id" in begun.headers["access-control-expose-headers"]
    message = request("server/discover")
    refused = {**mirrors(message), "origin": "https://evil.example"}
    assert (await client.post(message, refused).until_over()).status == 403
    response = await client.post(message, {**mirrors(message), "origin": PAGE}).until_over()
    assert LATEST in response.json["result"]["supportedVersions"]
    await app.drain()
