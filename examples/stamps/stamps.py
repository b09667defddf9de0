"""An extension of the protocol, made outside of mcp_runtime: documents that wait for their stamps.

Its bindings, `stamps_wire`, were generated from its schema:

mcp-bindgen generate --extension schema/stamps.ts --revision stamps@1 --core 2026-07-28 \\
    --import ./core.js=2026-07-28 --import ./shared.js=schema/shared.ts --flavour msgspec \\
    --decisions schema/decisions.toml --out stamps_wire
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from stamps_wire import calls_msgspec as calls
from stamps_wire import models_msgspec as m

from mcp_runtime import Context, RpcError, types
from mcp_runtime.extensions import (
    ClientExtension,
    ClientView,
    Decorators,
    ServerExtension,
    ToolOption,
    typed_calls,
)


class Stamps(ServerExtension, ClientExtension):
    """Tools with the option `later` answer with the id of a stamp; a client fetches the rest.

    A client that does not declare the extension waits for the result of the tool, as ever.
    """

    def __init__(self) -> None:
        super().__init__(calls, names={"stamps/get": "stampId"})
        self.later = Later(self)
        self.stamped: dict[str, m.GetStampResult] = {}
        self.marks: list[m.Mark] = []

    # ---- in a server

    def attach(self, server: Decorators) -> None:
        @server.on("stamps/get")
        async def get(params: m.GetStampRequestParams, ctx: Context) -> m.GetStampResult:
            if (stamp := self.stamped.get(params.stamp_id)) is None:
                raise RpcError(-32602, f"there is no stamp {params.stamp_id!r}")
            return stamp

    def keep(self, text: str) -> m.StampedResult:
        """Stamps a text; what a client gets is the id of the stamp."""
        stamp_id = f"stamp-{len(self.stamped) + 1}"
        mark = m.Mark(office="Oslo", day=1)
        self.stamped[stamp_id] = m.GetStampResult(text=text, marks=[mark])
        return m.StampedResult(stamp_id=stamp_id)

    # ---- in a client

    async def finish(
        self, client: ClientView, params: types.CallToolRequestParams, result: Any, **options: Any
    ) -> types.CallToolResult:
        """Fetches the document of a stamp."""
        stamps = typed_calls(calls.ClientCalls, client)
        wanted = m.GetStampRequestParams(stamp_id=result.stamp_id, meta=client.meta())
        document = await stamps.get_stamp(wanted)
        offices = ", ".join(mark.office for mark in document.marks)
        content = types.TextContent(text=f"{document.text} (stamped in {offices})")
        return types.CallToolResult(content=[content], result_type="complete")

    def notified(self, method: str, params: m.StampedNotificationParams) -> None:
        self.marks.append(params.mark)


class Later(ToolOption):
    """The option of a tool whose result is stamped."""

    def __init__(self, stamps: Stamps) -> None:
        self.stamps = stamps

    async def call(
        self,
        params: types.CallToolRequestParams,
        ctx: Context,
        handler: Callable[[Any, Context], Awaitable[Any]],
    ) -> Any:
        result = await handler(params, ctx)
        if self.stamps.identifier not in ctx.extensions or result.is_error is True:
            return result
        return self.stamps.keep(result.content[0].text)
