"""`Client` of `fastmcp`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from mcp_runtime.compat.errors import ToolError
from mcp_runtime.compat.fastmcp.client.transports import transport_of
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.mcp.client.session import ClientSession
from mcp_runtime.compat.mcp.client.transports import Connection


@dataclass
class CallToolResult:
    """The result of a call; `data` is the structured content, unwrapped from `result`."""

    content: list[Any]
    structured_content: dict[str, Any] | None
    meta: dict[str, Any] | None
    data: Any = None
    is_error: bool = False


class Client(Subscriptable):
    """A client of a server object, a URL, a script, or a configuration with one server."""

    def __init__(
        self,
        transport: Any,
        name: str | None = None,
        *,
        timeout: Any = None,
        sampling_handler: Any = None,
        elicitation_handler: Any = None,
        log_handler: Any = None,
        message_handler: Any = None,
        progress_handler: Any = None,
        roots: Any = None,
        auth: Any = None,
        **_: Any,
    ) -> None:
        options = {} if auth is None else {"auth": auth}
        self.transport = transport_of(transport, **options)
        self._options: dict[str, Any] = {
            "read_timeout_seconds": _seconds(timeout),
            "logging_callback": log_handler,
            "message_handler": message_handler,
        }
        self._progress = progress_handler
        self._unsupported(sampling_handler, elicitation_handler, roots)
        self._session: ClientSession | None = None
        self._entered = 0
        self.initialize_result: Any = None

    def _unsupported(self, sampling: Any, elicitation: Any, roots: Any) -> None:
        if sampling is not None or elicitation is not None:
            raise NotImplementedError(
                "sampling_handler, elicitation_handler: write Client(server, on_sample=...,"
                " on_elicit=...) of mcp_runtime"
            )
        if roots is not None:
            given = [str(each) for each in roots]

            async def listed(context: Any) -> Any:
                return {"roots": [{"uri": each} for each in given]}

            self._options["list_roots_callback"] = listed

    @property
    def session(self) -> ClientSession:
        """The open session. Raises RuntimeError before the client is entered."""
        if self._session is None:
            raise RuntimeError("Client is not connected. Use 'async with client:' first.")
        return self._session

    def is_connected(self) -> bool:
        return self._session is not None

    async def __aenter__(self) -> Self:
        self._entered += 1
        if self._entered == 1:
            connection = Connection(self.transport.factory)
            session = ClientSession(connection, connection, **self._options)
            self.initialize_result = await session.initialize()
            self._session = session
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._entered -= 1
        if self._entered == 0 and self._session is not None:
            session, self._session = self._session, None
            await session.__aexit__(*exception)

    async def close(self) -> None:
        """Close the connection."""
        self._entered = 1
        await self.__aexit__(None, None, None)

    # ---- requests

    async def ping(self) -> bool:
        await self.session.send_ping()
        return True

    async def list_tools(self) -> list[Any]:
        return await self._all(self.session.list_tools, "tools")

    async def list_resources(self) -> list[Any]:
        return await self._all(self.session.list_resources, "resources")

    async def list_resource_templates(self) -> list[Any]:
        return await self._all(self.session.list_resource_templates, "resourceTemplates")

    async def list_prompts(self) -> list[Any]:
        return await self._all(self.session.list_prompts, "prompts")

    async def _all(self, request: Callable[..., Any], member: str) -> list[Any]:
        items: list[Any] = []
        cursor = None
        while True:
            page = await request(cursor)
            items += getattr(page, member)
            cursor = page.nextCursor
            if not cursor:
                return items

    async def call_tool_mcp(
        self, name: str, arguments: dict[str, Any] | None = None, **options: Any
    ) -> Any:
        """Call a tool, and return the result of the protocol. Raises McpError."""
        timeout = _seconds(options.get("timeout"))
        progress = options.get("progress_handler") or self._progress
        return await self.session.call_tool(
            name, arguments or {}, timeout, progress, meta=options.get("meta")
        )

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        raise_on_error: bool = True,
        **options: Any,
    ) -> CallToolResult:
        """Call a tool. Raises ToolError for a failed call, unless `raise_on_error` is false."""
        result = await self.call_tool_mcp(name, arguments, **options)
        if result.isError and raise_on_error:
            raise ToolError("".join(getattr(each, "text", "") for each in result.content))
        structured = result.structuredContent
        data = (
            structured["result"] if structured and structured.keys() == {"result"} else structured
        )
        return CallToolResult(
            content=result.content,
            structured_content=structured,
            meta=result.meta,
            data=data,
            is_error=bool(result.isError),
        )

    async def read_resource(self, uri: Any) -> list[Any]:
        result: Any = await self.session.read_resource(uri)
        contents: list[Any] = result.contents
        return contents

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        return await self.session.get_prompt(name, arguments)

    async def complete(
        self, ref: Any, argument: dict[str, str], context_arguments: Any = None
    ) -> Any:
        result: Any = await self.session.complete(ref, argument, context_arguments)
        return result.completion

    async def set_logging_level(self, level: str) -> None:
        await self.session.set_logging_level(level)


def _seconds(timeout: Any) -> timedelta | None:
    if timeout is None or isinstance(timeout, timedelta):
        return timeout
    return timedelta(seconds=timeout)
