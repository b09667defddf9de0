"""What stands in `_meta`: whose names those are, and what must be there in the newest revision."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Audio, Client, Context, Embedded, Image, Server
from mcp_runtime import types as t
from mcp_runtime.core.terms.extension import Extension
from mcp_runtime.core.terms.meta_names import require_meta
from tests.support.json_peers import (
    NEWEST,
    RawServer,
    connected,
    since,
    with_page,
)

CORE = "io.modelcontextprotocol/"
since_names = pytest.mark.parametrize("revision", since("2025-06-18"))


async def nothing() -> None:
    """Does nothing."""


def small() -> Server:
    server = Server("small", "1")
    server.tool(nothing)
    return server


GOOD = [
    "a",
    "A9",
    "a.b_c-d",
    "com.example/x",
    "com.example/",
    "a/x",
    "a-1.b2/x.y",
    "com.example.api/a",
]
NO_PREFIX = [
    "1a/x",
    "-a/x",
    "a-/x",
    "a_b/x",
    "a..b/x",
    ".a/x",
    "a./x",
    "/x",
    "a/b/x",
    "ä/x",
    "a b/x",
]
NO_NAME = [
    "-a",
    "a-",
    "_a",
    "a_",
    ".a",
    "a.",
    "com.example/-a",
    "com.example/a.",
    "ä",
    "a b",
    "a\n",
]


@pytest.mark.requirement("meta.key.prefix-form")
@pytest.mark.requirement("meta.key.label-form")
@pytest.mark.parametrize("key", NO_PREFIX)
def test_a_prefix_is_labels_joined_by_dots_and_a_slash(key: str) -> None:
    check_refused(key)


@pytest.mark.requirement("meta.key.name-ends")
@pytest.mark.parametrize("key", NO_NAME)
def test_a_name_begins_and_ends_with_a_letter_or_digit(key: str) -> None:
    check_refused(key)


def check_refused(key: str) -> None:
    """Wherever an author or a host may put it."""
    meta = {key: 1}
    for put in (
        lambda: Server("s", "1").add_tool(nothing, meta=meta),
        lambda: Server("s", "1").add_prompt(nothing, meta=meta),
        lambda: Server("s", "1").resource("a://b", meta=meta)(nothing),
        lambda: Image(b"", "image/png", meta=meta),
        lambda: Audio(b"", "audio/wav", meta=meta),
        lambda: Embedded("a://b", "x", meta=meta),
    ):
        with pytest.raises(ValueError, match="not a valid name"):
            put()

    async def ask() -> None:
        async with Client(small()) as client:
            with pytest.raises(ValueError, match="not a valid name"):
                await client.call_tool("nothing", meta=meta)

    asyncio.run(ask())


@pytest.mark.requirement("meta.key.prefix-form")
@pytest.mark.requirement("meta.key.label-form")
@pytest.mark.requirement("meta.key.name-ends")
@since_names
async def test_names_that_are_some_travel_both_ways(revision: str) -> None:
    requests: list[Any] = []
    server = Server("s", "1")

    async def tool() -> Image:
        return Image(b"x", "image/png", meta={key: {"a": [1]} for key in GOOD})

    server.add_tool(tool, meta=dict.fromkeys(GOOD, "t"))
    async with connected(server, revision) as client:
        (listed,) = (await client.result("tools/list"))["tools"]
        assert listed["_meta"] == dict.fromkeys(GOOD, "t")
        (block,) = (await client.tool("tool"))["content"]
        assert block["_meta"] == {key: {"a": [1]} for key in GOOD}
    raw = RawServer(revision, answers={"tools/call": with_page({"content": []}, revision)})
    async with raw.client() as ours:
        await ours.call_tool("x", meta=dict.fromkeys(GOOD, "c"))
        requests += raw.requests("tools/call")
    assert requests[0]["params"]["_meta"].items() >= dict.fromkeys(GOOD, "c").items()


@pytest.mark.parametrize(
    "key", ["progressToken", f"{CORE}protocolVersion", f"{CORE}logLevel", f"{CORE}serverInfo"]
)
def test_what_the_protocol_writes_itself_is_not_for_others(key: str) -> None:
    with pytest.raises(ValueError, match="runtime writes it itself"):
        require_meta({key: "x"})


@pytest.mark.requirement("meta.reserved.no-assumptions")
@since_names
@pytest.mark.parametrize(
    "meta",
    [
        {"io.modelcontextprotocol/unknown": {"a": 1}},
        {"dev.mcp/protocolVersion": "2099-01-01"},
        {"org.modelcontextprotocol.api/logLevel": 5},
        {"modelcontextprotocol.io/x": None},
        {"mcp.dev/clientCapabilities": {"roots": {}}},
    ],
)
async def test_what_a_reserved_name_does_not_mean_is_not_assumed(
    revision: str, meta: dict[str, Any]
) -> None:
    seen: list[Any] = []
    server = Server("s", "1")

    @server.tool
    async def look(ctx: Context) -> str:
        seen.append((ctx.revision, dict(ctx.client_capabilities)))
        return "same"

    async with connected(server, revision) as client:
        plain = await client.tool("look")
        assert await client.tool("look", meta=meta) == plain
        assert await client.quiet() == []
    assert seen[0] == seen[1] == (revision, {})


@pytest.mark.requirement("meta.reserved.no-assumptions")
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("value", [5, None, {"a": 1}])
async def test_names_of_a_later_revision_mean_nothing_before(revision: str, value: Any) -> None:
    names = ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel")
    async with connected(small(), revision) as client:
        assert await client.tool("nothing", meta={CORE + name: value for name in names})


# ---- what a request of the newest revision says


@pytest.mark.requirement("meta.request.protocol-version")
@pytest.mark.requirement("meta.request.client-capabilities")
@pytest.mark.requirement("meta.request.client-info")
@pytest.mark.requirement("transport.custom.keep-patterns")
@pytest.mark.parametrize("offers", [False, True])
async def test_every_request_says_version_capabilities_and_who_asks(offers: bool) -> None:
    answers = {
        "tools/list": with_page({"tools": []}, NEWEST),
        "resources/list": with_page({"resources": []}, NEWEST),
        "resources/templates/list": with_page({"resourceTemplates": []}, NEWEST),
        "prompts/list": with_page({"prompts": []}, NEWEST),
        "tools/call": with_page({"content": []}, NEWEST),
        "resources/read": with_page({"contents": []}, NEWEST),
        "prompts/get": with_page({"messages": []}, NEWEST),
        "completion/complete": with_page({"completion": {"values": []}}, NEWEST),
    }
    capabilities = {
        "tools": {"listChanged": True},
        "resources": {},
        "prompts": {},
        "completions": {},
    }
    server = RawServer(NEWEST, capabilities, answers)
    async with server.client(name="who", version="9", roots=[] if offers else None) as client:
        await client.list_tools()
        await client.list_resources()
        await client.list_resource_templates()
        await client.list_prompts()
        await client.call_tool("x")
        await client.read_resource("a://b")
        await client.get_prompt("x")
        from mcp_runtime import types as t

        await client.complete(t.PromptReference(name="x"), "a", "b")
        listening = asyncio.create_task(client.listen(tools=True).__aenter__())
        await server.line.next("subscriptions/listen")
        listening.cancel()
    requests = [m for m in server.asked if "id" in m]
    assert {m["method"] for m in requests} == {*answers, "server/discover", "subscriptions/listen"}
    for message in requests:
        meta = message["params"]["_meta"]
        assert meta[f"{CORE}protocolVersion"] == NEWEST
        assert meta[f"{CORE}clientCapabilities"] == ({"roots": {}} if offers else {})
        assert meta[f"{CORE}clientInfo"] == {"name": "who", "version": "9"}


@pytest.mark.requirement("meta.request.missing.error")
@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
@pytest.mark.parametrize("method", ["tools/list", "tools/call", "server/discover", "no/such"])
async def test_a_request_that_does_not_say_them_is_refused(missing: str, method: str) -> None:
    async with connected(small(), NEWEST) as client:
        meta = client.meta()
        del meta[CORE + missing]
        params = {"name": "nothing", "_meta": meta}
        client.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert (await client.response(1))["error"]["code"] == -32602
        client.send({"jsonrpc": "2.0", "id": 2, "method": method})
        assert (await client.response(2))["error"]["code"] == -32602


@pytest.mark.requirement("meta.request.undeclared.error")
@pytest.mark.requirement("meta.request.undeclared.no-reliance")
@pytest.mark.requirement("errors.data.missing-client-capability")
@pytest.mark.requirement("stateless.no-prior-requests")
async def test_what_a_request_does_not_declare_is_not_relied_on() -> None:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> int:
        return len(await ctx.roots())

    @server.tool
    async def write(ctx: Context) -> str:
        return (await ctx.sample("x", max_tokens=1)).model

    async with connected(server, NEWEST, {"roots": {}}) as client:
        declared = await client.tool("where")
        assert declared["resultType"] == "input_required"
        client.capabilities = {}
        for tool, needs in (("where", "roots"), ("write", "sampling")):
            error = await client.error("tools/call", {"name": tool})
            assert error["code"] == -32021
            assert error["data"] == {"requiredCapabilities": {needs: {}}}


@pytest.mark.requirement("meta.response.server-info")
@pytest.mark.requirement("discover.result.server-info")
async def test_every_result_names_the_server() -> None:
    server = small()
    server.resource("a://b")(lambda: "x")

    @server.prompt
    async def ask() -> str:
        return "x"

    async with connected(server, NEWEST) as client:
        for method, params in (
            ("server/discover", {}),
            ("tools/list", {}),
            ("tools/call", {"name": "nothing"}),
            ("resources/list", {}),
            ("resources/read", {"uri": "a://b"}),
            ("prompts/get", {"name": "ask"}),
        ):
            result = await client.result(method, params)
            info = result["_meta"][f"{CORE}serverInfo"]
            assert (info["name"], info["version"]) == ("small", "1")
            assert "serverInfo" not in result


@pytest.mark.requirement("meta.response.server-info")
@pytest.mark.parametrize("as_json", [False, True])
async def test_a_result_that_came_from_another_server_names_the_one_that_sends_it(
    as_json: bool,
) -> None:
    inner, gateway = small(), Server("gateway", "2")

    @gateway.on("tools/call", capability="tools")
    async def relayed(params: t.CallToolRequestParams, ctx: Context) -> Any:
        async with Client(inner) as client:
            result = await client.call_tool(params.name)
            assert result.meta is not t.UNSET
            return t.to_wire(result) if as_json else result

    async with connected(gateway, NEWEST) as client:
        result = await client.result("tools/call", {"name": "nothing"})
        assert result["_meta"] == {f"{CORE}serverInfo": {"name": "gateway", "version": "2"}}


@pytest.mark.requirement("meta.identity.no-behaviour")
@pytest.mark.requirement("meta.identity.no-security")
@pytest.mark.requirement("discover.server-info.no-behaviour-switch")
@pytest.mark.requirement("discover.server-info.no-security-use")
async def test_who_a_peer_says_it_is_changes_nothing() -> None:
    seen = []
    for info in ({"name": "raw", "version": "0"}, {"name": "admin", "version": "99"}, None):
        async with connected(small(), NEWEST) as client:
            meta = client.meta() | {f"{CORE}clientInfo": info}
            if info is None:
                del meta[f"{CORE}clientInfo"]
            answers = []
            for id, method in enumerate(("server/discover", "tools/list", "no/such")):
                message = {"jsonrpc": "2.0", "id": id, "method": method}
                client.send(message | {"params": {"_meta": meta}})
                answers.append(await client.response(id))
            seen.append(answers)
    assert seen[0] == seen[1] == seen[2]
    asked = []
    for name in ("raw", "mcp-bindgen", None):
        discovered = {"resultType": "complete", "supportedVersions": [NEWEST], "capabilities": {}}
        discovered |= {"ttlMs": 0, "cacheScope": "private"}
        if name:
            discovered["_meta"] = {f"{CORE}serverInfo": {"name": name, "version": "1"}}
        server = RawServer(
            NEWEST, {"tools": {}}, {"server/discover": discovered | {"capabilities": {"tools": {}}}}
        )
        server.answers["tools/list"] = with_page({"tools": []}, NEWEST)
        async with server.client() as ours:
            await ours.list_tools()
        asked.append(server.asked)
    assert asked[0] == asked[1] == asked[2]


# ---- traces

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.requirement("meta.trace.context-format")
@pytest.mark.requirement("meta.trace.baggage-format")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("traceparent", PARENT.upper()),
        ("traceparent", PARENT[:-1]),
        ("traceparent", PARENT + "\n"),
        ("traceparent", "ff" + PARENT[2:]),
        ("traceparent", PARENT.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32)),
        ("traceparent", PARENT.replace("b7ad6b7169203331", "0" * 16)),
        ("traceparent", 5),
        ("tracestate", ""),
        ("tracestate", "A=1"),
        ("tracestate", "a"),
        ("tracestate", "a=1,a=2"),
        ("tracestate", "a=1=2"),
        ("tracestate", ",".join(f"k{n}=1" for n in range(33))),
        ("baggage", ""),
        ("baggage", "a"),
        ("baggage", "a=b c"),
        ("baggage", 'a="b"'),
        ("baggage", "a=b,,c=d"),
        ("baggage", "a=" + "b" * 9000),
        ("baggage", None),
    ],
)
async def test_a_trace_that_is_none_is_not_sent(name: str, value: Any) -> None:
    server = RawServer(NEWEST)
    async with server.client() as client:
        with pytest.raises(ValueError, match="W3C"):
            await client.call_tool("x", meta={name: value})
    assert server.requests("tools/call") == []


@pytest.mark.requirement("meta.trace.context-format")
@pytest.mark.requirement("meta.trace.baggage-format")
async def test_a_trace_travels_as_it_is() -> None:
    trace = {
        "traceparent": PARENT,
        "tracestate": "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE, a@b=x/y",
        "baggage": "userId=Am%C3%A9lie,serverNode=DF:28;ttl=5,isProduction=false ; p",
    }
    server = RawServer(NEWEST, answers={"tools/call": with_page({"content": []}, NEWEST)})
    async with server.client() as client:
        await client.call_tool("x", meta=trace)
    assert server.requests("tools/call")[0]["params"]["_meta"].items() >= trace.items()


# ---- extensions


@pytest.mark.requirement("versioning.extensions.id-form")
@pytest.mark.requirement("versioning.extensions.id-prefix")
@pytest.mark.parametrize(
    "name", ["", "plain", "/x", "a/", "1a/x", "a_b/x", "a/b/x", "a/-x", "a b/x"]
)
def test_an_extension_is_named_with_a_prefix(name: str) -> None:
    with pytest.raises(ValueError, match="not a valid name of an extension"):
        Server("s", "1", extensions=[Extension(identifier=name, revisions=[NEWEST])])


@pytest.mark.requirement("versioning.extensions.id-form")
@pytest.mark.requirement("versioning.extensions.id-prefix")
@pytest.mark.requirement("versioning.extensions.one-sided")
async def test_an_extension_of_one_side_leaves_the_core_as_it_is() -> None:
    ui = Extension(identifier="com.example/ui", revisions=[NEWEST], settings={"a": 1})
    server = Server("s", "1", extensions=[ui])
    server.tool(nothing)
    async with connected(server, NEWEST, {"extensions": {"org.example/other": {}}}) as client:
        offered = await client.result("server/discover")
        assert offered["capabilities"]["extensions"] == {"com.example/ui": {"a": 1}}
        assert (await client.tool("nothing"))["resultType"] == "complete"
        assert (await client.error("org.example/do"))["code"] == -32601
    raw = RawServer(
        NEWEST,
        {"tools": {}, "extensions": {"com.example/unknown": {}}},
        {"tools/list": with_page({"tools": []}, NEWEST)},
    )
    async with raw.client() as ours:
        assert await ours.list_tools() == []
