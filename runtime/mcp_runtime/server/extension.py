"""What an extension does in a server: it registers handlers, and adds to tools.

class Stamps(ServerExtension):
    def attach(self, server: Decorators) -> None:
        server.on("stamps/get")(self.get)

@server.tool(options=[stamps.required])
"""

from __future__ import annotations

from collections.abc import Iterable

from mcp_runtime.core.extension import Extension
from mcp_runtime.server.decorators import Decorators

__all__ = ["ServerExtension", "attach"]


class ServerExtension(Extension):
    """An extension with something to do in a server; a subclass overrides what it needs."""

    def attach(self, server: Decorators) -> None:
        """Registers handlers with `server.on`; called once, when the server is made."""


def attach(server: Decorators, extensions: Iterable[Extension]) -> None:
    """Has the extensions register what they do in a server."""
    for one in extensions:
        if isinstance(one, ServerExtension):
            one.attach(server)
