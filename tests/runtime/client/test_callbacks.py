"""Callbacks of a client: how many run, which URLs and roots they are given."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime import types as t
from mcp_runtime.errors import NotApproved, RemoteError, TooMuch
from tests.support.json_peers import ALL, HANDSHAKE, NEWEST, RawServer
from tests.support.virtual_time import elapse

SHAKEN: Final = HANDSHAKE[-1]


def asking(*requests: dict[str, Any]) -> RawServer:
    """Its tool first asks for this input."""

    def call(message: dict[str, Any]) -> dict[str, Any]:
        if "inputResponses" in message["params"]:
            return {"resultType": "complete", "content": []}
        named = {str(number): request for number, request in enumerate(requests)}
        return {"resultType": "input_required", "inputRequests": named}

    return RawServer(NEWEST, answers={"tools/call": call})


SAMPLING: Final = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}


def visit(url: str) -> dict[str, Any]:
    params = {"mode": "url", "message": "Sign in", "url": url, "elicitationId": "1"}
    return {"method": "elicitation/create", "params": params}


class Sampler:
    """Counts how many samplings run at a time."""

    def __init__(self) -> None:
        self.running = self.most = self.count = 0

    async def __call__(self, params: Any) -> t.CreateMessageResult:
        self.count += 1
        self.running += 1
        self.most = max(self.most, self.running)
        await elapse(0.01)
        self.running -= 1
        content = t.TextContent(text="")
        return t.CreateMessageResult(role="assistant", content=content, model="m")


async def test_no_more_callbacks_run_at_a_time_than_the_limit() -> None:
    sampler = Sampler()
    async with asking(*[SAMPLING] * 64).client(on_sample=sampler) as client:
        await client.call_tool("t")
    assert (sampler.count, sampler.most) == (64, 16)
    sampler = Sampler()
    limits = Limits(input_callbacks=3)
    async with asking(*[SAMPLING] * 10).client(on_sample=sampler, limits=limits) as client:
        await client.call_tool("t")
    assert (sampler.count, sampler.most) == (10, 3)


async def test_a_result_asks_for_no_more_input_than_the_limit() -> None:
    sampler = Sampler()
    async with asking(*[SAMPLING] * 65).client(on_sample=sampler) as client:
        with pytest.raises(TooMuch, match=r"65 .* over 64 \(Limits.input_requests\)"):
            await client.call_tool("t")
    limits = Limits(input_requests=2)
    async with asking(*[SAMPLING] * 3).client(on_sample=sampler, limits=limits) as client:
        with pytest.raises(TooMuch):
            await client.call_tool("t")
    assert sampler.count == 0


# ---- URLs

REFUSED: Final = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "",
    "https:",
    "https:///nowhere",
    "//server.example/x",
    "https://server.example/\x1b[2J",
    "https://server.example/\nx",
    "\thttps://server.example/",
]


class Visitor:
    def __init__(self) -> None:
        self.urls: list[str] = []

    async def __call__(self, params: Any) -> t.ElicitResult:
        self.urls.append(params.url)
        return t.ElicitResult(action="accept")


@pytest.mark.parametrize("url", REFUSED)
async def test_a_url_that_is_not_of_the_web_is_refused_before_the_callback(url: str) -> None:
    visitor = Visitor()
    options: dict[str, Any] = {"on_elicit": visitor, "elicit_modes": ["url"]}
    async with asking(visit(url)).client(**options) as client:
        with pytest.raises(NotApproved, match="http, https"):
            await client.call_tool("t")
    async with (server := RawServer(SHAKEN)).client(**options):
        answer = await server.line.request("elicitation/create", visit(url)["params"])
        assert answer["error"]["code"] == -32602
    assert visitor.urls == []


async def agreed(*_: Any) -> Any:
    return {"action": "accept"}


FORM: Final = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on_elicit": agreed}, "on_elicit returned dict; return types.ElicitResult"),
        ({"on_elicit": lambda _: None}, "on_elicit is awaited; write it with `async def`"),
        ({"on_elicit": agreed, "approve": lambda *_: True}, "approve is awaited; write it with"),
    ],
)
async def test_a_callback_that_is_not_async_or_answers_something_else_is_refused_with_the_remedy(
    options: dict[str, Any], said: str
) -> None:
    async with asking(FORM).client(**options) as client:
        with pytest.raises(TypeError, match=said):
            await client.call_tool("t")


async def test_an_async_function_that_nobody_would_await_is_refused() -> None:
    with pytest.raises(TypeError, match="on_log is called and not awaited"):
        Client(Server("s", "1"), on_log=agreed)


def reporting(times: int) -> Server:
    server = Server("s", "1", limits=Limits(progress_rate=1e9))

    @server.tool
    async def work(ctx: Context) -> str:
        for number in range(1, times + 1):
            await ctx.progress(number, times, f"step {number}")
        return "done"

    return server


@pytest.mark.parametrize("revision", ALL)
async def test_an_async_on_progress_is_awaited_in_order_before_the_result(revision: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        await elapse(0.02 / progress)
        heard.append((progress, total))
        if progress == 2:
            raise ValueError("this one is logged")

    async with Client(reporting(3), revisions=[revision]) as client:
        await client.call_tool("work", on_progress=on_progress)
        assert heard == [(1, 3), (2, 3), (3, 3)]


async def test_of_the_calls_of_an_async_on_progress_that_wait_the_newest_are_kept() -> None:
    heard: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        await elapse(0.01)
        heard.append(progress)

    async with Client(reporting(50), limits=Limits(progress_calls=2)) as client:
        await client.call_tool("work", on_progress=on_progress)
    assert len(heard) <= 25
    assert heard == sorted(heard)
    assert heard[-2:] == [49, 50]


async def test_an_async_on_progress_that_hangs_does_not_hold_the_result_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ended = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Client(reporting(3), limits=Limits(progress_wait=0.05)) as client:
        async with asyncio.timeout(5):
            await client.call_tool("work", on_progress=on_progress)
            await ended.wait()
    assert "Limits.progress_wait" in caplog.text


async def test_an_async_on_progress_ends_with_a_call_that_is_given_up() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    server = Server("s", "1")

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.progress(1)
        await asyncio.Event().wait()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Client(server) as client:
        call = asyncio.create_task(client.call_tool("work", on_progress=on_progress))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.is_set()


async def test_other_schemes_are_a_setting() -> None:
    visitor = Visitor()
    options: dict[str, Any] = {"on_elicit": visitor, "elicit_modes": ["url"]}
    for url in ("https://server.example/x?y#z", "http://127.0.0.1:1/"):
        async with asking(visit(url)).client(**options) as client:
            await client.call_tool("t")
    schemes = {"elicit_schemes": ["https", "vscode"]}
    async with asking(visit("vscode://x.y/z")).client(**options, **schemes) as client:
        await client.call_tool("t")
    async with asking(visit("http://server.example/")).client(**options, **schemes) as client:
        with pytest.raises(NotApproved, match="https, vscode"):
            await client.call_tool("t")
    assert len(visitor.urls) == 3


# ---- roots


async def test_roots_may_be_strings() -> None:
    server = RawServer(SHAKEN)
    async with server.client(roots=["file:///srv", t.Root(uri="file:///a", name="A")]) as client:
        answer = await server.line.request("roots/list")
        assert answer["result"]["roots"] == [
            {"uri": "file:///srv"},
            {"uri": "file:///a", "name": "A"},
        ]
        await client.set_roots(["file:///b"])
        answer = await server.line.request("roots/list", id="s2")
        assert answer["result"]["roots"] == [{"uri": "file:///b"}]


@pytest.mark.parametrize("is_async", [True, False])
async def test_roots_of_a_function_may_be_strings(is_async: bool) -> None:
    async def roots() -> list[str]:
        return ["file:///srv"]

    server = RawServer(SHAKEN)
    async with server.client(roots=roots if is_async else lambda: ["file:///srv"]):
        answer = await server.line.request("roots/list")
    assert answer["result"]["roots"] == [{"uri": "file:///srv"}]


@pytest.mark.parametrize(
    ("roots", "error", "why"),
    [
        (["/srv"], ValueError, "'/srv'"),
        (["https://server.example"], ValueError, "file:// URI"),
        (["file:///a/../b"], ValueError, "without `..`"),
        (["file:///a b"], ValueError, "file:///a b"),
        ("file:///srv", TypeError, "not one string"),
        ([None], TypeError, "None"),
        ([b"file:///srv"], TypeError, "file:///srv"),
    ],
)
def test_roots_that_are_none_are_refused_when_the_client_is_made(
    roots: Any, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        Client(Server("s", "1"), roots=roots)


def signing_in(*, required: bool) -> Server:
    """Its tool sends the user to a page by a call, or refuses until the page was visited."""
    server = Server("s", "1")
    page = ("Sign in", "https://login.example.com/")

    @server.tool
    async def connect(ctx: Context) -> str:
        if required:
            await ctx.require_urls((*page, "visit-1"))
        else:
            await ctx.elicit_url(*page, elicitation_id="visit-1")
        await ctx.elicitation_over("visit-1")
        return "connected"

    return server


async def visited(params: Any) -> t.ElicitResult:
    return t.ElicitResult(action="accept")


@pytest.mark.parametrize(("revision", "heard"), [(SHAKEN, ["visit-1"]), (NEWEST, [])])
async def test_the_client_is_called_with_the_id_when_a_visit_is_complete(
    revision: str, heard: list[str]
) -> None:
    completed: list[str] = []
    client = Client(
        signing_in(required=False),
        revisions=[revision],
        on_elicit=visited,
        elicit_modes=["url"],
        on_elicitation_complete=completed.append,
    )
    async with client:
        await client.call_tool("connect")
    assert completed == heard


async def test_a_page_that_a_call_requires_has_the_id_that_the_handler_gave_it() -> None:
    server, options = signing_in(required=True), {"on_elicit": visited, "elicit_modes": ["url"]}
    async with Client(server, revisions=[SHAKEN], **options) as client:
        with pytest.raises(RemoteError) as refused:
            await client.call_tool("connect")
    (page,) = refused.value.data["elicitations"]
    assert page["elicitationId"] == "visit-1"


async def test_a_completion_callback_that_nobody_would_await_is_refused() -> None:
    with pytest.raises(TypeError, match="on_elicitation_complete is called and not awaited"):
        Client(Server("s", "1"), on_elicitation_complete=visited)
