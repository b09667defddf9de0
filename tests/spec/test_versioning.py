"""Which revision is spoken, and how a client finds out; requests that stand for themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import BadAnswer, NoCommonRevision
from mcp_runtime.limits import Limits
from tests.support.json_peers import (
    ALL,
    HANDSHAKE,
    NEWEST,
    RawServer,
    connected,
    discovered,
    initialized,
    with_page,
)

CORE = "io.modelcontextprotocol/"


def small(**options: Any) -> Server:
    server = Server("small", "1", **options)

    @server.tool
    async def who(ctx: Context) -> str:
        """Who asks, and in which revision."""
        name = ctx.client_info and ctx.client_info.name
        return f"{name} {ctx.revision} {sorted(ctx.client_capabilities)}"

    return server


async def who(client: Any, **how: Any) -> str:
    text: str = (await client.tool("who", **how))["content"][0]["text"]
    return text


@pytest.mark.requirement("base.support.stateless-core")
@pytest.mark.requirement("versioning.discover.implemented")
@pytest.mark.requirement("discover.implement")
@pytest.mark.parametrize("revisions", [ALL, [NEWEST]])
async def test_every_server_answers_discover(revisions: Any) -> None:
    server = small(revisions=revisions)
    server.resource("a://b")(lambda: "x")
    async with connected(server, NEWEST) as client:
        result = await client.result("server/discover")
        assert result["supportedVersions"] == sorted(revisions, reverse=True)
        assert result["capabilities"].keys() >= {"tools", "resources"}
        assert result["resultType"] == "complete"
        assert await who(client) == f"raw {NEWEST} []"
        id = client.call("subscriptions/listen", {"notifications": {}})
        await client.next("notifications/subscriptions/acknowledged")
        client.notify("notifications/cancelled", {"requestId": id})
        assert await client.quiet() == []


@pytest.mark.requirement("versioning.unsupported")
@pytest.mark.requirement("errors.data.unsupported-version")
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "tools/call", "no/such"])
@pytest.mark.parametrize("asked", ["2099-01-01", "", "x", "2025-11-25"])
async def test_a_revision_that_is_not_served_is_refused_with_those_that_are(
    method: str, asked: str
) -> None:
    async with connected(small(revisions=[NEWEST]), NEWEST) as client:
        error = await client.error(method, {"name": "who"}, meta={f"{CORE}protocolVersion": asked})
        assert error["code"] == -32022
        assert error["data"] == {"supported": [NEWEST], "requested": asked}


@pytest.mark.requirement("versioning.unsupported")
async def test_a_revision_that_is_switched_off_is_not_served() -> None:
    async with connected(small(revisions=HANDSHAKE), NEWEST) as client:
        error = await client.error("tools/list")
        assert error["code"] == -32022
        assert sorted(error["data"]["supported"]) == sorted(HANDSHAKE)


@pytest.mark.requirement("stateless.no-prior-requests")
@pytest.mark.requirement("stateless.many-conversations")
async def test_each_request_stands_for_itself() -> None:
    async with connected(small(), NEWEST) as client:
        other = {
            f"{CORE}clientInfo": {"name": "other", "version": "1"},
            f"{CORE}clientCapabilities": {"roots": {}},
        }
        for _ in range(3):
            assert await who(client) == f"raw {NEWEST} []"
            assert await who(client, meta=other) == f"other {NEWEST} ['roots']"
        mixed = [client.call("tools/call", {"name": "who"}, meta=m) for m in (None, other) * 5]
        answers = [await client.response(id) for id in mixed]
        texts = [a["result"]["content"][0]["text"].split()[0] for a in answers]
        assert texts == ["raw", "other"] * 5
        # A handshake on the same stream changes nothing for requests that bring their own terms.
        client.revision = "2025-11-25"
        await client.initialize()
        client.revision = NEWEST
        assert await who(client) == f"raw {NEWEST} []"


@pytest.mark.requirement("stateless.no-affinity")
@pytest.mark.requirement("stateless.explicit-handle")
async def test_any_process_with_the_keys_goes_on_where_another_began() -> None:
    keys = [b"k" * 32]

    def made() -> Server:
        server = Server("s", "1", keys=keys)

        @server.tool
        async def where(ctx: Context) -> str:
            first = await ctx.roots(key="first")
            second = await ctx.roots(key="second")
            return f"{len(first)} {len(second)}"

        return server

    call: dict[str, Any] = {"name": "where", "arguments": {}}
    async with connected(made(), NEWEST, {"roots": {}}) as one:
        asked = await one.result("tools/call", call)
    async with connected(made(), NEWEST, {"roots": {}}) as two:
        retry = {"inputResponses": {"first": {"roots": [{"uri": "file:///a"}]}}}
        retry |= {"requestState": asked["requestState"]} if "requestState" in asked else {}
        asked = await two.result("tools/call", call | retry)
        # What was said before is known by what the client brings, and by nothing else.
        without = {"inputResponses": {"second": {"roots": []}}}
        again = await two.result("tools/call", call | without)
        assert again["resultType"] == "input_required"
    async with connected(made(), NEWEST, {"roots": {}}) as three:
        retry = {"inputResponses": {"second": {"roots": []}}, "requestState": asked["requestState"]}
        done = await three.result("tools/call", call | retry)
        assert done["content"][0]["text"] == "1 0"


@pytest.mark.requirement("pattern.server-no-requests")
@pytest.mark.requirement("transport.stdio.server-no-requests")
@pytest.mark.requirement("transport.binding.directions")
@pytest.mark.requirement("mrtr.only-way")
@pytest.mark.requirement("mrtr.requests.kinds")
async def test_a_server_sends_no_request() -> None:
    server = Server("s", "1", ping_every=0.01)

    @server.tool
    async def ask(ctx: Context) -> str:
        await ctx.log("error", "about to ask")
        await ctx.progress(1)
        await ctx.roots()
        await ctx.sample("x", max_tokens=1)
        await ctx.elicit("x", {"properties": {}})
        return "done"

    capabilities: dict[str, Any] = {"roots": {}, "sampling": {}, "elicitation": {}}
    loud = {f"{CORE}logLevel": "debug", "progressToken": 1}
    async with connected(server, NEWEST, capabilities) as client:
        responses: dict[str, Any] = {}
        state: dict[str, Any] = {}
        for _ in range(3):
            result = await client.result(
                "tools/call",
                {"name": "ask", "inputResponses": responses, **state},
                meta=loud,
            )
            assert result["resultType"] == "input_required"
            state = {"requestState": result["requestState"]} if "requestState" in result else {}
            assert all(r.keys() <= {"method", "params"} for r in result["inputRequests"].values())
            responses = {key: ANSWERS[r["method"]] for key, r in result["inputRequests"].items()}
        result = await client.result(
            "tools/call", {"name": "ask", "inputResponses": responses, **state}, meta=loud
        )
        assert result["content"][0]["text"] == "done"
        for message in await client.quiet():
            assert message["method"].startswith("notifications/")
            assert "id" not in message


ANSWERS = {
    "roots/list": {"roots": []},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "x"},
        "model": "m",
    },
    "elicitation/create": {"action": "accept", "content": {}},
}


@pytest.mark.requirement("transport.stdio.client-no-responses")
@pytest.mark.requirement("transport.binding.directions")
@pytest.mark.parametrize("method", ["ping", "roots/list", "sampling/createMessage", "no/such"])
async def test_a_client_answers_no_request(method: str) -> None:
    server = RawServer(NEWEST)
    async with server.client(roots=[]):
        server.line.got.clear()
        server.line.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})
        server.line.write(b"{", b'{"jsonrpc":"2.0","id":2,"method":5}')
        assert await server.line.quiet() == []


# ---- finding out


@pytest.mark.requirement("transport.stdio.probe.first")
@pytest.mark.requirement("discover.stdio-probe-first")
@pytest.mark.requirement("transport.stdio.probe.modern-only")
@pytest.mark.requirement("versioning.era.probe-first")
@pytest.mark.parametrize("revisions", [ALL, [NEWEST], [NEWEST, "2024-11-05"]])
async def test_a_client_probes_first(revisions: Any) -> None:
    server = RawServer(NEWEST, answers={"tools/list": with_page({"tools": []}, NEWEST)})
    async with server.client(revisions=revisions) as client:
        await client.list_tools()
    assert [m["method"] for m in server.asked] == ["server/discover", "tools/list"]
    assert server.asked[0]["params"]["_meta"][f"{CORE}protocolVersion"] == NEWEST


@pytest.mark.requirement("transport.stdio.probe.any-code")
@pytest.mark.requirement("versioning.era.cache")
@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, -32700, -32000, -32002, 1, 404])
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_whatever_refuses_the_probe_gets_a_handshake_and_keeps_it(
    revision: str, code: int
) -> None:
    server = RawServer(revision, {"tools": {}}, {"tools/list": {"tools": []}})

    def refuse(message: dict[str, Any]) -> None:
        server.line.refuse(message["id"], code)

    server.answers["server/discover"] = refuse
    async with server.client(revisions=ALL) as client:
        assert client.revision == revision
        for _ in range(3):
            await client.list_tools()
    methods = [m["method"] for m in server.asked]
    assert methods[:3] == ["server/discover", "initialize", "notifications/initialized"]
    assert methods.count("server/discover") == methods.count("initialize") == 1


@pytest.mark.requirement("transport.stdio.probe.any-code")
@pytest.mark.parametrize("answer", ["nothing", {}, {"protocolVersion": "2025-11-25"}, {"a": 1}])
async def test_silence_and_strange_answers_lead_to_a_handshake_too(answer: Any) -> None:
    reaction = (lambda m: None) if answer == "nothing" else answer
    server = RawServer("2025-11-25", answers={"server/discover": reaction})
    async with server.client(revisions=ALL, limits=Limits(probe=0.05)) as client:
        assert client.revision == "2025-11-25"


@pytest.mark.requirement("transport.stdio.probe.modern-only")
@pytest.mark.requirement("versioning.era.probe-first")
async def test_a_client_of_the_newest_revision_alone_fails_clearly_on_an_older_server() -> None:
    server = RawServer("2025-11-25")
    server.answers["server/discover"] = lambda m: server.line.refuse(m["id"], -32601)
    with pytest.raises(NoCommonRevision, match="handshake"):
        await server.client(revisions=[NEWEST]).__aenter__()
    assert [m["method"] for m in server.asked] == ["server/discover"]


@pytest.mark.requirement("versioning.client-retries")
async def test_a_client_tries_again_with_a_revision_that_was_named() -> None:
    server = RawServer("2025-06-18")

    def refuse(message: dict[str, Any]) -> None:
        asked = message["params"]["_meta"][f"{CORE}protocolVersion"]
        supported = ["2099-01-01", "2025-06-18", "2024-11-05"]
        server.line.refuse(message["id"], -32022, supported=supported, requested=asked)

    server.answers["server/discover"] = refuse
    async with server.client(revisions=ALL) as client:
        assert client.revision == "2025-06-18"
    assert server.requests("initialize")[0]["params"]["protocolVersion"] == "2025-06-18"
    with pytest.raises(NoCommonRevision, match="2099-01-01"):
        await server.client(revisions=[NEWEST]).__aenter__()


@pytest.mark.requirement("versioning.client-retries")
async def test_a_client_takes_the_revision_that_discover_names() -> None:
    server = RawServer("2025-03-26")
    server.answers["server/discover"] = discovered({}, "2025-03-26", "2024-11-05")
    server.answers["initialize"] = initialized("2025-03-26")
    async with server.client(revisions=ALL) as client:
        assert client.revision == "2025-03-26"
    server.answers["server/discover"] = discovered({}, "2099-01-01")
    with pytest.raises(NoCommonRevision, match="2099-01-01"):
        await server.client(revisions=ALL).__aenter__()


@pytest.mark.requirement("versioning.era.initialize-refusal")
@pytest.mark.parametrize("asked", [*HANDSHAKE, NEWEST, "x"])
async def test_a_server_without_handshake_names_its_revisions_to_initialize(asked: str) -> None:
    async with connected(small(revisions=[NEWEST]), asked, handshake=False) as client:
        error = (await client.initialize())["error"]
        assert error["data"] == {"supported": [NEWEST], "requested": asked}


# ---- kinds of results


@pytest.mark.requirement("result-type.present")
@pytest.mark.requirement("result-type.known-set")
async def test_every_result_has_a_type_of_those_that_are_known() -> None:
    server = small()
    server.resource("a://b")(lambda: "x")

    @server.tool
    async def where(ctx: Context) -> int:
        return len(await ctx.roots())

    @server.tool
    async def fails() -> None:
        raise ValueError("x")

    @server.prompt
    async def hello(name: str) -> str:
        return name

    @server.completion("hello", "name")
    async def names(value: str) -> list[str]:
        return [value]

    @server.on("own/method")
    async def own(params: Any, ctx: Context) -> dict[str, Any]:
        return {"a": 1}

    ref = {"type": "ref/prompt", "name": "hello"}
    async with connected(server, NEWEST, {"roots": {}}) as client:
        for method, params, expected in (
            ("server/discover", {}, "complete"),
            ("tools/list", {}, "complete"),
            ("tools/call", {"name": "who"}, "complete"),
            ("tools/call", {"name": "fails"}, "complete"),
            ("tools/call", {"name": "where"}, "input_required"),
            ("resources/list", {}, "complete"),
            ("resources/templates/list", {}, "complete"),
            ("resources/read", {"uri": "a://b"}, "complete"),
            ("prompts/list", {}, "complete"),
            ("prompts/get", {"name": "hello", "arguments": {"name": "x"}}, "complete"),
            (
                "completion/complete",
                {"ref": ref, "argument": {"name": "name", "value": "x"}},
                "complete",
            ),
            ("own/method", {}, "complete"),
        ):
            assert (await client.result(method, params))["resultType"] == expected, method


@pytest.mark.requirement("result-type.absent")
@pytest.mark.requirement("result-type.unknown")
@pytest.mark.requirement("result-type.known-set")
async def test_a_client_reads_an_absent_type_as_complete_and_refuses_an_unknown_one() -> None:
    content = {"content": [{"type": "text", "text": "x"}]}
    server = RawServer(NEWEST, answers={"tools/call": content})
    async with server.client() as client:
        assert (await client.call_tool("x")).content[0].text == "x"
        server.answers["tools/call"] = content | {"resultType": None}
        assert (await client.call_tool("x")).content[0].text == "x"
        assert client.forgiven == {"resultType": 2, "null": 1}
        for kind in ("later", "", "Complete", 5, {}):
            server.answers["tools/call"] = content | {"resultType": kind}
            with pytest.raises(BadAnswer):
                await client.call_tool("x")
        server.answers["tools/list"] = {"tools": [], "resultType": "later"} | HINTS
        with pytest.raises(BadAnswer):
            await client.list_tools()
        await asyncio.sleep(0)


HINTS = {"ttlMs": 0, "cacheScope": "private"}
