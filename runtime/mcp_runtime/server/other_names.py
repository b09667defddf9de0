"""Errors of missing attributes: for names of other libraries they give the name to use here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeVar

_T = TypeVar("_T")

CONTEXT_NAMES: Final[Mapping[str, str]] = {
    "report_progress": "ctx.progress(1, 3)",
    "read_resource": "ctx.read(uri)",
    "session": "ctx.sample(...), ctx.elicit(...), ctx.roots()",
    "request_context": "ctx.lifespan, ctx.client_info",
    "lifespan_context": "ctx.lifespan",
    "list_roots": "ctx.roots()",
    "notify_resource_updated": "server.resource_updated(uri)",
    "notify_tools_changed": "nothing: server.add_tool and server.remove_tool tell clients",
    "set_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "get_state": "a dict in ctx.lifespan, with ctx.principal as its key",
    "input_responses": "await ctx.elicit(...)",
}
"""By attribute of a context in other libraries, the name to use here."""

SERVER_NAMES: Final[Mapping[str, str]] = {
    "streamable_http_app": "server.asgi()",
    "http_app": "server.asgi()",
    "sse_app": "server.asgi(), which serves HTTP+SSE too",
    "run_async": "await server.run_stdio()",
    "run_stdio_async": "await server.run_stdio()",
    "add_resource": "server.resource(uri)(function)",
    "add_request_handler": "server.on(method)",
    "custom_route": 'server.asgi(health="/health"), or mount the application',
}
"""By attribute of a server in other libraries, the name to use here."""


class _Elsewhere:
    """An attribute other libraries have; reading it raises AttributeError with our name."""

    __slots__ = ("_name", "_ours")

    def __init__(self, name: str, ours: str) -> None:
        self._name, self._ours = name, ours

    def __get__(self, instance: object, owner: type) -> NoReturn:
        what = f"{owner.__name__!r} object has no attribute {self._name!r}"
        raise AttributeError(f"{what}; write {self._ours}", name=self._name, obj=instance)


def with_other_names(names: Mapping[str, str]) -> Callable[[type[_T]], type[_T]]:
    """Decorate a class: for an attribute other libraries have, the AttributeError gives our name.

    Source: docs/FROM-MCP.md.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        for name, ours in names.items():
            assert not hasattr(cls, name), name
            setattr(cls, name, _Elsewhere(name, ours))  # `__getattr__` would slow down the others
        return cls

    return decorate
