"""Requests that need several rounds: what a result asks for, what comes back, and its seal."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from itertools import count
from secrets import token_bytes
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime import types as t
from mcp_runtime.core.session.request_state import KeyRing, StateSealer
from mcp_runtime.errors import NotApproved, NotOffered, RpcError, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.server import connection
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.memory import pair
from tests.support.json_peers import NEWEST, RawClient, RawServer, connected, with_page

ROOTS: dict[str, Any] = {"roots": {}}
ALL_OF_THEM: dict[str, Any] = {"roots": {}, "sampling": {}, "elicitation": {}}
CALL: dict[str, Any] = {"name": "twice", "arguments": {"x": 1}}


def twice(**options: Any) -> Server:
    """Its tool asks for the roots and then again; how often it is run to its end is counted."""
    server = Server("s", "1", **options)
    ends = count()

    @server.tool
    async def twice(ctx: Context, x: int = 0) -> str:
        one = await ctx.roots(key="one")
        two = await ctx.roots(key="two")
        return f"{len(one)} {len(two)} {next(ends)}"

    @server.prompt
    async def asking(ctx: Context) -> str:
        return str(await ctx.roots())

    @server.resource("a://b")
    async def resource(ctx: Context) -> str:
        return str(await ctx.roots())

    return server


ONE = {"roots": [{"uri": "file:///a"}]}


async def halfway(client: RawClient) -> dict[str, Any]:
    """The result that asks for the second answer; its state has the first."""
    await client.result("tools/call", CALL)
    return await client.result("tools/call", CALL | {"inputResponses": {"one": ONE}})


async def finish(client: RawClient, state: Any, **call: Any) -> dict[str, Any]:
    retry = {"inputResponses": {"two": {"roots": []}}, "requestState": state}
    return await client.ask("tools/call", CALL | retry | call)


# ---- what a server asks


@pytest.mark.requirement("mrtr.result.not-empty")
@pytest.mark.requirement("mrtr.requests.kinds")
@pytest.mark.requirement("mrtr.requests.keys-unique")
@pytest.mark.requirement("mrtr.only-way")
async def test_a_result_that_asks_has_requests_under_keys() -> None:
    server = Server("s", "1")

    server.tool(ctx_roots, name="one")
    async with connected(server, NEWEST, ALL_OF_THEM) as client:
        result = await client.tool("one")
        assert result["resultType"] == "input_required"
        keys = list(result["inputRequests"])
        assert len(set(keys)) == len(keys) > 0
        for request in result["inputRequests"].values():
            assert request.keys() <= {"method", "params"}
            assert request["method"] == "roots/list"


async def ctx_roots(ctx: Context) -> str:
    return str(await ctx.roots())


@pytest.mark.requirement("mrtr.requests.keys-unique")
async def test_two_questions_alike_have_keys_of_their_own() -> None:
    server = Server("s", "1")

    @server.tool
    async def ask(ctx: Context) -> str:
        first = await ctx.elicit("same", {"properties": {}})
        second = await ctx.elicit("same", {"properties": {}})
        return f"{first.action} {second.action}"

    accepted = {"action": "accept", "content": {}}
    async with connected(server, NEWEST, ALL_OF_THEM) as client:
        first = await client.tool("ask")
        (one,) = first["inputRequests"]
        second = await client.result(
            "tools/call", {"name": "ask", "arguments": {}, "inputResponses": {one: accepted}}
        )
        (two,) = second["inputRequests"]
        assert one != two


@pytest.mark.requirement("mrtr.requests.declared-only")
@pytest.mark.requirement("errors.data.missing-client-capability")
@pytest.mark.parametrize("declared", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}])
async def test_nothing_is_asked_that_the_request_does_not_declare(declared: Any) -> None:
    server = Server("s", "1")
    server.tool(ctx_roots, name="roots")

    @server.tool
    async def form(ctx: Context) -> str:
        return (await ctx.elicit("x", {"properties": {}})).action

    @server.tool
    async def tools(ctx: Context) -> str:
        tool = t.Tool(name="x", input_schema=t.ToolInputSchema())
        return (await ctx.sample("x", max_tokens=1, tools=[tool])).model

    async with connected(server, NEWEST, declared) as client:
        for tool in ("roots", "form", "tools"):
            error = await client.error("tools/call", {"name": tool})
            assert error["code"] == -32021
            assert error["data"]["requiredCapabilities"]


@pytest.mark.requirement("mrtr.unsupported-requests")
async def test_other_requests_are_never_answered_with_questions() -> None:
    server = twice()

    @server.completion("a://{x}", "x")
    async def complete(value: str, ctx: Context) -> list[str]:
        return [str(await ctx.roots())]

    @server.on("own/method")
    async def own(params: Any, ctx: Context) -> dict[str, Any]:
        return {"roots": await ctx.roots()}

    ref = {"type": "ref/resource", "uri": "a://{x}"}
    async with connected(server, NEWEST, ALL_OF_THEM) as client:
        argument = {"ref": ref, "argument": {"name": "x", "value": ""}}
        assert (await client.error("completion/complete", argument))["code"] == -32603
        assert (await client.error("own/method"))["code"] == -32603
        for method, params in (
            ("prompts/get", {"name": "asking"}),
            ("resources/read", {"uri": "a://b"}),
            ("tools/call", CALL),
        ):
            assert (await client.result(method, params))["resultType"] == "input_required"


@pytest.mark.requirement("mrtr.server.no-expectation")
async def test_a_server_keeps_nothing_for_a_client_that_may_never_come_back() -> None:
    server = twice()
    async with connected(server, NEWEST, ROOTS) as client:
        for _ in range(50):
            await client.result("tools/call", CALL)
        (connection,) = dispatcher_of(server).connections
        assert not connection.session.running
        assert not connection._tasks
        assert not connection.session.pending._sent
        await client.result("tools/list")


@pytest.mark.requirement("mrtr.error.missing")
@pytest.mark.requirement("mrtr.error.surplus")
async def test_what_is_missing_is_asked_again_and_what_is_too_much_is_ignored() -> None:
    async with connected(twice(), NEWEST, ROOTS) as client:
        asked = await client.result("tools/call", CALL)
        for responses in ({}, {"other": ONE}, {"one": {"wrong": 1}}, {"one": {"action": "accept"}}):
            answer = await client.ask("tools/call", CALL | {"inputResponses": responses})
            if "error" in answer:
                assert answer["error"]["code"] == -32602
            else:
                assert answer["result"]["inputRequests"].keys() == asked["inputRequests"].keys()
        half = await halfway(client)
        inputs = {"two": {"roots": []}, "surplus": ONE, "three": {"action": "cancel"}}
        more = {"inputResponses": inputs, "requestState": half["requestState"]}
        done = await client.result("tools/call", CALL | more)
        assert done["content"][0]["text"].startswith("1 0")


@pytest.mark.requirement("mrtr.error.protocol")
@pytest.mark.requirement("mrtr.error.validate")
@pytest.mark.parametrize(
    "wrong",
    [
        {"inputResponses": 5},
        {"inputResponses": []},
        {"inputResponses": {"one": 5}},
        {"inputResponses": {"one": {"roots": [{"uri": 5}]}}},
        {"requestState": 5},
        {"requestState": "x"},
        {"requestState": ""},
    ],
)
async def test_answers_that_are_malformed_are_an_error(wrong: dict[str, Any]) -> None:
    async with connected(twice(), NEWEST, ROOTS) as client:
        assert (await client.error("tools/call", CALL | wrong))["code"] == -32602
        assert await client.result("tools/call", CALL)


@pytest.mark.requirement("mrtr.error.protocol")
async def test_an_inner_failure_is_an_error() -> None:
    server = Server("s", "1")

    @server.prompt
    async def asking(ctx: Context) -> str:
        await ctx.roots(key="r")
        raise RuntimeError("secret")

    async with connected(server, NEWEST, ROOTS) as client:
        call = {"name": "asking", "inputResponses": {"r": ONE}}
        error = await client.error("prompts/get", call)
        assert error["code"] == -32603
        assert "secret" not in json.dumps(error)


# ---- its seal


def flipped(state: str) -> list[str]:
    """Each with one bit of its bytes changed."""
    raw = urlsafe_b64decode(state)
    places = {*range(0, len(raw), 7), len(raw) - 1}
    changed = (raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in sorted(places))
    return [urlsafe_b64encode(each).decode() for each in changed]


@pytest.mark.requirement("mrtr.state.hostile")
@pytest.mark.requirement("mrtr.state.protect")
@pytest.mark.requirement("mrtr.state.reject")
async def test_a_state_that_was_changed_is_refused() -> None:
    async with connected(twice(), NEWEST, ROOTS) as client:
        half = await halfway(client)
        state = half["requestState"]
        wrong = [*flipped(state), state + "A", state[:-4], "A" + state, state * 2, "\u0000", "ü"]
        wrong.append("A" * 20_000)
        for each in wrong:
            answer = await finish(client, each)
            assert answer["error"]["code"] == -32602, each
            assert "requestState" in answer["error"]["message"]
        assert "result" in await finish(client, state)


@pytest.mark.requirement("mrtr.state.request-bound")
async def test_a_state_serves_its_own_request_only() -> None:
    server = twice()
    server.tool(dispatcher_of(server).features.tools.get("twice").function, name="other")
    async with connected(server, NEWEST, ROOTS) as client:
        state = (await halfway(client))["requestState"]
        for other in ({"name": "other"}, {"arguments": {"x": 2}}, {"arguments": {}}):
            assert (await finish(client, state, **other))["error"]["code"] == -32602
        retry = {"inputResponses": {"two": ONE}, "requestState": state}
        assert (await client.error("prompts/get", {"name": "asking"} | retry))["code"] == -32602
        assert "result" in await finish(client, state)


@pytest.mark.requirement("mrtr.state.expiry")
async def test_a_state_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(connection.time, "time", lambda: now[0])
    async with connected(twice(limits=Limits(request_state_age=60)), NEWEST, ROOTS) as client:
        state = (await halfway(client))["requestState"]
        now[0] += 59
        assert "result" in await finish(client, state)
        now[0] += 2
        answer = await finish(client, state)
        assert answer["error"]["code"] == -32602
        assert "expired" in answer["error"]["message"]


@pytest.mark.requirement("mrtr.state.principal")
async def test_a_state_is_its_owners_only() -> None:
    server = twice()

    async def of(principal: str) -> tuple[RawClient, asyncio.Task[None]]:
        ours, theirs = pair()
        connection = ServerWireConnection(dispatcher_of(server), principal=principal)
        return RawClient(ours, NEWEST, ROOTS), asyncio.create_task(connection.serve(theirs))

    (ada, one), (bob, two) = await of("ada"), await of("bob")
    state = (await halfway(ada))["requestState"]
    assert (await finish(bob, state))["error"]["code"] == -32602
    assert "result" in await finish(ada, state)
    for client, served in ((ada, one), (bob, two)):
        await client.end()
        await served


@pytest.mark.requirement("security.handle.unpredictable")
@pytest.mark.requirement("mrtr.state.protect")
async def test_each_server_has_a_secret_of_its_own() -> None:
    states = []
    for _ in range(3):
        async with connected(twice(), NEWEST, ROOTS) as client:
            state = (await halfway(client))["requestState"]
            for other in states:
                assert (await finish(client, other))["error"]["code"] == -32602
            states.append(state)
    assert len(set(states)) == 3


class SingleUse:
    """A sealer of a server's own, whose states are opened once."""

    def __init__(self, sealer: StateSealer) -> None:
        self._sealer = sealer
        self._used: set[bytes] = set()

    def seal(self, state: bytes, bound: bytes, expires: float) -> str:
        return self._sealer.seal(token_bytes(16) + state, bound, expires)

    def open(self, text: str, bound: bytes, now: float) -> bytes:
        raw = self._sealer.open(text, bound, now)
        mark, state = raw[:16], raw[16:]
        if mark in self._used:
            raise RpcError(-32602, "Invalid params: requestState may be used once")
        self._used.add(mark)
        return state


@pytest.mark.requirement("mrtr.state.single-use")
async def test_a_state_that_may_be_used_once_is_used_once() -> None:
    sealer = SingleUse(KeyRing([b"k" * 32]))
    async with connected(twice(keys=sealer), NEWEST, ROOTS) as client:
        state = (await halfway(client))["requestState"]
        assert (await finish(client, state))["result"]["content"][0]["text"] == "1 0 0"
        for _ in range(2):
            answer = await finish(client, state)
            assert answer["error"]["code"] == -32602
            assert "once" in answer["error"]["message"]
        assert "result" in await finish(client, (await halfway(client))["requestState"])


# ---- what a client does


def asking(*rounds: dict[str, Any]) -> RawServer:
    """A server whose tool asks in these rounds, and then is done."""
    left = {}

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        name = message["params"]["name"]
        todo = left.setdefault(name, list(rounds))
        if not todo:
            return with_page({"content": [{"type": "text", "text": name}]}, NEWEST)
        return {"resultType": "input_required"} | todo.pop(0)

    return RawServer(NEWEST, answers={"tools/call": answer})


WANTED: dict[str, Any] = {"inputRequests": {"k": {"method": "roots/list"}}}
STATES = ["s", "", "ü \n\t\"'\\", "{}", "x" * 100_000]


@pytest.mark.requirement("mrtr.client.build-inputs")
@pytest.mark.requirement("mrtr.client.echo-state")
@pytest.mark.requirement("mrtr.client.state-opaque")
@pytest.mark.requirement("mrtr.client.new-id")
@pytest.mark.parametrize("state", STATES)
async def test_a_client_answers_and_returns_the_state_as_it_was(state: str) -> None:
    server = asking(WANTED | {"requestState": state})
    async with server.client(roots=[t.Root(uri="file:///a")]) as client:
        await client.call_tool("x", {"a": 1})
    first, second = server.requests("tools/call")
    assert first["id"] != second["id"]
    assert "requestState" not in first["params"]
    assert second["params"]["requestState"] == state
    assert second["params"]["inputResponses"] == {"k": {"roots": [{"uri": "file:///a"}]}}
    assert second["params"]["arguments"] == first["params"]["arguments"] == {"a": 1}


@pytest.mark.requirement("mrtr.client.no-invented-state")
async def test_a_client_invents_no_state_and_keeps_none_of_an_earlier_round() -> None:
    server = asking(WANTED, WANTED | {"requestState": "s"}, WANTED, {"requestState": "only"})
    async with server.client(roots=[]) as client:
        await client.call_tool("x")
    states = [m["params"].get("requestState", "none") for m in server.requests("tools/call")]
    assert states == ["none", "none", "s", "none", "only"]
    assert "inputResponses" not in server.requests("tools/call")[-1]["params"]


@pytest.mark.requirement("mrtr.client.this-request-only")
async def test_what_is_asked_for_one_call_does_not_flow_into_another() -> None:
    server = asking(WANTED | {"requestState": "s"})
    async with server.client(roots=[]) as client:
        await asyncio.gather(*(client.call_tool(name) for name in "abc"))
        await client.call_tool("d")
    for name in "abcd":
        first, second = (m for m in server.requests("tools/call") if m["params"]["name"] == name)
        assert not first["params"].keys() & {"inputResponses", "requestState"}
        assert second["params"].keys() >= {"inputResponses", "requestState"}


@pytest.mark.requirement("mrtr.requests.declared-only")
async def test_a_client_gives_nothing_that_it_has_not_declared() -> None:
    server = asking(WANTED)
    async with server.client() as client:
        with pytest.raises(NotOffered):
            await client.call_tool("x")
    assert len(server.requests("tools/call")) == 1


async def test_a_client_that_does_not_approve_does_not_come_back() -> None:
    async def approve(method: str, params: Any) -> bool:
        return method == "tools/call"

    sample = {
        "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 1},
    }

    async def never(params: Any) -> Any:
        raise AssertionError

    server = asking({"inputRequests": {"k": sample}})
    async with server.client(on_sample=never, approve=approve) as client:
        with pytest.raises(NotApproved):
            await client.call_tool("x")
    assert len(server.requests("tools/call")) == 1


async def test_a_client_does_not_go_round_for_ever() -> None:
    server = asking(*[WANTED] * 50)
    async with server.client(roots=[], limits=Limits(input_rounds=5)) as client:
        with pytest.raises(TooMuch, match="input_rounds"):
            await client.call_tool("x")
    assert len(server.requests("tools/call")) == 5
