"""`Context` of `FastMCP` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic

from mcp_runtime.compat.context import (
    RequestContext,
    ServerSession,
    elicitation,
    request_context,
)
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp_runtime.server.context import Context as NativeContext

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    _Session = TypeVarWithDefault("_Session", default=Any)
    _Lifespan = TypeVarWithDefault("_Lifespan", default=Any)
    _Request = TypeVarWithDefault("_Request", default=Any)

    class _Subscripted(Generic[_Session, _Lifespan, _Request]): ...

else:
    _Session = _Lifespan = _Request = Any
    _Subscripted = Subscriptable


class Context(_Subscripted[_Session, _Lifespan, _Request]):
    """The context of a request: a function gets it in a parameter annotated `Context`."""

    def __init__(
        self,
        *,
        request_context: RequestContext | None = None,
        fastmcp: Any = None,
        native: NativeContext | None = None,
        **_: Any,
    ) -> None:
        self._request_context = request_context
        self._fastmcp = fastmcp
        self._native = native

    @property
    def native(self) -> NativeContext:
        """The native context. Raises ValueError outside of a request."""
        if self._native is None:
            raise ValueError("Context is not available outside of a request")
        return self._native

    @property
    def fastmcp(self) -> Any:
        """The server."""
        return self._fastmcp

    @property
    def request_context(self) -> RequestContext:
        if self._request_context is None:
            self._request_context = request_context(self.native)
        return self._request_context

    @property
    def session(self) -> ServerSession:
        session: ServerSession = self.request_context.session
        return session

    @property
    def request_id(self) -> str:
        return str(self.request_context.request_id)

    @property
    def client_id(self) -> str | None:
        """The member `client_id` of the request's `_meta`."""
        return getattr(self.request_context.meta, "client_id", None)

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send progress, if the client asked for it."""
        await self.native.progress(progress, total, message)

    async def read_resource(self, uri: Any) -> Iterable[ReadResourceContents]:
        """Return the contents of a resource of this server. Raises RpcError if there is none."""
        contents = await self.native.read(str(uri))
        return [ReadResourceContents.of(each) for each in contents]

    async def elicit(self, message: str, schema: Any) -> Any:
        """Ask the user to fill in a form, which is a flat model of pydantic."""
        return elicitation(await self.native.elicit(message, schema))

    async def elicit_url(self, message: str, url: str, elicitation_id: str) -> Any:
        """Send the user to a web page."""
        answer = await self.native.elicit_url(message, url, elicitation_id=elicitation_id)
        return elicitation(answer)

    async def log(
        self, level: Any, message: str, *, logger_name: str | None = None, **extra: Any
    ) -> None:
        """Send a log message to the client."""
        await self.native.log(level, message, logger_name)

    async def debug(self, message: str, **extra: Any) -> None:
        await self.log("debug", message, **extra)

    async def info(self, message: str, **extra: Any) -> None:
        await self.log("info", message, **extra)

    async def warning(self, message: str, **extra: Any) -> None:
        await self.log("warning", message, **extra)

    async def error(self, message: str, **extra: Any) -> None:
        await self.log("error", message, **extra)

    async def close_sse_stream(self) -> None:
        """Close the response; the client reconnects for the answer."""
        await self.native.pause()


def make_context(native: NativeContext | None) -> Context:
    server = None if native is None else getattr(native.server, "facade", None)
    return Context(native=native, fastmcp=server)
