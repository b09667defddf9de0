"""Methods of a server's own: handlers that `on` registers, and capabilities that they declare."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.errors import NotOffered, RemoteError
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.decorators import dispatcher_of

REF: Final = t.PromptReference(name="p")


def completing(**options: Any) -> Server:
    server = Server("s", "1")

    @server.on("completion/complete", **options)
    async def complete(params: t.CompleteRequestParams, ctx: Context) -> t.CompleteResult:
        values = [params.argument.value + "!"]
        return t.CompleteResult(
            completion=t.CompleteResultCompletion(values=values), result_type="complete"
        )

    return server


@pytest.mark.parametrize("revision", [name for name in ALL if name > "2025"])
async def test_a_method_declares_its_capability(revision: str) -> None:
    server = completing(capability="completions")
    async with Client(server, revisions=[revision]) as client:
        assert (await client.complete(REF, "a", "x")).values == ["x!"]


def test_a_completion_of_an_argument_that_is_not_there_is_refused_and_names_those_that_are() -> (
    None
):
    server = Server("s", "1")

    @server.prompt
    def review(language: str, code: str) -> str:
        return language + code

    @server.resource("note://{title}")
    def note(title: str) -> str:
        return title

    with pytest.raises(ValueError, match="'review' has no argument 'lang'; it has: language, code"):
        server.completion("review", "lang")(len)
    with pytest.raises(ValueError, match="no argument 'name'; it has: title"):
        server.completion("note://{title}", "name")(len)
    with pytest.raises(TypeError, match="give the name of a prompt or a URI template"):
        server.completion(review, "language")(len)  # type: ignore[arg-type]


@pytest.mark.parametrize("revision", ALL)
async def test_a_handler_sends_a_notification_about_its_request(revision: str) -> None:
    server, received = Server("s", "1"), list[bytes]()

    @server.tool
    async def work(ctx: Context) -> str:
        params = t.ProgressNotificationParams(progress_token="nobody's", progress=1)
        await ctx.calls.notify("notifications/progress", params)
        return "done"

    def note(way: str, data: bytes) -> None:
        if way == "received":
            received.append(data)

    async with Client(server, revisions=[revision], trace=note) as client:
        await client.call_tool("work")
    kinds = [b"notifications/progress" in data for data in received[-2:]]
    assert kinds == [True, False], received


async def test_one_text_is_no_list_of_completions(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s", "1")

    @server.prompt
    def review(language: str) -> str:
        return language

    @server.completion("review", "language")
    def languages(typed: str) -> Any:
        return "python"

    async with Client(server) as client:
        said = "a completion returns a list of texts, found str"
        with pytest.raises(RemoteError, match=f"Internal error: {said}"):
            await client.complete(t.PromptReference(name="review"), "language", "p")
    assert said in caplog.text


async def test_a_method_without_its_capability_is_not_offered() -> None:
    async with Client(completing()) as client:
        with pytest.raises(NotOffered, match="completions"):
            await client.complete(REF, "a", "x")


@pytest.mark.parametrize(
    ("capability", "declared"),
    [
        ("skills", {"skills": {}}),
        ("experimental.acme", {"experimental": {"acme": {}}}),
        ("tools", {"tools": {}}),
        ("", {}),
        ("resources.subscribe", {"resources": {"subscribe": True}}),
    ],
)
async def test_a_capability_may_be_any_that_a_server_can_have(
    capability: str, declared: dict[str, Any]
) -> None:
    server = Server("s", "1")

    @server.on("skills/list", capability=capability)
    async def skills(params: Any, ctx: Context) -> Any:
        return {"skills": []}

    capabilities = t.to_wire(dispatcher_of(server).offer().capabilities)
    assert capabilities == {"logging": {}, **declared}


def test_what_is_no_capability_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'tools\.listChanged\.x' is not a capability"):
        completing(capability="tools.listChanged.x")


PARENT: Final = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("revision", ALL)
async def test_a_handler_reads_the_meta_of_its_request(revision: str) -> None:
    server = Server("s", "1")
    seen: list[object] = []

    @server.tool
    async def trace(ctx: Context) -> None:
        seen.append(ctx.meta.get("traceparent"))

    async with Client(server, revisions=[revision]) as client:
        await client.call_tool("trace", meta={"traceparent": PARENT})
        await client.call_tool("trace")
    assert seen == [PARENT, None]
