"""`Bridge`: serves clients of any revision in front of servers of any revision.

Bridge("https://example.com/mcp").server.run()
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

from mcp_runtime.bridge.config import read_config
from mcp_runtime.bridge.engine import Engine
from mcp_runtime.bridge.front import Front, FrontOptions
from mcp_runtime.bridge.hooks import Allow, Observe, Rewrite
from mcp_runtime.bridge.names import clashes
from mcp_runtime.bridge.upstream import Target, upstreams
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.server.server import Server

if TYPE_CHECKING:
    from mcp_runtime.extensions.tasks.server import Tasks


class Bridge:
    """A server whose features are those of the `upstream` server, or of several by their names.

    `server` is the side of the clients: run it as any other, or give it to `Client`. Without a
    `name` it introduces itself as its only server does. `front` are options of `Server`, such as
    `revisions`, `auth` and `keys`. Of several servers each has its
    name as a prefix, unless an `Upstream` says otherwise.

    `allow` decides about each feature: a refused one is neither listed nor served. `rewrite` may
    change params before they are sent, and results before they are passed on. `observe` gets each
    request with its losses. With `tasks` the bridge keeps tasks itself, for clients of both eras,
    instead of passing them on to a server of the same revision. A client's token is never passed
    on: a server gets the `headers` and the `auth` of its `Upstream`.

    Raises ValueError for servers whose names could take one another's place.
    """

    def __init__(
        self,
        upstream: Target | Mapping[str, Target],
        *,
        allow: Allow | None = None,
        rewrite: Rewrite | None = None,
        observe: Observe | None = None,
        name: str = "",
        limits: Limits = DEFAULT,
        tasks: Tasks | None = None,
        **front: Unpack[FrontOptions],
    ) -> None:
        known = upstreams(upstream)
        if faults := [*clashes({name: each.names for name, each in known.items()})]:
            raise ValueError("; ".join(faults))
        kept = None
        if tasks is not None:
            from mcp_runtime.bridge.tasks import KeptTasks

            kept = KeptTasks(tasks)
            front = {**front, "extensions": [tasks]}
        engine = Engine(
            known,
            allow=allow,
            rewrite=rewrite,
            observe=observe,
            limits=limits,
            needs_one=True,
            tasks=kept,
        )
        self.server: Final = Front(
            name, engine.watching.watch, engine.running, engine.expect, limits, front
        )
        """The server in front, for clients."""
        engine.serve(self.server)
        self.server.on("notifications/roots/list_changed")(engine.announce_roots)


def config_server(path: str | Path) -> Server:
    """Return one server in front of all servers of an `mcp.json`, for `Client.from_config`.

    Raises as `read_config` does.
    """
    return Bridge(read_config(path)).server
