"""One attempt of a client's request: it is sent to the upstream server, and reported."""

from __future__ import annotations

import json
import logging
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import structs

from mcp_runtime.bridge.hooks import Crossing, Loss
from mcp_runtime.bridge.link import Link
from mcp_runtime.bridge.losses import losses
from mcp_runtime.bridge.ongoing import Ongoing, resumed_id
from mcp_runtime.client.client import Client
from mcp_runtime.client.requests import narrow_to_not_found
from mcp_runtime.core.wire import error_codes, rpc_errors
from mcp_runtime.errors import (
    BadAnswer,
    NotFound,
    NotOffered,
    RemoteError,
    RpcError,
    SessionError,
    TimedOut,
    ToolError,
    TooMuch,
)
from mcp_runtime.revisions import Position, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.functions.output_schema import failed_call
from mcp_runtime.server.methods import Handler

if TYPE_CHECKING:
    from mcp_runtime.bridge.tasks import KeptTasks

log: Final = logging.getLogger("mcp_runtime.bridge")


class Attempt(Protocol):
    """A request of a client on its way to the server `upstream`; `name` is that of its feature."""

    @property
    def method(self) -> str: ...
    @property
    def ctx(self) -> Context: ...
    @property
    def name(self) -> str: ...
    @property
    def upstream(self) -> str: ...


class Sending:
    """One attempt of a request, with the losses on its way if it `is_told`."""

    def __init__(
        self, method: str, ctx: Context, tasks: KeptTasks | None, *, is_told: bool
    ) -> None:
        self.method: Final = method
        self.ctx: Final = ctx
        self.is_told: Final = is_told
        """False if nobody learns of the losses: to find them costs as much as to convert."""
        self.is_task = False
        """True if the client is answered with a task, which has no losses of its own."""
        self._tasks = tasks
        self.name = self.upstream = self.server = ""
        self._began = perf_counter()
        self._losses: list[Loss] = []

    def lose(self, position: Position, model: Any, spoken: str) -> None:
        """Note the parts of a model without a form in the revision `spoken`."""
        if self.is_told:
            self._losses += losses(position, self.method, model, spoken)

    def lose_meta(self, asked: Any) -> None:
        """Note the client's own keys of `_meta` in a request which reaches no server as it is."""
        for key in asked.meta.extra_ if self.is_told else ():
            why = "The bridge itself asks each server for its list, and keeps it."
            self._losses.append(Loss(f"$._meta[{json.dumps(key)}]", f"`{key}` is left out", why))

    def lose_task(self) -> None:
        """Note that the server gets a plain call instead of one that becomes a task of the core."""
        if self.is_told:
            why = "The bridge keeps the task, and calls the tool for it."
            self._losses.append(Loss("$.task", "`task` is left out", why))

    def crossing(self, error: int | None) -> Crossing:
        """Return the report of the attempt, for `observe`."""
        return Crossing(
            method=self.method,
            name=self.name,
            upstream=self.upstream,
            principal=self.ctx.principal,
            client=self.ctx.revision,
            server=self.server,
            seconds=perf_counter() - self._began,
            error=error,
            losses=tuple(self._losses),
        )

    async def send(self, link: Link, ongoing: Ongoing, params: Any) -> Any:
        """Send the request, give the server the input it asks for, and return the result.

        Raises as `Client.request` does, and RpcError for input refused by the client.
        """
        client = await link.client(link.limits.deadline)
        ongoing.spoken = client.revision
        if resumed_id(params) is not None and revision(client.revision).era == "handshake":
            await self._require_repeatable(client, params)
        self.lose("params", params, client.revision)
        changing: dict[str, Any] = {}
        if hasattr(params, "input_responses"):
            changing = {"input_responses": t.UNSET, "request_state": t.UNSET}
        for _ in range(client.limits.input_rounds):
            result = await self._attempt(client, link, ongoing, params, changing)
            if self._tasks is not None and self._tasks.is_own(self.method, result):
                ongoing.become_task()
                return await self._tasks.follow(client, ongoing, result)
            if not isinstance(result, t.InputRequiredResult):
                return result
            changing = {
                "input_responses": await _answers(client, ongoing, result.input_requests),
                "request_state": result.request_state,
            }
        raise TooMuch(f"over {client.limits.input_rounds} rounds (Limits.input_rounds)")

    async def _require_repeatable(self, client: Client, params: Any) -> None:
        """Raise RpcError for a call which is gone, with an answer, and may not be sent twice."""
        if self.method != "tools/call":
            return
        for tool in await client.list_tools():
            hints = tool.annotations if tool.name == params.name else t.UNSET
            if hints is not t.UNSET and (hints.read_only_hint or hints.idempotent_hint) is True:
                return
        why = "the call waited for this answer, and is gone: call the tool anew"
        raise RpcError(error_codes.INTERNAL_ERROR, why)

    async def _attempt(
        self, client: Client, link: Link, ongoing: Ongoing, params: Any, changing: dict[str, Any]
    ) -> Any:
        """Send the request once, with the client's own `_meta` and its wish for progress."""
        wants_progress = params.meta.progress_token is not t.UNSET
        meta = _meta(
            client, params.meta, link.free_token(next(link.tokens)) if wants_progress else t.UNSET
        )
        sent = structs.replace(params, meta=meta, **changing)

        report = ongoing.report if wants_progress else None
        return await client.request(self.method, sent, on_progress=report)


def _meta(client: Client, asked: Any, token: Any) -> t.RequestMetaObject:
    """Return the `_meta` of a request: the bridge's own, and what the client has added to it."""
    own = client.meta()
    return t.RequestMetaObject(
        protocol_version=own.protocol_version,
        client_info=own.client_info,
        client_capabilities=own.client_capabilities,
        log_level=own.log_level,
        progress_token=token,
        extra_=dict(asked.extra_),
    )


async def _answers(client: Client, ongoing: Ongoing, requests: Any) -> Any:
    """Ask the client the questions of a result; UNSET if there are none."""
    return requests if requests is t.UNSET else await ongoing.ask_each(requests, client.limits)


def no_such_resource(uri: str, ctx: Context) -> RpcError:
    """Return the error for an unknown resource, in the words of the client's era."""
    code = error_codes.RESOURCE_NOT_FOUND if ctx.era == "handshake" else error_codes.INVALID_PARAMS
    return rpc_errors.resource_not_found(uri, code)


def as_client_error(error: Exception, sending: Attempt) -> Exception:
    """Return an error of an upstream server as the client may read it.

    The server's own errors pass with their data. The text of other errors may name a command or an
    address, and stays in the log.
    """
    name, ctx = sending.upstream or "the server", sending.ctx
    if isinstance(error, RemoteError):
        if isinstance(narrow_to_not_found(error, sending.name), NotFound):
            return no_such_resource(sending.name, ctx)
        if error.code in error_codes.MODERN and ctx.era == "handshake":
            return ToolError(error.message)  # as a server of that era would have told the model
        return RpcError(error.code, error.message, error.data)
    if isinstance(error, NotOffered):
        return error if error.who == "client" else rpc_errors.method_not_found(sending.method)
    if not isinstance(error, SessionError):
        return error
    log.warning("%s %.200s: %s: %s", sending.method, sending.name, name, error)
    return RpcError(error_codes.INTERNAL_ERROR, f"{name}: {_WORDS.get(type(error), _GONE)}")


def as_task(run: Handler, sending: Sending) -> Handler:
    """Return a handler of a task, with errors as the client may read them."""

    async def handle(params: Any, ctx: Context) -> Any:
        try:
            return await run(params, ctx)
        except Exception as error:
            refusal = as_client_error(error, sending)
            if isinstance(refusal, ToolError):
                return failed_call(str(refusal))
            raise refusal from None

    return handle


_GONE: Final = "not available; the log says why"
_WORDS: Final[dict[type[SessionError], str]] = {
    TimedOut: "no answer in time",
    BadAnswer: "its answer is not what its revision says",
    TooMuch: "its answer is over a limit",
}
