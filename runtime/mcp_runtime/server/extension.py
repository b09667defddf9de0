"""The server side of an extension: it registers handlers, and adds options to tools.

class Stamps(ServerExtension):
    def attach(self, server: Decorators) -> None:
        server.on("stamps/get")(self.get)

@server.tool(options=[stamps.required])
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext

from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.server.decorators import Decorators, dispatcher_of
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
    shared_parts = dispatcher_of(server).shared_parts
    for one in extensions:
        if isinstance(one, ServerExtension):
            one.attach(server)
            shared_parts.append(one.sharing)
