"""A protected server among the routes of FastAPI or Starlette, which have users of their own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

import httpx2
import pytest
from fastapi import Depends, FastAPI
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from starlette.applications import Starlette
from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    SimpleUser,
    requires,
)
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from mcp_runtime import Client, Context, Server
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.revisions import ALL
from tests.runtime.auth.test_protected_server import Issuer, protected, text
from tests.support.uvicorn_served import served

SECRET: Final = "of-the-host"


def basic(user: str) -> str:
    return "Basic " + b64encode(f"{user}:{SECRET}".encode()).decode()


class Users(AuthenticationBackend):
    """The host's own users, by HTTP Basic; what else a request shows is not for it."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SimpleUser] | None:
        shown = conn.headers.get("authorization", "")
        for user in ("ann", "eve"):
            if shown == basic(user):
                return AuthCredentials(["user"]), SimpleUser(user)
        return None


@requires("user")
async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"page of {request.user.display_name}")


def in_starlette(app: Any, metadata: str) -> Any:
    return Starlette(
        routes=[
            Route("/page", page),
            Route(metadata, app),
            Mount("/tools", app),
        ],
        middleware=[Middleware(AuthenticationMiddleware, backend=Users())],
    )


def in_fastapi(app: Any, metadata: str) -> Any:
    host = FastAPI()

    @host.get("/page")
    async def own(user: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]) -> str:
        assert user.password == SECRET
        return f"page of {user.username}"

    host.add_route(metadata, app)
    host.mount("/tools", app)
    return host


both: Final = pytest.mark.parametrize("host", [in_starlette, in_fastapi])


@asynccontextmanager
async def hosted(host: Callable[..., Any]) -> AsyncGenerator[Issuer]:
    """A protected server at /tools/mcp of a host, at the origin of its authorization server."""
    apps: dict[str, Any] = {}

    async def route(scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        is_issuer = path in ("/token", "/register") or "authorization-server" in path
        await apps["issuer" if is_issuer else "host"](scope, receive, send)

    async with served(route) as origin:
        issuer = apps["issuer"] = Issuer(origin, f"{origin}/tools/mcp")
        server = protected(issuer)
        app = server.asgi()
        assert server.auth is not None
        apps["host"] = host(app, server.auth.metadata_paths[0])
        yield issuer
        await app.drain()


@both
@pytest.mark.parametrize("revision", [ALL[-2], ALL[-1]])
@pytest.mark.parametrize("dpop", [False, True])
async def test_a_person_signs_in_to_the_server_and_not_to_the_host(
    host: Callable[..., Any], revision: str, dpop: bool
) -> None:
    async with hosted(host) as issuer:
        auth = OAuth(redirect=issuer.world.redirect, dpop=dpop)
        async with Client.http(issuer.world.resource, auth=auth, revisions=[revision]) as who:
            assert await text(who, "whoami") == "ann read"
        assert issuer.world.asked[-1].endswith("/token")


@both
async def test_neither_takes_what_was_given_out_for_the_other(host: Callable[..., Any]) -> None:
    async with hosted(host) as issuer, httpx2.AsyncClient() as http:
        issuer.world.valid.add("a-token")
        page, tools = f"{issuer.world.issuer}/page", issuer.world.resource
        token = {"authorization": "Bearer a-token"}
        user = {"authorization": basic("ann")}
        assert (await http.get(page, headers=user)).text.strip('"') == "page of ann"
        assert (await http.get(page, headers=token)).status_code in (401, 403)
        assert (await http.post(tools, headers=user)).status_code == 401
        assert (await http.post(tools, headers=token)).status_code == 415


@both
async def test_the_challenge_leads_to_metadata_that_the_host_serves(
    host: Callable[..., Any],
) -> None:
    async with hosted(host) as issuer, httpx2.AsyncClient() as http:
        refusal = await http.post(issuer.world.resource)
        place = f"{issuer.world.issuer}/.well-known/oauth-protected-resource/tools/mcp"
        assert f'resource_metadata="{place}"' in refusal.headers["www-authenticate"]
        assert (await http.get(place)).json()["resource"] == issuer.world.resource


async def test_the_users_of_the_host_are_the_principals_of_a_server_without_tokens() -> None:
    server = Server("hosted", "1")

    @server.tool
    async def whoami(ctx: Context) -> str:
        return ctx.principal

    app = server.asgi(path="/", principal=lambda scope: scope["user"].display_name)
    middleware = [Middleware(AuthenticationMiddleware, backend=Users())]
    host = Starlette(routes=[Mount("/tools", app)], middleware=middleware)
    async with served(host) as origin:
        url = f"{origin}/tools/"
        for revision in (ALL[-2], ALL[-1]):
            for user in ("ann", "eve"):
                headers = {"Authorization": basic(user)}
                async with Client.http(url, headers=headers, revisions=[revision]) as who:
                    assert await text(who, "whoami") == user
        headers = {"Authorization": basic("ann")}
        async with Client.http(url, headers=headers, revisions=[ALL[-2]]) as ann:
            session = {"Mcp-Session-Id": str(vars(ann.connection)["_session_id"])}
            async with httpx2.AsyncClient() as http:
                stolen = {"Authorization": basic("eve"), **session}
                assert (await http.delete(url, headers=stolen)).status_code == 404
            assert await text(ann, "whoami") == "ann"
        await app.drain()
