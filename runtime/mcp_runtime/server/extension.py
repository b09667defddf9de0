"""What an extension does in a server: it registers handlers, and adds to tools.

class Stamps(ServerExtension):
    def attach(self, server: Decorators) -> None:
        server.on("stamps/get")(self.get)

@server.tool(options=[stamps.required])
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext

from mcp_runtime.core.extension import Extension
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.stores import Store


class ServerExtension(Extension):
    """An extension with something to do in a server; a subclass overrides what it needs."""

    def attach(self, server: Decorators) -> None:
        """Registers handlers with `server.on`; called once, when the server is made."""

    def sharing(self, store: Store) -> AbstractAsyncContextManager[object]:
        """Entered while several processes that share a store serve this server's clients."""
        return nullcontext()


def attach(server: Decorators, extensions: Iterable[Extension]) -> None:
    """Has the extensions register what they do in a server."""
    for one in extensions:
        if isinstance(one, ServerExtension):
            one.attach(server)


@asynccontextmanager
async def sharing(extensions: Iterable[Extension], store: Store) -> AsyncGenerator[None]:
    """While entered, the extensions share what they keep by that store."""
    async with AsyncExitStack() as stack:
        for one in extensions:
            if isinstance(one, ServerExtension):
                await stack.enter_async_context(one.sharing(store))
        yield
