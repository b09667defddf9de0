"""Several servers behind one bridge: names, lists, failures, hooks and limits."""

from __future__ import annotations

import asyncio
import io
import json
from functools import partial
from itertools import pairwise
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime import types as t
from mcp_runtime.bridge import Access, Bridge, Crossing, LossFile, Names, Upstream, sending
from mcp_runtime.bridge.losses import losses
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import ALL
from mcp_runtime.transports.memory import pair
from tests.support.uvicorn_served import served
from tests.support.virtual_time import elapse

FORM: Final = {"type": "object", "properties": {"a": {"type": "string"}}}


def named(name: str, *, revisions: Any = ALL) -> Server:
    server = Server(name, "1", instructions=f"Ask {name}.", revisions=revisions)

    @server.tool
    async def who(ctx: Context) -> str:
        return name

    @server.tool
    async def ask(ctx: Context) -> str:
        return f"{name} {(await ctx.elicit('?', FORM)).content}"

    @server.tool
    async def link() -> t.ResourceLink:
        return t.ResourceLink(uri="note://a", name="a")

    @server.resource("note://a")
    def note() -> str:
        return f"the note of {name}"

    @server.resource("page://{n}")
    def page(n: str) -> str:
        return f"page {n} of {name}"

    @server.prompt
    def greet(whom: str) -> str:
        return f"{name} greets {whom}"

    @server.completion("greet", "whom")
    def names(value: str) -> list[str]:
        return [name]

    return server


def text(result: t.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, t.TextContent)
    return block.text


async def elicit(params: t.ElicitRequestParams) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={"a": "x"})


async def test_each_server_has_its_prefix_in_lists_and_calls() -> None:
    bridge = Bridge({"one": named("one", revisions=[ALL[0]]), "two": named("two")})
    async with Client(bridge.server, on_elicit=elicit) as client:
        tools = [tool.name for tool in await client.list_tools()]
        uris = [resource.uri for resource in await client.list_resources()]
        templates = [each.uri_template for each in await client.list_resource_templates()]
        assert tools == ["one_who", "one_ask", "one_link", "two_who", "two_ask", "two_link"]
        assert uris == ["note://one/a", "note://two/a"]
        assert templates == ["page://one/{n}", "page://two/{n}"]
        assert [prompt.name for prompt in await client.list_prompts()] == ["one_greet", "two_greet"]
        assert text(await client.call_tool("two_who")) == "two"
        assert text(await client.call_tool("two_ask")) == "two {'a': 'x'}"
        (contents,) = await client.read_resource("page://two/7")
        assert (contents.uri, getattr(contents, "text", "")) == ("page://two/7", "page 7 of two")
        (block,) = (await client.call_tool("two_link")).content
        assert isinstance(block, t.ResourceLink)
        assert block.uri == "note://two/a"
        said = (await client.get_prompt("one_greet", {"whom": "you"})).messages[0].content
        assert isinstance(said, t.TextContent)
        assert said.text == "one greets you"
        completed = await client.complete(t.PromptReference(name="two_greet"), "whom", "")
        assert completed.values == ["two"]
        assert client.instructions == "one: Ask one.\n\ntwo: Ask two."
        with pytest.raises(RemoteError, match="Unknown tool: who"):
            await client.call_tool("who")


async def test_tools_are_renamed_and_filtered() -> None:
    names = Names(prefix="b", renamed={"who": "name"}, tools=("who", "a*"))
    bridge = Bridge({"a": named("a"), "b": Upstream.of(named("b"), names)})
    async with Client(bridge.server) as client:
        tools = [tool.name for tool in await client.list_tools()]
        assert tools == ["a_who", "a_ask", "a_link", "name", "b_ask"]
        assert text(await client.call_tool("name")) == "b"
        for hidden in ("b_who", "b_link"):
            with pytest.raises(RemoteError, match="Unknown tool"):
                await client.call_tool(hidden)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (Names(prefix="a"), Names(prefix="a"), "none begins another"),
        (Names(prefix="a"), Names(prefix="a_b"), "none begins another"),
        (Names(), Names(prefix="b"), "none begins another"),
        (Names("a", {"who": "x"}), Names("b", {"who": "x"}), "both rename a tool to 'x'"),
        (Names("a", {"who": "b_who"}), Names("b"), "a name of 'two'"),
    ],
)
def test_names_that_could_hide_another_are_refused(one: Names, other: Names, why: str) -> None:
    servers = {"one": Upstream.of(named("one"), one), "two": Upstream.of(named("two"), other)}
    with pytest.raises(ValueError, match=why):
        Bridge(servers)


async def test_a_server_that_fails_or_is_late_holds_up_no_other() -> None:
    async def late(stack: Any, owner: Any) -> Any:
        await asyncio.Event().wait()

    async def broken(stack: Any, owner: Any) -> Any:
        raise OSError("the secret is hunter2")

    limits = Limits(bridge_wait=2.0, deadline=3.0)
    bridge = Bridge({"a": named("a"), "b": broken, "c": late}, limits=limits)
    async with Client(bridge.server) as client:
        tools = [tool.name for tool in await client.list_tools()]
        assert tools == ["a_who", "a_ask", "a_link"]
        with pytest.raises(RemoteError) as refused:
            await client.call_tool("b_who")
        assert "hunter2" not in str(refused.value)
        assert "not available" in str(refused.value)


async def test_a_failing_server_is_tried_again_after_a_wait_that_doubles() -> None:
    tries = list[float]()

    async def broken(stack: Any, owner: Any) -> Any:
        tries.append(asyncio.get_running_loop().time())
        raise OSError("no")

    bridge = Bridge({"a": named("a"), "b": broken}, limits=Limits(bridge_backoff=2.0))
    async with Client(bridge.server) as client:
        for _ in range(60):
            with pytest.raises(RemoteError):
                await client.call_tool("b_who")
            await elapse(0.1)
    waits = [round(after - before, 1) for before, after in pairwise(tries)]
    assert waits[:4] == [0.0, 0.5, 1.0, 2.0]  # the first was the bridge's own
    assert max(waits) <= 2.1  # the limit, and the step of this test


def late_upstream(server: Server, prefix: str, seconds: float, failures: int = 0) -> Upstream:
    """Return a server that comes after some seconds, and fails some times before."""
    left = [failures]

    async def connect() -> Any:
        await elapse(seconds)
        if left[0]:
            left[0] -= 1
            raise OSError("not yet")
        near, far = pair()
        server.accept(far)
        return near

    return Upstream(connect=partial(Client.wire, connect), names=Names(prefix=prefix))


async def test_without_any_server_a_bridge_waits_for_the_first_one() -> None:
    servers = {name: late_upstream(named(name), name, at) for name, at in (("a", 9), ("b", 5))}
    bridge = Bridge(servers, limits=Limits(bridge_wait=1.0))
    started = asyncio.get_running_loop().time()
    async with Client(bridge.server) as client:
        assert 5 <= asyncio.get_running_loop().time() - started < 9
        assert client.instructions == "b: Ask b."


async def test_a_late_server_is_announced_to_the_clients_that_are_there() -> None:
    prompts = Server("p", "1")
    prompts.prompt(name="hello")(lambda: "Hello!")
    servers: dict[str, Any] = {"a": named("a"), "p": late_upstream(prompts, "p", 20)}
    bridge = Bridge(servers, limits=Limits(bridge_wait=1.0))
    async with Client(bridge.server) as client, client.listen(prompts=True) as changes:
        assert [prompt.name for prompt in await client.list_prompts()] == ["a_greet"]
        await anext(changes)
        assert [prompt.name for prompt in await client.list_prompts()] == ["a_greet", "p_hello"]


@pytest.mark.parametrize("revision", [ALL[0], ALL[-1]])
async def test_a_server_that_was_away_at_the_start_is_used_when_it_comes(revision: str) -> None:
    bridge = Bridge(late_upstream(named("s"), "", 0, failures=1))
    async with Client(bridge.server, revisions=[revision]) as client:
        assert [tool.name for tool in await client.list_tools()] == ["who", "ask", "link"]
        assert text(await client.call_tool("who")) == "s"


async def test_a_server_that_has_worked_is_started_again_at_once() -> None:
    server, wires = named("s"), list[Any]()

    async def connect() -> Any:
        near, far = pair()
        server.accept(far)
        wires.append(near)
        return near

    bridge = Bridge(Upstream(connect=partial(Client.wire, connect)))
    async with Client(bridge.server, revisions=[ALL[0]]) as client:
        for _ in range(3):
            assert text(await client.call_tool("who")) == "s"
            await wires[-1].close()
            await elapse(0.01)
        assert len(wires) == 3


async def test_a_list_comes_from_the_process_where_the_calls_of_the_client_ran() -> None:
    async def connect() -> Any:
        near, far = pair()
        server = Server("s", "1", revisions=[ALL[3]])  # as a process of its own

        @server.tool
        async def grow() -> str:
            server.tool(name="grown")(lambda: "grown")
            return "done"

        server.accept(far)
        return near

    bridge = Bridge(Upstream(connect=partial(Client.wire, connect)))
    async with (
        served(bridge.server.asgi(), lifespan="on") as origin,
        Client.http(f"{origin}/mcp", on_elicit=elicit) as client,
    ):
        assert [tool.name for tool in await client.list_tools()] == ["grow"]
        await client.call_tool("grow")
        tools = await client.list_tools(anew=True)
        assert [tool.name for tool in tools] == ["grow", "grown"]


async def test_a_client_that_ends_its_server_again_and_again_delays_nobody_else() -> None:
    wires = list[Any]()

    async def connect() -> Any:
        near, far = pair()
        server.accept(far)
        wires.append(near)
        return near

    server = named("s")

    @server.tool
    async def die(ctx: Context) -> str:
        await wires[-1].close()
        return "gone"

    bridge = Bridge(Upstream(connect=partial(Client.wire, connect)))
    old = partial(Client, bridge.server, revisions=[ALL[0]])
    async with old() as hostile, old() as other:
        for _ in range(8):
            with pytest.raises(RemoteError):
                await hostile.call_tool("die")
        assert text(await other.call_tool("who")) == "s"


async def test_allow_hides_and_refuses_each_kind_of_feature() -> None:
    asked = set[Access]()

    async def allow(access: Access) -> bool:
        asked.add(access)
        return access.name not in ("ask", "note://a", "greet", "page://{n}", "page://1")

    bridge = Bridge(named("only"), allow=allow)
    async with Client(bridge.server, on_elicit=elicit) as client:
        assert [tool.name for tool in await client.list_tools()] == ["who", "link"]
        assert await client.list_resources() == []
        assert await client.list_resource_templates() == []
        assert await client.list_prompts() == []
        for refused in (
            client.call_tool("ask"),
            client.read_resource("note://a"),
            client.read_resource("page://1"),
            client.get_prompt("greet", {"whom": "x"}),
            client.complete(t.PromptReference(name="greet"), "whom", ""),
        ):
            with pytest.raises(RemoteError):
                await refused
        assert text(await client.call_tool("who")) == "only"
    assert Access("tool", "who", "upstream", "") in asked


async def test_rewrite_changes_params_and_results() -> None:
    def rewrite(position: str, method: str, model: Any, upstream: str) -> Any:
        if method != "tools/call":
            return model
        if position == "params":
            return t.CallToolRequestParams(name="who", meta=model.meta)
        return t.CallToolResult(
            content=[t.TextContent(text=f"{upstream}!")], result_type="complete"
        )

    bridge = Bridge(named("only"), rewrite=rewrite)
    async with Client(bridge.server) as client:
        assert text(await client.call_tool("nobody has this")) == "upstream!"


async def test_losses_are_observed_and_written() -> None:
    server, file, seen = Server("s", "1"), io.StringIO(), list[Crossing]()

    @server.tool
    async def table() -> dict[str, int]:
        return {"a": 1}

    def observe(crossing: Crossing) -> None:
        seen.append(crossing)
        LossFile(file)(crossing)

    bridge = Bridge(server, observe=observe, revisions=[ALL[1]])
    async with Client(bridge.server) as client:
        await client.call_tool("table")
    (crossing,) = [each for each in seen if each.method == "tools/call"]
    assert (crossing.client, crossing.server, crossing.error) == (ALL[1], ALL[-1], None)
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    (line,) = [line for line in lines if line["method"] == "tools/call"]
    assert line["name"] == "table"
    assert any("structuredContent" in loss["path"] for loss in line["losses"])


@pytest.mark.parametrize(("level", "read"), [("INFO", True), ("WARNING", False)])
async def test_without_an_observer_losses_are_sought_for_the_log_alone(
    level: str, read: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought = list[str]()

    def seek(position: Any, method: str, model: Any, spoken: str) -> Any:
        sought.append(f"{position} {method}")
        return losses(position, method, model, spoken)

    monkeypatch.setattr(sending, "losses", seek)
    server = Server("s", "1")

    @server.tool
    async def table() -> dict[str, int]:
        return {"a": 1}

    with caplog.at_level(level, "mcp_runtime.bridge"):
        async with Client(Bridge(server, revisions=[ALL[1]]).server, validate=False) as client:
            assert text(await client.call_tool("table")) == '{"a":1}'
    assert sought == (["params tools/call", "result tools/call"] if read else [])
    assert ("structuredContent" in caplog.text) is read


# ---- calls that wait for an answer


@pytest.mark.parametrize("repeatable", [True, False])
async def test_a_call_goes_on_after_a_restart_only_if_it_may_run_twice(repeatable: bool) -> None:
    server, runs = Server("s", "1", revisions=[ALL[3]]), list[str]()

    @server.tool(annotations=t.ToolAnnotations(idempotent_hint=repeatable))
    async def ask(ctx: Context) -> str:
        runs.append("run")
        return f"{(await ctx.elicit('?', FORM)).content}"

    keys = [b"k" * 32]
    async with Client(Bridge(server, keys=keys).server, on_elicit=elicit) as client:
        first: Any = await ask_by_hand(client)
    answers = {
        "input_responses": await client.responses(first.input_requests),
        "request_state": first.request_state,
    }
    async with Client(Bridge(server, keys=keys).server, on_elicit=elicit) as client:
        if repeatable:
            assert text(await ask_by_hand(client, **answers)) == "{'a': 'x'}"
        else:
            with pytest.raises(RemoteError, match="is gone: call the tool anew"):
                await ask_by_hand(client, **answers)
    assert runs == ["run"] * (1 + repeatable)


# ---- limits


async def ask_by_hand(client: Client, **more: Any) -> Any:
    params = t.CallToolRequestParams(name="ask", meta=client.meta(), **more)
    return await client.request("tools/call", params)


async def test_above_parked_the_request_that_waited_longest_is_cancelled() -> None:
    cancelled = list[str]()
    server = Server("s", "1", revisions=[ALL[3]])

    @server.tool
    async def ask(ctx: Context, who: str) -> str:
        try:
            return f"{who} {(await ctx.elicit('?', FORM)).action}"
        except asyncio.CancelledError:
            cancelled.append(who)
            raise

    bridge = Bridge(server, limits=Limits(parked=1))
    async with Client(bridge.server, on_elicit=elicit) as client:

        async def begin(who: str) -> t.InputRequiredResult:
            result: Any = await ask_by_hand(client, arguments={"who": who})
            assert isinstance(result, t.InputRequiredResult)
            return result

        first, second = await begin("first"), await begin("second")
        await elapse(0.01)
        assert cancelled == ["first"]
        requests: Any = second.input_requests
        again = await ask_by_hand(
            client,
            arguments={"who": "second"},
            input_responses=await client.responses(requests),
            request_state=second.request_state,
        )
        assert text(again) == "second accept"
        assert first.request_state != second.request_state


async def test_no_more_uris_are_watched_than_the_limit() -> None:
    bridge = Bridge(named("s"), limits=Limits(bridge_uris=2))
    uris = ["note://a", "page://1", "page://2"]
    async with Client(bridge.server) as client, client.listen(uris=uris) as changes:
        assert changes.served.resource_subscriptions == ["note://a", "page://1"]


async def test_uris_that_nobody_watches_any_more_make_room() -> None:
    server = named("s")
    bridge = Bridge(server, limits=Limits(bridge_uris=2))
    async with Client(bridge.server) as client:
        for number in range(6):
            uri = f"page://{number}"
            async with client.listen(uris=[uri]) as changes:
                assert changes.served.resource_subscriptions == [uri]
                await elapse(0.01)
                server.resource_updated(uri)
                assert (await anext(changes)).uri == uri


async def test_no_more_links_are_open_than_the_limit() -> None:
    bridge = Bridge(named("s"), limits=Limits(bridge_links=2, deadline=1.0))
    old = partial(Client, bridge.server, revisions=[ALL[0]])
    async with old() as one, old() as two:
        assert text(await one.call_tool("who")) == "s"
        assert text(await two.call_tool("who")) == "s"
        async with old() as three:
            with pytest.raises(RemoteError, match=r"Limits\.bridge_links"):
                await three.call_tool("who")
    async with old() as four:
        assert text(await four.call_tool("who")) == "s"
