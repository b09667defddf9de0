"""A FastAPI application with a server at /mcp, beside routes and authentication of its own.

    uvicorn examples.mounted:app --timeout-graceful-shutdown 5
    mcp-bindgen call http://127.0.0.1:8000/mcp --list --header "Authorization: Bearer ada"

A bearer token is the user's name here: put the check of a real one in its place.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    AuthenticationError,
    SimpleUser,
)
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from mcp_runtime import Server

server = Server("shopping", "1.0.0")
items: list[str] = []


@server.tool
async def add(item: str) -> list[str]:
    """Adds an item to the list, and returns the list."""
    items.append(item)
    return items


class BearerNames(AuthenticationBackend):
    """Takes the token for the name of the user."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SimpleUser]:
        scheme, _, token = conn.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise AuthenticationError("a bearer token is needed")
        return AuthCredentials(["authenticated"]), SimpleUser(token)


def refuse(conn: HTTPConnection, error: AuthenticationError) -> Response:
    return JSONResponse({"error": str(error)}, 401, {"WWW-Authenticate": "Bearer"})


def principal(scope: dict[str, Any]) -> str:
    """Whom the middleware has found: sessions belong to the user who began them."""
    return str(scope["user"].display_name)


mcp = server.asgi(path="/mcp", principal=principal)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    yield
    await mcp.drain()


app = FastAPI(lifespan=lifespan)
app.add_middleware(AuthenticationMiddleware, backend=BearerNames(), on_error=refuse)


@app.get("/items")
async def show() -> list[str]:
    """The same list for people."""
    return items


app.mount("", mcp)  # after all other routes
