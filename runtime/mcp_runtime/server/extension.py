"""The server side of an extension: it registers handlers, and adds options to tools.

class Stamps(ServerExtension):
    def attach(self, server: Decorators) -> None:
        server.on("stamps/get")(self.get)

@server.tool(options=[stamps.required])
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext

from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.stores import Store


class ServerExtension(Extension):
    """The server side of an extension. A subclass overrides the methods it needs."""

    def attach(self, server: Decorators) -> None:
        """Register handlers with `server.on`; called once, when the server is made."""

    def sharing(self, store: Store) -> AbstractAsyncContextManager[object]:
        """Enter a context for as long as several processes with a common store serve this server's
        clients.
        """
        return nullcontext()


def attach(server: Decorators, extensions: Iterable[Extension]) -> None:
    """Attach the extensions to a server: each registers its handlers."""
    for one in extensions:
        if isinstance(one, ServerExtension):
            one.attach(server)


@asynccontextmanager
async def sharing(extensions: Iterable[Extension], store: Store) -> AsyncGenerator[None]:
    """Share the state of the extensions by `store`, as long as the context is entered."""
    async with AsyncExitStack() as stack:
        for one in extensions:
            if isinstance(one, ServerExtension):
                await stack.enter_async_context(one.sharing(store))
        yield
