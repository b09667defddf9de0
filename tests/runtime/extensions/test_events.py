"""Events (SEP-3415) as an extension: a schema and rows, and no module of the runtime for them."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.errors import NotOffered
from mcp_runtime.extensions import ClientExtension, Decorators, ServerExtension
from mcp_runtime.revisions import ALL
from tests.support.command import run
from tests.support.events_extension import ROWS, SCHEMA
from tests.support.uvicorn_served import served

EVENT, CHANGED = "notifications/events/event", "notifications/events/list_changed"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("events")
    (at / "events.ts").write_text(SCHEMA, "utf-8")
    (at / "rows.toml").write_text(ROWS, "utf-8")
    options = ("--import", "./core.js=2026-07-28", "--core", "2026-07-28", "--flavour", "msgspec")
    files = ("--extension", "events.ts", "--decisions", "rows.toml", "--out", "events_wire")
    made = run("generate", *files, *options, "--revision", "events@1", cwd=at)
    assert made.returncode == 0, made.stderr
    return at


@pytest.fixture
def calls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The bindings of the extension."""
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("events_wire.calls_msgspec")
    for name in [name for name in sys.modules if name.partition(".")[0] == "events_wire"]:
        del sys.modules[name]


class Events(ServerExtension, ClientExtension):
    """One kind of event, which happens twice."""

    def __init__(self, calls: Any) -> None:
        super().__init__(calls, settings={"listChanged": True})
        self.m = calls.models
        self.heard: list[Any] = []
        self.changes = asyncio.Event()

    def attach(self, server: Decorators) -> None:
        m = self.m
        occurred = [
            m.EventOccurrence(event_id=id, name="push", timestamp="2026-11-29", data={"n": n})
            for n, id in enumerate("ab")
        ]

        @server.on("events/list")
        async def list_events(params: Any, ctx: Context) -> Any:
            kind = m.EventType(name="push", delivery=["poll"], input_schema={}, payload_schema={})
            return m.ListEventsResult(events=[kind], result_type="complete")

        @server.on("events/poll")
        async def poll(params: Any, ctx: Context) -> Any:
            events = [] if params.cursor is None else occurred[int(params.cursor) :]
            more = {"truncated": False, "has_more": False, "next_poll_ms": 1000}
            cursor = str(len(occurred) if params.cursor else 0)
            return m.PollEventsResult(events=events, cursor=cursor, result_type="complete", **more)

        @server.on("events/stream")
        async def stream(params: Any, ctx: Context) -> Any:
            for event in occurred:
                body = m.from_wire(m.EventNotificationParams, m.to_wire(event))
                await ctx.calls.notify(EVENT, body)
            return m.StreamEventsResult(result_type="complete")

    def notified(self, method: str, params: Any) -> None:
        self.heard.append((method, params))
        if method == CHANGED:
            self.changes.set()


async def talk(client: Client, server: Server, events: Events) -> None:
    """List, poll, stream, and hear of a change."""
    (kind,) = (await client.request("events/list", {})).events
    assert isinstance(kind, events.m.EventType)
    first = await client.request("events/poll", {"name": kind.name, "cursor": None})
    assert (first.events, first.cursor) == ([], "0")
    polled = await client.request("events/poll", {"name": kind.name, "cursor": first.cursor})
    assert [event.event_id for event in polled.events] == ["a", "b"]
    await client.request("events/stream", {"name": kind.name, "cursor": None})
    assert [params.data for method, params in events.heard if method == EVENT] == [
        {"n": 0},
        {"n": 1},
    ]
    async with client.listen(more={"eventsListChanged": True}) as subscription:
        assert subscription.served.extra_ == {"eventsListChanged": True}
        server.publish(CHANGED, events.m.NotificationParams(), "eventsListChanged", True)
        await events.changes.wait()


@pytest.mark.wide
async def test_events_are_listed_polled_streamed_and_changes_heard(calls: ModuleType) -> None:
    server = Server("s", "1", extensions=[Events(calls)])
    ours, theirs = Events(calls), Events(calls)
    async with Client(server, extensions=[ours]) as client:
        await talk(client, server, ours)
    async with (
        served(server.asgi(), lifespan="on") as origin,
        Client.http(f"{origin}/mcp", extensions=[theirs]) as client,
    ):
        await talk(client, server, theirs)


@pytest.mark.wide
async def test_a_client_that_does_not_know_them_is_served_without(calls: ModuleType) -> None:
    server = Server("s", "1", extensions=[Events(calls)])

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    for revision in ALL:
        async with Client(server, revisions=[revision]) as client:
            assert [tool.name for tool in await client.list_tools()] == ["add"]
            with pytest.raises(NotOffered):
                await client.request("events/poll", {"name": "push", "cursor": None})
