"""Spans and metrics carry the names of OpenTelemetry's semantic conventions for MCP.

The tables are those of docs/gen-ai/mcp.md of open-telemetry/semantic-conventions-genai, read at
commit 0393513c.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcp_runtime import Client, Context, Server, ToolError, types
from mcp_runtime.errors import NotInstalled, RemoteError
from mcp_runtime.revisions import ALL
from mcp_runtime.shared.calls import OnCall, OnSession
from mcp_runtime.telemetry import instrument
from tests.support.not_imported import not_imported
from tests.support.patience import until
from tests.support.uvicorn_served import served

ERAS: Final = (ALL[-2], ALL[-1])
WAYS: Final = ("memory", "http")

REQUIRED: Final = frozenset({"mcp.method.name"})
OF_SPAN: Final = REQUIRED | {
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.prompt.name",
    "gen_ai.tool.name",
    "jsonrpc.request.id",
    "mcp.protocol.version",
    "mcp.resource.uri",
    "mcp.session.id",
    "network.protocol.name",
    "network.protocol.version",
    "network.transport",
    "rpc.response.status_code",
}
SPANS: Final = {
    trace.SpanKind.CLIENT: OF_SPAN | {"server.address", "server.port"},
    trace.SpanKind.SERVER: OF_SPAN | {"client.address", "client.port"},
}
OPT_IN: Final = frozenset({"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"})
NOT_OF_METRICS: Final = frozenset({"jsonrpc.request.id", "mcp.resource.uri", "mcp.session.id"})
OF_SESSION: Final = frozenset(
    {
        "error.type",
        "mcp.protocol.version",
        "network.protocol.name",
        "network.protocol.version",
        "network.transport",
    }
)
ADDRESS: Final = frozenset({"server.address", "server.port"})
HISTOGRAMS: Final[Mapping[str, frozenset[str]]] = {
    "mcp.client.operation.duration": (OF_SPAN | ADDRESS) - NOT_OF_METRICS,
    "mcp.server.operation.duration": OF_SPAN - NOT_OF_METRICS,
    "mcp.client.session.duration": OF_SESSION | ADDRESS,
    "mcp.server.session.duration": OF_SESSION,
}
BOUNDARIES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)


class Recorded:
    """The providers of one test, and what they were given."""

    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider(metric_readers=[self._reader])

    @property
    def options(self) -> dict[str, Any]:
        return {"tracer_provider": self.tracers, "meter_provider": self.meters}

    def spans(self, kind: trace.SpanKind | None = None) -> list[ReadableSpan]:
        done = self._spans.get_finished_spans()
        return [each for each in done if kind is None or each.kind is kind]

    def points(self) -> dict[str, list[HistogramDataPoint]]:
        by_metric: dict[str, list[Any]] = {}
        data = self._reader.get_metrics_data()
        for resource in () if data is None else data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    assert metric.unit == "s"
                    by_metric.setdefault(metric.name, []).extend(metric.data.data_points)
        return by_metric


class Unhooked:
    """Counts the hooks that it is given."""

    hooks = 0

    def on_call(self, hook: OnCall, /) -> OnCall:
        self.hooks += 1
        return hook

    def on_session(self, hook: OnSession, /) -> OnSession:
        self.hooks += 1
        return hook


def id_of(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def library() -> Server:
    server = Server("library", "1")

    @server.tool
    async def find(title: str) -> str:
        if title == "absent":
            raise ToolError(f"no {title}")
        return title

    @server.tool
    async def broken() -> str:
        raise ValueError("secret-in-exception")

    @server.tool
    async def name(ctx: Context) -> str:
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        return (await ctx.elicit("Who?", form)).action

    @server.prompt
    async def greet(who: str) -> str:
        return who

    @server.resource("book://{id}")
    async def book(id: str) -> str:
        return id

    return server


async def ada(question: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


@asynccontextmanager
async def connected(
    revision: str, way: str, recorded: Recorded, **options: Any
) -> AsyncGenerator[Client]:
    server = instrument(library(), **recorded.options, **options)
    if way == "memory":
        client = Client(server, revisions=[revision], on_elicit=ada)
        async with instrument(client, **recorded.options, **options):
            yield client
        return
    async with served(server.asgi()) as origin:
        client = Client.http(f"{origin}/mcp", revisions=[revision], on_elicit=ada)
        async with instrument(client, **recorded.options, **options):
            yield client


async def talk(client: Client) -> None:
    assert (await client.call_tool("find", {"title": "secret-argument"})).text
    assert (await client.call_tool("find", {"title": "absent"})).is_error
    assert (await client.call_tool("broken")).is_error
    await client.call_tool("name")
    await client.get_prompt("greet", {"who": "secret-argument"})
    await client.read_resource("book://5")
    with pytest.raises(RemoteError):
        await client.call_tool("made-up")


NAMES: Final = [
    "tools/call find",
    "tools/call find",
    "tools/call broken",
    "tools/call name",
    "prompts/get greet",
    "resources/read",
    "tools/call made-up",
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("revision", ERAS)
async def test_names_are_those_of_the_conventions(revision: str, way: str) -> None:
    recorded = Recorded()
    async with connected(revision, way, recorded) as client:
        await talk(client)
    is_handshake = revision == ERAS[0]
    if is_handshake:
        await until(lambda: "mcp.server.session.duration" in recorded.points())
    again = [] if is_handshake else ["tools/call name"]
    asked = ["elicitation/create"] if is_handshake else []
    expected = sorted([*NAMES, *asked, *again])
    spans: dict[int, dict[str, Any]] = {}
    for kind, known in SPANS.items():
        assert sorted(each.name for each in recorded.spans(kind)) == expected
        for span in recorded.spans(kind):
            attributes = dict(span.attributes or {})
            assert attributes.keys() >= REQUIRED
            assert attributes.keys() <= known, span.name
            assert attributes["mcp.protocol.version"] == revision
            assert attributes["network.transport"] == ("tcp" if way == "http" else "pipe")
            assert attributes["jsonrpc.request.id"]
            assert ("mcp.session.id" in attributes) == (way == "http" and is_handshake)
            is_tool = attributes["mcp.method.name"] == "tools/call"
            assert (attributes.get("gen_ai.operation.name") == "execute_tool") == is_tool
            assert (span.status.status_code is trace.StatusCode.ERROR) == (
                "error.type" in attributes
            )
            assert "secret" not in span.to_json()
            spans[id_of(span)] = attributes
    for span in recorded.spans(trace.SpanKind.SERVER):
        assert span.parent is not None
        sender = spans[span.parent.span_id]
        ids = (span.attributes or {})["jsonrpc.request.id"], sender["jsonrpc.request.id"]
        assert ids[0] == ids[1]
    check_errors(recorded)
    check_metrics(recorded, is_handshake=is_handshake)


def check_errors(recorded: Recorded) -> None:
    outcomes = {
        (span.name, attributes.get("error.type"), attributes.get("rpc.response.status_code"))
        for span in recorded.spans()
        if (attributes := span.attributes or {}).get("error.type")
    }
    assert outcomes == {
        ("tools/call find", "tool_error", None),
        ("tools/call broken", "tool_error", None),
        ("tools/call made-up", "-32602", "-32602"),
    }


def check_metrics(recorded: Recorded, *, is_handshake: bool) -> None:
    points = recorded.points()
    absent = set[str]() if is_handshake else {"mcp.server.session.duration"}
    assert points.keys() == HISTOGRAMS.keys() - absent
    for name, each in points.items():
        for point in each:
            attributes = dict(point.attributes or {})
            assert attributes.keys() <= HISTOGRAMS[name], name
            assert tuple(point.explicit_bounds) == BOUNDARIES
            is_made_up = attributes.get("gen_ai.tool.name") == "made-up"
            assert not (is_made_up and name == "mcp.server.operation.duration")
    counted = sum(each.count for each in points["mcp.server.operation.duration"])
    assert counted == len(recorded.spans(trace.SpanKind.SERVER))


@pytest.mark.parametrize("way", WAYS)
async def test_content_is_recorded_where_it_is_asked_for(way: str) -> None:
    recorded = Recorded()
    async with connected(ERAS[1], way, recorded, content=True) as client:
        await client.call_tool("find", {"title": "Emma"})
    for kind, known in SPANS.items():
        (span,) = recorded.spans(kind)
        attributes = span.attributes or {}
        assert attributes.keys() == OPT_IN | (attributes.keys() & known)
        assert attributes["gen_ai.tool.call.arguments"] == '{"title":"Emma"}'
        assert '"text":"Emma"' in str(attributes["gen_ai.tool.call.result"])


@pytest.mark.parametrize("way", WAYS)
async def test_a_trace_goes_through_the_handler(way: str) -> None:
    recorded, server = Recorded(), library()
    tracer = recorded.tracers.get_tracer("test")
    instrument(server, **recorded.options)

    @server.tool
    async def inner() -> str:
        with tracer.start_as_current_span("query"):
            return "done"

    with tracer.start_as_current_span("agent") as agent:
        if way == "memory":
            async with instrument(Client(server), **recorded.options) as client:
                await client.call_tool("inner")
        else:
            async with served(server.asgi()) as origin:
                client = Client.http(f"{origin}/mcp")
                async with instrument(client, **recorded.options):
                    await client.call_tool("inner")
    traces = {context.trace_id for each in recorded.spans() if (context := each.get_span_context())}
    assert traces == {agent.get_span_context().trace_id}
    by_name = {(each.name, each.kind): each for each in recorded.spans()}
    call = "tools/call inner"
    received = by_name[call, trace.SpanKind.SERVER]
    sent = by_name[call, trace.SpanKind.CLIENT]
    query = by_name["query", trace.SpanKind.INTERNAL]
    assert query.parent is not None
    assert query.parent.span_id == id_of(received)
    assert received.parent is not None
    assert received.parent.span_id == id_of(sent)


async def test_headers_are_the_parent_where_meta_names_none() -> None:
    recorded = Recorded()
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    server = instrument(library(), **recorded.options)
    async with served(server.asgi()) as origin:
        headers = {"traceparent": parent}
        async with Client.http(f"{origin}/mcp", headers=headers) as client:
            await client.call_tool("find", {"title": "Emma"})
            other = parent.replace("b7ad6b7169203331", "00f067aa0ba902b7")
            await client.call_tool("find", {"title": "Emma"}, meta={"traceparent": other})
    parents = [each.parent.span_id for each in recorded.spans() if each.parent]
    assert parents == [0xB7AD6B7169203331, 0x00F067AA0BA902B7]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "httpx, mcp_runtime"),
    ],
)
async def test_the_environment_turns_it_off(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    recorded = Recorded()
    async with connected(ERAS[1], "memory", recorded) as client:
        await client.call_tool("find", {"title": "Emma"})
    assert (recorded.spans(), recorded.points()) == ([], {})
    assert instrument(Unhooked()).hooks == 0
    monkeypatch.delenv(name)
    assert instrument(Unhooked()).hooks == 2


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with (
        not_imported("mcp_runtime.telemetry"),
        pytest.raises(NotInstalled, match=r"mcp-bindgen-runtime\[otel\]"),
    ):
        import_module("mcp_runtime.telemetry")


PLAIN: Final = """
import asyncio, sys
from mcp_runtime import Client, Server

server = Server("plain", "1")
@server.tool
def add(x: int) -> int:
    return x

async def ask():
    async with Client(server) as client:
        await client.call_tool("add", {"x": 1})

asyncio.run(ask())
OPTIONAL = ("mcp_runtime.compat", "mcp_runtime.telemetry", "opentelemetry")
print([name for name in sys.modules if name.startswith(OPTIONAL)])
"""


def test_a_server_that_does_not_ask_for_compat_or_telemetry_imports_neither() -> None:
    command = [sys.executable, "-c", PLAIN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
