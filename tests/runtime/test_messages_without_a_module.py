"""Requests, notifications and filters of the protocol that no option of ours names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.client.callbacks import ClientCallbacks
from mcp_runtime.errors import CallbackError, LocalError, NotOffered, RpcError
from mcp_runtime.revisions import ALL, DecodeError, Method, revision
from mcp_runtime.revisions import latest as t

NEWEST: Final = ALL[-1]
SHAKEN: Final = ALL[-2]
BOTH: Final = (NEWEST, SHAKEN)
"""A revision of each era."""


def text(result: t.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, t.TextContent)
    return block.text


# ---- requests of the server


def asking() -> Server:
    server = Server("s", "1")

    @server.tool
    async def by_name(ctx: Context) -> str:
        answer = await ctx.ask("elicitation/create", {"message": "Who?", "requestedSchema": FORM})
        return f"{type(answer).__name__} {answer.action}"

    @server.tool
    async def typed(ctx: Context) -> str:
        schema = t.from_wire(t.ElicitRequestFormParamsRequestedSchema, FORM)
        params = t.ElicitRequestFormParams(message="Who?", requested_schema=schema)
        return (await ctx.calls.elicit(params)).action

    @server.tool
    async def roots(ctx: Context) -> str:
        return (await ctx.ask("roots/list")).roots[0].uri

    @server.tool
    async def wrong(ctx: Context, method: str) -> str:
        return str(await ctx.ask(method, {"message": 1}))

    return server


FORM: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


async def accept(params: t.ElicitRequestParams) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={})


@pytest.mark.parametrize("spoken", BOTH)
async def test_a_handler_asks_any_request_of_the_tables(spoken: str) -> None:
    options: dict[str, Any] = {"on_elicit": accept, "roots": ["file:///a"]}
    async with Client(asking(), revisions=[spoken], **options) as client:
        assert text(await client.call_tool("by_name")) == "ElicitResult accept"
        assert text(await client.call_tool("typed")) == "accept"
        assert text(await client.call_tool("roots")) == "file:///a"


@pytest.mark.parametrize("method", ["files/pick", "tools/call", "notifications/message"])
async def test_what_no_server_asks_is_named(method: str) -> None:
    server = asking()
    server.show_errors = True
    async with Client(server) as client:
        result = await client.call_tool("wrong", {"method": method})
    assert result.is_error
    said = f"'{method}' is not a request that a server sends in {NEWEST}"
    assert text(result) == f"ValueError: {said}"


async def test_a_client_of_a_revision_without_the_request_does_not_offer_it() -> None:
    oldest = ALL[0]
    async with Client(asking(), revisions=[oldest], on_elicit=accept) as client:
        result = await client.call_tool("by_name")
    assert text(result) == f"elicitation/create: the client does not offer it in {oldest}"


# ---- what a client registers

ASKED: Final = "elicitation/create"


@pytest.fixture
def without_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """No option of `Client` answers any request: each is one that a newer revision brings."""
    monkeypatch.setattr("mcp_runtime.client.client.OPTIONS", {})


@pytest.mark.usefixtures("without_option")
@pytest.mark.parametrize("spoken", BOTH)
@pytest.mark.parametrize("is_json", [False, True])
async def test_a_registered_handler_answers_and_its_capability_is_declared(
    spoken: str, is_json: bool
) -> None:
    client = Client(asking(), revisions=[spoken])

    @client.on(ASKED, settings={"form": {}})
    async def elicit(params: t.ElicitRequestFormParams) -> Any:
        assert params.message == "Who?"
        return {"action": "decline"} if is_json else t.ElicitResult(action="decline")

    async with client:
        assert client.connection.session.offer.declared == {"elicitation": {"form": {}}}
        assert text(await client.call_tool("typed")) == "decline"


@pytest.mark.usefixtures("without_option")
@pytest.mark.parametrize("spoken", BOTH)
async def test_an_answer_of_another_type_is_told_to_the_handlers_author(spoken: str) -> None:
    client = Client(asking(), revisions=[spoken])
    client.on(ASKED)(answer_nonsense)
    async with client:
        with pytest.raises(CallbackError, match=r"of elicitation/create: does not fit: \$.action"):
            await client.call_tool("typed")


async def answer_nonsense(params: Any) -> dict[str, Any]:
    return {"action": "perhaps"}


async def test_a_request_that_needs_no_capability_and_has_no_handler_is_no_method() -> None:
    callbacks = ClientCallbacks(None, None, None, None)
    with pytest.raises(RpcError, match="Method not found: files/pick"):
        await callbacks.answer("files/pick", t.UNSET)


@pytest.mark.usefixtures("without_option")
async def test_a_handler_of_a_request_is_registered_before_the_client_is_open() -> None:
    async with Client(asking()) as client:
        with pytest.raises(LocalError, match="has told its capabilities"):
            client.on(ASKED)(accept)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (ASKED, "give Client the option on_elicit"),
        ("notifications/message", "the option on_log"),
        ("tools/call", "is not a message that a server sends"),
        ("files/pick", "is not a message that a server sends"),
    ],
)
def test_a_method_that_has_another_way_is_refused(method: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Client(Server("s", "1")).on(method)


# ---- notifications and filters

UPDATED: Final = "notifications/resources/updated"


@pytest.mark.parametrize("spoken", BOTH)
async def test_a_handler_hears_a_notification_of_the_server(spoken: str) -> None:
    server = Server("s", "1", offers=["tools"])
    client = Client(server, revisions=[spoken])
    heard = asyncio.Event()

    @client.on("notifications/tools/list_changed")
    def changed(params: Any) -> None:
        heard.set()

    async with client, client.listen(tools=True):
        server.tool(name="new")(lambda: "")
        await heard.wait()


def test_a_handler_of_a_notification_that_nobody_would_await_is_refused() -> None:
    with pytest.raises(TypeError, match="is called and not awaited"):
        Client(Server("s", "1")).on("notifications/tools/list_changed")(accept)


def publishing() -> Server:
    server = Server("s", "1")

    @server.resource("note://{name}")
    def note(name: str) -> str:
        return name

    @server.subscription("topics")
    def allow(wanted: list[str], principal: str) -> list[str]:
        return [topic for topic in wanted if topic != "secret"]

    return server


async def test_a_member_of_the_filter_that_no_module_knows_is_accepted_and_published() -> None:
    server = publishing()
    client = Client(server)
    heard: list[str] = []
    done = asyncio.Event()

    @client.on(UPDATED)
    def updated(params: t.ResourceUpdatedNotificationParams) -> None:
        heard.append(params.uri)
        done.set()

    async with client, client.listen(more={"topics": ["a", "secret"], "unknown": ["b"]}) as changes:
        assert t.to_wire(changes.served) == {"topics": ["a"]}
        for topic in ("secret", "b", "a"):
            params = t.ResourceUpdatedNotificationParams(uri=f"note://{topic}")
            server.publish(UPDATED, params, "topics", topic)
        await done.wait()
    assert heard == ["note://a"]


def test_a_member_that_the_server_serves_itself_has_no_function() -> None:
    with pytest.raises(ValueError, match="serves this member of the filter by itself"):
        Server("s", "1").subscription("toolsListChanged")


def test_what_cannot_be_published_is_named() -> None:
    server, params = Server("s", "1"), t.ResourceUpdatedNotificationParams(uri="note://a")
    with pytest.raises(ValueError, match="events/occurred: no notification of"):
        server.publish("events/occurred", params, "topics", "a")
    with pytest.raises(NotOffered, match=r"the server does not offer resources\.subscribe"):
        server.publish(UPDATED, params, "topics", "a")


def test_a_filter_of_another_type_is_refused_before_it_is_sent() -> None:
    client = Client(Server("s", "1"))
    with pytest.raises(DecodeError, match="resourceSubscriptions"):
        client.listen(more={"resourceSubscriptions": 1})  # type: ignore[dict-item]


# ---- a message that the peer's revision does not have

GONE: Final = ("notifications/message", "notifications/progress", UPDATED)


@pytest.fixture
def lean(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Method]:
    """The newest revision without logs, progress and changed resources."""
    methods = revision(NEWEST).methods
    for name in GONE:
        monkeypatch.delitem(methods, name)  # type: ignore[misc]
    return methods


@pytest.mark.usefixtures("lean")
async def test_what_the_client_has_no_message_for_is_dropped_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = publishing()

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.info("begun")
        await ctx.progress(1)
        server.resource_updated("note://a")
        return "done"

    with caplog.at_level(logging.WARNING):
        client = Client(server, log_level="debug")
        async with client, client.listen(uris=["note://a"]):
            result = await client.call_tool("work", on_progress=lambda *_: None)
    assert (text(result), caplog.records) == ("done", [])
