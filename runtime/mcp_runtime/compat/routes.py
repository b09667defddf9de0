"""Endpoints beside the protocol's, which Starlette serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from mcp_runtime.server.http.app import HttpApp


class Route(Struct, frozen=True):
    """An endpoint beside the protocol's: a function of a Starlette request."""

    path: str
    methods: tuple[str, ...]
    endpoint: Callable[..., Any]


class RoutedApp:
    """An HttpApp with other routes before it, which Starlette serves."""

    def __init__(self, app: HttpApp, routes: Iterable[Route]) -> None:
        from starlette.routing import Match
        from starlette.routing import Route as StarletteRoute

        self.app = app
        self._full: Final = Match.FULL
        self._routes = [
            StarletteRoute(each.path, each.endpoint, methods=list(each.methods)) for each in routes
        ]
        self.path, self.limits = app.path, app.limits
        self.origins, self.hosts = app.origins, app.hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for route in self._routes if scope["type"] == "http" else ():
            match, more = route.matches(scope)
            if match is self._full:
                await route.handle({**scope, **more}, receive, send)
                return
        await self.app(scope, receive, send)

    async def drain(self) -> None:
        await self.app.drain()
