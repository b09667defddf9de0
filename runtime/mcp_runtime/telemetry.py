"""Spans and metrics of OpenTelemetry, by its semantic conventions for MCP. Extra `otel`.

    from mcp_runtime.telemetry import instrument

    instrument(server)  # or a client, before it is entered

Nothing else imports this module, and without it no call does more than it did.
Source: open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar, cast

from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import NotInstalled, RemoteError, RpcError, TimedOut
from mcp_runtime.revisions import UNSET
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.calls import Call, Link, OnCall, OnSession

try:
    from opentelemetry import metrics, propagate, trace
    from opentelemetry.context import Context
except ModuleNotFoundError as error:
    raise NotInstalled("mcp_runtime.telemetry", "opentelemetry-api", "otel") from error

SCOPE: Final = "mcp_runtime"
"""The name of our tracer and meter, and the name by which the environment turns them off."""
BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The boundaries of the histograms, in seconds."""
_DURATIONS: Final[Mapping[str, str]] = {
    "mcp.client.operation.duration": "Duration of a request, as its sender observes it",
    "mcp.server.operation.duration": "Duration of a request, as its receiver observes it",
    "mcp.client.session.duration": "Duration of a session, as the client observes it",
    "mcp.server.session.duration": "Duration of a session, as the server observes it",
}
_TARGETS: Final[Mapping[str, tuple[str, str]]] = {
    "tools/call": ("name", "gen_ai.tool.name"),
    "prompts/get": ("name", "gen_ai.prompt.name"),
    "resources/read": ("uri", "mcp.resource.uri"),
    "resources/subscribe": ("uri", "mcp.resource.uri"),
    "resources/unsubscribe": ("uri", "mcp.resource.uri"),
}
"""The member of the params that names the target of a method, and its attribute."""
_OF_SPANS: Final = frozenset({"mcp.resource.uri", "mcp.session.id", "jsonrpc.request.id"})
"""Attributes that metrics do not have, since each of their values would be a series."""
_CONTENT: Final = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
_ADDRESS: Final = ("server.address", "server.port")
_OTHER: Final = "_OTHER"


class Instrumented(Protocol):
    """A `Server` or a `Client`."""

    def on_call(self, hook: OnCall, /) -> OnCall: ...
    def on_session(self, hook: OnSession, /) -> OnSession: ...


_I = TypeVar("_I", bound=Instrumented)


def instrument(
    one: _I,
    *,
    tracer_provider: trace.TracerProvider | None = None,
    meter_provider: metrics.MeterProvider | None = None,
    content: bool = False,
) -> _I:
    """Record each call and session of a server or a client, and return it.

    The providers are the process's own unless others are given. With `content`, spans have the
    arguments and the results of tools, which may hold secrets. Nothing is registered if the
    environment turns it off: OTEL_SDK_DISABLED=true, or `mcp_runtime` in
    OTEL_PYTHON_DISABLED_INSTRUMENTATIONS.
    """
    if not _is_off(os.environ):
        recorder = _Recorder(
            trace.get_tracer(SCOPE, tracer_provider=tracer_provider),
            metrics.get_meter(SCOPE, meter_provider=meter_provider),
            content,
        )
        one.on_call(recorder.on_call)
        one.on_session(recorder.on_session)
    return one


def _is_off(environment: Mapping[str, str]) -> bool:
    named = environment.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return is_disabled or SCOPE in (each.strip() for each in named)


class _Recorder:
    """The hooks of one server or client."""

    def __init__(self, tracer: trace.Tracer, meter: metrics.Meter, content: bool) -> None:
        self._tracer = tracer
        self._content = content
        self._durations = {
            name: meter.create_histogram(
                name, "s", description, explicit_bucket_boundaries_advisory=BUCKETS
            )
            for name, description in _DURATIONS.items()
        }

    @contextmanager
    def on_session(self, link: Link) -> Generator[None]:
        began = time.perf_counter()
        yield
        histogram = self._durations[f"mcp.{link.role}.session.duration"]
        attributes = {
            name: value for name, value in _of_link(link).items() if name not in _OF_SPANS
        }
        histogram.record(time.perf_counter() - began, attributes)

    @contextmanager
    def on_call(self, call: Call) -> Generator[None]:
        began = time.perf_counter()
        attributes = _of_call(call, content=self._content)
        span = self._start(call, attributes)
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            if call.direction == "sent":
                _inject(call)
            yield
        ended = {**_of_id(call), **_of_outcome(call)}
        if self._content and call.result is not UNSET and call.method == "tools/call":
            span.set_attribute("gen_ai.tool.call.result", t.encode(call.result).decode())
        span.set_attributes(ended)
        if "error.type" in ended:
            span.set_status(trace.StatusCode.ERROR, _message(call))
        span.end()
        side = "client" if call.direction == "sent" else "server"
        histogram = self._durations[f"mcp.{side}.operation.duration"]
        histogram.record(time.perf_counter() - began, _of_metric(call, {**attributes, **ended}))

    def _start(self, call: Call, attributes: Mapping[str, Any]) -> trace.Span:
        parent, links = _parent(call) if call.direction == "received" else (None, ())
        target = attributes.get("gen_ai.tool.name") or attributes.get("gen_ai.prompt.name")
        return self._tracer.start_span(
            f"{call.method} {target}" if target else call.method,
            context=parent,
            kind=trace.SpanKind.CLIENT if call.direction == "sent" else trace.SpanKind.SERVER,
            attributes=attributes,
            links=links,
        )


# ---- attributes


def _of_link(link: Link) -> dict[str, Any]:
    attributes: dict[str, Any] = {"network.transport": "pipe"}
    if link.transport == "http":
        attributes = {"network.transport": "tcp", "network.protocol.name": "http"}
    if link.revision:
        attributes["mcp.protocol.version"] = link.revision
    if link.session_id:
        attributes["mcp.session.id"] = link.session_id
    if link.address is not None:
        attributes["server.address"], port = link.address
        attributes.update({} if port is None else {"server.port": port})
    return attributes


def _of_call(call: Call, *, content: bool) -> dict[str, Any]:
    attributes = {"mcp.method.name": call.method, **_of_link(call.link), **_of_id(call)}
    if call.direction == "received":  # by a client: the peer's address is no `server.address` then
        attributes = {name: value for name, value in attributes.items() if name not in _ADDRESS}
    member, name = _TARGETS.get(call.method, ("", ""))
    if isinstance(target := call.params.get(member), str):
        attributes[name] = target
    if call.method == "tools/call":
        attributes["gen_ai.operation.name"] = "execute_tool"
        if content and "arguments" in call.params:
            attributes["gen_ai.tool.call.arguments"] = t.encode(call.params["arguments"]).decode()
    return attributes


def _of_id(call: Call) -> dict[str, Any]:
    return {} if call.id is None else {"jsonrpc.request.id": str(call.id)}


def _of_outcome(call: Call) -> dict[str, str]:
    error = call.error
    if error is None:
        failed = getattr(call.result, "is_error", None) is True
        return {"error.type": "tool_error"} if failed else {}
    if (code := _code(call)) is not None:
        return {"error.type": str(code), "rpc.response.status_code": str(code)}
    if isinstance(error, asyncio.CancelledError):
        return {"error.type": "cancelled"}
    return {"error.type": "timeout" if isinstance(error, TimedOut) else type(error).__name__}


def _code(call: Call) -> int | None:
    """Return the code of the error that the response has; None if there is no response."""
    if isinstance(call.error, RpcError | RemoteError):
        return call.error.code
    is_answered = call.direction == "received" and isinstance(call.error, Exception)
    return error_codes.INTERNAL_ERROR if is_answered else None


def _message(call: Call) -> str | None:
    """Return the message of the error response. The text of other exceptions may hold secrets."""
    if isinstance(call.error, RpcError | RemoteError):
        return call.error.message
    return None


def _of_metric(call: Call, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a measurement, with no series for each name that a peer makes up."""
    kept = {
        name: value
        for name, value in attributes.items()
        if name not in _OF_SPANS and name not in _CONTENT
    }
    code = _code(call) if call.direction == "received" else None
    if code == error_codes.METHOD_NOT_FOUND:
        kept["mcp.method.name"] = _OTHER
    for name in ("gen_ai.tool.name", "gen_ai.prompt.name"):
        if code == error_codes.INVALID_PARAMS and name in kept:
            kept[name] = _OTHER
    return kept


# ---- the context of the trace


def _inject(call: Call) -> None:
    """Set the trace context of a request that is sent, except for members the caller has set."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    given: Mapping[str, Any] = call.params.get("_meta", {})
    call.meta = {name: value for name, value in carrier.items() if name not in given}
    if call.link.transport == "http":
        call.headers = carrier


def _parent(call: Call) -> tuple[Context | None, tuple[trace.Link, ...]]:
    """Return the context that a received request names, with a link to the span around it.

    Without a context in its `_meta`, the parent is the span around it, such as that of the HTTP
    request; and without one, the context in the headers.
    """
    meta: Any = call.params.get("_meta")
    here = trace.get_current_span().get_span_context()
    named = _extract(cast("dict[str, Any]", meta) if isinstance(meta, dict) else {})
    if named is not None:
        return named, (trace.Link(here),) if here.is_valid else ()
    return (None if here.is_valid else _extract(call.headers)), ()


def _extract(carrier: Mapping[Any, Any]) -> Context | None:
    texts = {name: value for name, value in carrier.items() if isinstance(value, str)}
    context = propagate.extract(texts)
    return context if trace.get_current_span(context).get_span_context().is_valid else None
