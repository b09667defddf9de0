"""The running request, as `mcp` 1.x and `fastmcp` show it to handlers."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from mcp_runtime.compat import models
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.compat.shapes import members_of
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext
from mcp_runtime.server.context import Elicited

log: Final = logging.getLogger("mcp_runtime.compat")

current: Final[ContextVar[NativeContext | None]] = ContextVar("current", default=None)
"""The native context of the request whose handler runs now."""


def require_current() -> NativeContext:
    """Return the context of the running request. Raises LookupError outside of one."""
    context = current.get()
    if context is None:
        raise LookupError("no request is handled here")
    return context


class ServerSession:
    """The session of a request: its notifications, and its questions to the client."""

    def __init__(self, native: NativeContext) -> None:
        self._native = native

    # ---- notifications

    async def send_log_message(
        self, level: Any, data: Any, logger: str | None = None, related_request_id: Any = None
    ) -> None:
        await self._native.log(level, wire(data), logger)

    async def send_progress_notification(
        self,
        progress_token: str | int,
        progress: float,
        total: float | None = None,
        message: str | None = None,
        related_request_id: str | None = None,
    ) -> None:
        """Report progress of the running request; `progress_token` is known from the request."""
        await self._native.progress(progress, total, message)

    async def send_resource_updated(self, uri: Any) -> None:
        self._native.server.resource_updated(str(uri))

    async def send_tool_list_changed(self) -> None:
        self._native.server.announce_change("tools")

    async def send_prompt_list_changed(self) -> None:
        self._native.server.announce_change("prompts")

    async def send_resource_list_changed(self) -> None:
        self._native.server.announce_change("resources")

    async def send_ping(self) -> Any:
        return models.model("EmptyResult")()

    # ---- the client

    @property
    def client_params(self) -> Model:
        """The client's name and capabilities, in the form of the params of `initialize`."""
        native = self._native
        return models.model("InitializeRequestParams")(
            protocolVersion=native.revision,
            capabilities=dict(native.client_capabilities),
            clientInfo=dict(native.called.terms.info or {"name": "", "version": ""}),
        )

    def check_client_capability(self, capability: Model) -> bool:
        """Return True if the client has declared a capability, and each part of it."""
        return _covers(self._native.client_capabilities, wire(capability))

    # ---- questions to the client

    async def create_message(
        self,
        messages: Sequence[Any],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        include_context: str | None = None,
        temperature: float | None = None,
        stop_sequences: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        model_preferences: Any = None,
        tools: Sequence[Any] | None = None,
        tool_choice: Any = None,
        related_request_id: Any = None,
    ) -> Model:
        """Ask the client's language model. Raises NotOffered, RpcError."""
        more: dict[str, Any] = {
            "include_context": include_context,
            "temperature": temperature,
            "stop_sequences": stop_sequences,
            "metadata": metadata,
        }
        given = {name: each for name, each in more.items() if each is not None}
        if model_preferences is not None:
            given["model_preferences"] = t.from_wire(t.ModelPreferences, wire(model_preferences))
        answer = await self._native.sample(
            [t.from_wire(t.SamplingMessage, wire(each)) for each in messages],
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            tools=None if tools is None else [t.from_wire(t.Tool, wire(each)) for each in tools],
            tool_choice=None
            if tool_choice is None
            else t.from_wire(t.ToolChoice, wire(tool_choice)),
            **given,
        )
        return models.model("CreateMessageResult").of(t.to_wire(answer))

    async def list_roots(self) -> Model:
        roots = [t.to_wire(root) for root in await self._native.roots()]
        return models.model("ListRootsResult")(roots=roots)

    async def elicit(
        self,
        message: str,
        requestedSchema: dict[str, Any],  # noqa: N803 - the name in mcp
        related_request_id: Any = None,
    ) -> Model:
        """Ask the user to fill in a form, given as JSON Schema."""
        answer: Elicited[Any] = await self._native.elicit(message, requestedSchema)
        return models.model("ElicitResult")(action=answer.action, content=answer.content)

    elicit_form = elicit

    async def elicit_url(
        self, message: str, url: str, elicitation_id: str, related_request_id: Any = None
    ) -> Model:
        answer = await self._native.elicit_url(message, url, elicitation_id=elicitation_id)
        return models.model("ElicitResult")(action=answer.action)


def _covers(declared: Any, wanted: Any) -> bool:
    if (members := members_of(wanted)) is not None:
        ours = members_of(declared)
        return ours is not None and all(
            name in ours and _covers(ours[name], each) for name, each in members.items()
        )
    return bool(declared) or not wanted


@dataclass
class RequestContext(Subscriptable):
    """The request behind a handler: its id, `_meta`, session and lifespan."""

    request_id: Any
    meta: Any
    session: Any
    lifespan_context: Any
    request: Any = None
    experimental: Any = None


def request_context(native: NativeContext) -> RequestContext:
    """Build the description of a request. `request` is None: see `get_http_headers`."""
    meta = dict(native.meta)
    return RequestContext(
        request_id=native.request_id,
        meta=models.model("RequestParamsMeta")(**meta) if meta else None,
        session=ServerSession(native),
        lifespan_context={} if native.lifespan is None else native.lifespan,
    )


# ---- elicitation


class AcceptedElicitation(Subscriptable):
    """The user filled in the form; `data` are the values."""

    action: Final = "accept"

    def __init__(self, data: Any = None, **_: Any) -> None:
        self.data = data

    __match_args__ = ("data",)


class DeclinedElicitation:
    """The user refused."""

    action: Final = "decline"
    data: Final = None


class CancelledElicitation:
    """The user closed the form without a choice."""

    action: Final = "cancel"
    data: Final = None


def elicitation(answer: Elicited[Any]) -> Any:
    """Convert an answer to the class of its action."""
    if answer.action == "accept":
        return AcceptedElicitation(answer.content)
    return DeclinedElicitation() if answer.action == "decline" else CancelledElicitation()


__all__ = [
    "AcceptedElicitation",
    "CancelledElicitation",
    "DeclinedElicitation",
    "RemoteError",
    "RequestContext",
    "ServerSession",
    "current",
    "elicitation",
    "request_context",
    "require_current",
]
