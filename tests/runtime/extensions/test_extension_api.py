"""The API of extensions, with one whose bindings are written by hand."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, Literal, cast

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.errors import BadAnswer, NotOffered, RemoteError
from mcp_runtime.extensions import (
    ClientExtension,
    Decorators,
    Extension,
    ServerExtension,
    ToolOption,
)
from mcp_runtime.revisions import ALL, DecodeError, Method, revision
from mcp_runtime.revisions import latest as t
from tests.support.json_peers import RawServer, connected
from tests.support.loopback import Loopback

NEWEST: Final = ALL[-1]
NAME: Final = "com.example/receipts"


class GetParams(msgspec.Struct, rename="camel"):
    receipt_id: str
    meta: Any = msgspec.field(default=UNSET, name="_meta")


class GetResult(msgspec.Struct, rename="camel"):
    total: int
    result_type: str = "complete"


class ReceiptResult(msgspec.Struct, rename="camel"):
    receipt_id: str
    result_type: Literal["receipt"] = "receipt"


class PaidParams(msgspec.Struct, rename="camel"):
    receipt_id: str
    meta: Any = msgspec.field(default=UNSET, name="_meta")


def decode(type: Any, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.ValidationError as error:
        raise DecodeError("$", str(type), str(error)) from None


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=t.to_wire)


def from_wire(type: Any, value: Any) -> Any:
    return decode(type, msgspec.json.encode(value))


def method(name: str, direction: str, kind: str = "request") -> Method:
    return Method(name, kind, direction, "", "Params", True, ("Result",), "", "per-request")


def bindings(identifier: str = NAME, **tables: Any) -> ModuleType:
    """What generation would write."""
    module = ModuleType("receipts")
    paid = "notifications/receipts/paid"
    written = {
        "IDENTIFIER": identifier,
        "CORE": (NEWEST,),
        "METHODS": {
            "receipts/get": method("receipts/get", "client-to-server"),
            paid: method(paid, "server-to-client", "notification"),
        },
        "PARAMS": {"receipts/get": GetParams, paid: PaidParams},
        "RESULTS": {"receipts/get": GetResult, "tools/call": ReceiptResult},
        "WIDENED": {"tools/call": (ReceiptResult,)},
        "MEMBERS": {
            ("SubscriptionFilter", "receiptIds"): list[str],
            ("SubscriptionFilter", "allReceipts"): bool,
        },
        "decode": decode,
        "from_wire": from_wire,
        "encode": encode,
    }
    vars(module).update({**written, **tables})
    return module


class Receipts(ServerExtension, ClientExtension):
    """A tool with the option `always` is answered by a receipt, where its client knows receipts."""

    def __init__(self, revision: str = "", **options: Any) -> None:
        made = bindings(SETTINGS_REVISION=revision)
        super().__init__(made, names={"receipts/get": "receiptId"}, **options)
        self.always = Always()
        self.paid: list[str] = []

    def attach(self, server: Decorators) -> None:
        @server.on("receipts/get")
        async def get(params: GetParams, ctx: Context) -> GetResult:
            return GetResult(total=len(params.receipt_id))

    async def finish(
        self, client: Any, params: Any, result: ReceiptResult, **options: Any
    ) -> t.CallToolResult:
        receipt = await client.request(
            "receipts/get", GetParams(receipt_id=result.receipt_id, meta=client.meta())
        )
        text = t.TextContent(text=f"{receipt.total}")
        return t.CallToolResult(content=[text], result_type="complete")

    def notified(self, method: str, params: PaidParams) -> None:
        self.paid.append(params.receipt_id)


class Always(ToolOption):
    def register(self, tool: t.Tool) -> t.Tool:
        return msgspec.structs.replace(tool, title="with a receipt")

    def show(self, tool: t.Tool, ctx: Context) -> t.Tool | None:
        return tool if NAME in ctx.extensions else None

    async def call(self, params: Any, ctx: Context, handler: Any) -> Any:
        if NAME not in ctx.extensions:
            return await handler(params, ctx)
        return ReceiptResult(receipt_id=params.name)


def shop(extension: Receipts | None = None) -> Server:
    receipts = extension or Receipts()
    server = Server("shop", "1", extensions=[receipts])

    @server.tool(options=[receipts.always])
    def buy() -> str:
        return "bought"

    @server.tool
    def look() -> str:
        return "nice"

    return server


def text(result: t.CallToolResult) -> str:
    (item,) = result.content
    assert isinstance(item, t.TextContent)
    return item.text


async def test_a_method_of_an_extension_has_its_types_on_both_sides() -> None:
    async with Client(shop(), extensions=[Receipts()]) as client:
        params = GetParams(receipt_id="abc", meta=client.meta())
        assert await client.request("receipts/get", params) == GetResult(total=3)


async def test_a_widened_result_is_finished_by_the_extension() -> None:
    async with Client(shop(), extensions=[Receipts()]) as client:
        assert text(await client.call_tool("buy")) == "3"
        assert text(await client.call_tool("look")) == "nice"


@pytest.mark.parametrize(
    ("ours", "theirs", "is_shared"),
    [("2", "2", True), ("2", "", False), ("", "2", False), ("2", "3", False)],
)
async def test_sides_with_other_revisions_of_an_extension_do_without_it(
    ours: str, theirs: str, is_shared: bool
) -> None:
    server, extension = shop(Receipts(ours)), Receipts(theirs)
    async with Client(server, extensions=[extension]) as client:
        assert text(await client.call_tool("buy")) == ("3" if is_shared else "bought")
    declared = {"extensions": {NAME: {"revision": theirs} if theirs else {}}}
    assert extension.declared("client", revision(NEWEST)) == declared


async def test_a_widened_result_that_nobody_finishes_is_read_by_a_request() -> None:
    async with Client(shop(), extensions=[Extension(bindings())]) as client:
        params = t.CallToolRequestParams(name="buy", meta=client.meta())
        assert await client.request("tools/call", params) == ReceiptResult(receipt_id="buy")
        with pytest.raises(BadAnswer, match="ReceiptResult: read it with"):
            await client.call_tool("buy")


async def test_a_client_without_the_extension_has_the_core_alone() -> None:
    async with Client(shop()) as client:
        assert [tool.name for tool in await client.list_tools()] == ["look"]
        assert text(await client.call_tool("buy")) == "bought"
        with pytest.raises(NotOffered, match="receipts/get: the server does not offer it in"):
            await client.request("receipts/get", GetParams(receipt_id="a"))


async def test_an_option_changes_how_a_tool_is_listed() -> None:
    async with Client(shop(), extensions=[Receipts()]) as client:
        tools = {tool.name: tool.title for tool in await client.list_tools()}
    assert tools == {"buy": "with a receipt", "look": UNSET}


async def test_a_server_without_the_extension_is_not_asked() -> None:
    async with Client(Server("s", "1"), extensions=[Receipts()]) as client:
        with pytest.raises(NotOffered, match=f"the extension {NAME} in {NEWEST}"):
            await client.request("receipts/get", GetParams(receipt_id="a"))


@pytest.mark.parametrize("revision", [name for name in ALL if name != NEWEST])
async def test_a_revision_that_the_extension_does_not_extend_has_the_core_alone(
    revision: str,
) -> None:
    async with Client(
        shop(), revisions=[NEWEST, revision], era="handshake", extensions=[Receipts()]
    ) as client:
        assert client.revision == revision
        assert "extensions" not in client.server_capabilities
        assert text(await client.call_tool("buy")) == "bought"
        with pytest.raises(NotOffered, match=f"the extension {NAME} in {revision}"):
            await client.request("receipts/get", GetParams(receipt_id="a"))


async def test_notifications_of_an_extension_go_to_those_who_listen() -> None:
    server, theirs = shop(), Receipts()
    async with Client(server, extensions=[theirs]) as client:
        async with client.listen(more={"receiptIds": ["a", "b"]}) as subscription:
            assert subscription.served.extra_ == {"receiptIds": ["a", "b"]}
            for receipt in "cba":
                params = PaidParams(receipt_id=receipt)
                server.publish("notifications/receipts/paid", params, "receiptIds", receipt)
            await client.call_tool("look")
        assert theirs.paid == ["b", "a"]


async def test_a_member_of_a_filter_may_be_a_switch() -> None:
    server, theirs = shop(), Receipts()
    paid, params = "notifications/receipts/paid", PaidParams(receipt_id="a")
    async with Client(server, extensions=[theirs]) as client:
        for is_on in (False, True):
            async with client.listen(more={"allReceipts": is_on}) as subscription:
                assert subscription.served.extra_ == {"allReceipts": is_on}
                server.publish(paid, params, "allReceipts", True)
                await client.call_tool("look")
            assert theirs.paid == ["a"] * is_on


async def test_notifications_may_be_for_one_principal() -> None:
    server, theirs = shop(), Receipts()
    async with Client(server, extensions=[theirs]) as client:
        async with client.listen(more={"receiptIds": ["a"]}):
            for principal in ("somebody", ""):
                server.publish(
                    "notifications/receipts/paid",
                    PaidParams(receipt_id="a"),
                    "receiptIds",
                    "a",
                    principal=principal,
                )
            await client.call_tool("look")
        assert theirs.paid == ["a"]


async def test_a_member_of_the_wrong_type_is_refused() -> None:
    async with Client(shop(), extensions=[Receipts()]) as client:
        with pytest.raises(RemoteError, match="Invalid params") as caught:
            async with client.listen(more=cast("Any", {"receiptIds": [5]})) as subscription:
                await anext(subscription)
    assert caught.value.code == -32602


# ---- what cannot be used


def test_two_extensions_with_one_identifier_are_refused() -> None:
    with pytest.raises(ValueError, match=f"two extensions have the identifier '{NAME}'"):
        Server("s", "1", extensions=[Receipts(), Receipts()])


def test_two_extensions_with_one_method_are_refused() -> None:
    other = Extension(bindings("org.example/b", MEMBERS={}))
    match = "two extensions have the method 'receipts/get': com.example/receipts, org.example/b"
    with pytest.raises(ValueError, match=match):
        Client(Server("s", "1"), extensions=[Receipts(), other])


def test_two_extensions_with_one_member_are_refused() -> None:
    other = Extension(bindings("org.example/b", METHODS={}))
    with pytest.raises(ValueError, match=r"the member 'SubscriptionFilter\.receiptIds'"):
        Server("s", "1", extensions=[Receipts(), other])


def test_an_extension_of_revisions_that_are_not_spoken_is_refused() -> None:
    match = f"{NAME} extends the revisions {NEWEST}; spoken here: {ALL[0]}"
    with pytest.raises(ValueError, match=match):
        Server("s", "1", revisions=[ALL[0]], extensions=[Receipts()])


def test_an_extension_that_has_a_method_of_the_core_is_refused() -> None:
    own = Extension(bindings(METHODS={"tools/call": method("tools/call", "client-to-server")}))
    with pytest.raises(ValueError, match="has the method tools/call itself"):
        Server("s", "1", extensions=[own])


def test_a_notification_of_no_extension_is_refused() -> None:
    with pytest.raises(ValueError, match="nor of an extension here"):
        shop().publish("notifications/x", PaidParams(receipt_id="a"), "receiptIds", "a")


# ---- what a peer must not do, and headers


async def test_a_request_that_does_not_declare_the_extension_is_told_which_it_needs() -> None:
    async with connected(shop(), NEWEST) as raw:
        error = await raw.error("receipts/get", {"receiptId": "a"})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {NAME: {}}}}


async def test_a_widened_result_is_not_sent_to_a_client_that_does_not_declare_it() -> None:
    server = Server("s", "1", extensions=[Receipts()], offers=["tools"])

    @server.on("tools/call")
    async def call(params: Any, ctx: Context) -> Any:
        return ReceiptResult(receipt_id="a")

    async with connected(server, NEWEST) as raw:
        error = await raw.error("tools/call", {"name": "x"})
    assert error["data"] == {"requiredCapabilities": {"extensions": {NAME: {}}}}
    declared: dict[str, Any] = {"extensions": {NAME: {}}}
    async with connected(server, NEWEST, declared) as raw:
        assert (await raw.result("tools/call", {"name": "x"}))["resultType"] == "receipt"


async def test_a_handler_may_require_the_extension() -> None:
    server = Server("s", "1", extensions=[Receipts()])

    @server.tool
    async def strict(ctx: Context) -> str:
        ctx.require_extension(NAME)
        return "ok"

    async with connected(server, NEWEST) as raw:
        assert (await raw.error("tools/call", {"name": "strict"}))["code"] == -32021
    async with Client(server, extensions=[Receipts()]) as client:
        assert text(await client.call_tool("strict")) == "ok"


async def test_a_result_of_an_extension_that_the_server_did_not_declare_is_a_bad_answer() -> None:
    raw = RawServer(
        NEWEST, {"tools": {}}, {"tools/call": {"resultType": "receipt", "receiptId": "a"}}
    )
    async with raw.client(extensions=[Receipts()]) as client:
        with pytest.raises(BadAnswer):
            await client.call_tool("buy")


@pytest.mark.real_time
async def test_a_header_repeats_the_member_that_the_extension_names(loopback: Loopback) -> None:
    server = shop()
    with loopback.mounted(server.asgi()) as url:
        async with Client.http(f"{url}/mcp", extensions=[Receipts()]) as client:
            params = GetParams(receipt_id="ü", meta=client.meta())
            assert await client.request("receipts/get", params) == GetResult(total=1)
        unnamed = Receipts()
        unnamed.names = {}
        async with Client.http(f"{url}/mcp", extensions=[unnamed]) as client:
            params = GetParams(receipt_id="a", meta=client.meta())
            with pytest.raises(RemoteError, match="Mcp-Name is missing"):
                await client.request("receipts/get", params)


@pytest.mark.real_time
async def test_a_header_with_another_member_is_refused(loopback: Loopback) -> None:
    other = Receipts()
    other.names = {"receipts/get": "_meta"}  # no text, so no header is sent
    with loopback.mounted(shop().asgi()) as url:
        async with Client.http(f"{url}/mcp", extensions=[other]) as client:
            params = GetParams(receipt_id="a", meta=client.meta())
            with pytest.raises(RemoteError, match="Mcp-Name is missing"):
                await client.request("receipts/get", params)


# ---- revisions with a handshake


@pytest.mark.parametrize("older", [name for name in ALL if name != NEWEST])
async def test_an_extension_of_an_older_revision_is_declared_in_its_handshake(
    older: str,
) -> None:
    theirs = Extension(bindings(CORE=(older,)), settings={"theirs": 1})
    server = Server("s", "1", extensions=[Extension(bindings(CORE=(older,)))])

    @server.on("receipts/get")
    async def get(params: GetParams, ctx: Context) -> GetResult:
        assert ctx.extensions == {NAME: {"theirs": 1}}
        return GetResult(total=5)

    async with Client(server, revisions=[older], extensions=[theirs]) as client:
        assert client.server_capabilities["extensions"] == {NAME: {}}
        receipt = await client.request("receipts/get", GetParams(receipt_id="a"))
        assert receipt == GetResult(total=5)
    async with connected(server, older) as raw:
        assert (await raw.error("receipts/get", {"receiptId": "a"}))["code"] == -32021


async def test_what_a_step_leaves_out_is_kept_for_the_extension_that_wants_it() -> None:
    keeping = Extension(bindings())
    keeping.kept = {"tools/call": ("task",)}
    kept: list[object] = []
    server = Server("s", "1", extensions=[keeping])

    @server.tool
    def look() -> str:
        return "nice"

    @server.middleware
    async def watch(method: str, params: Any, ctx: Context, handler: Any) -> Any:
        kept.append(params.extra_)
        return await handler(params, ctx)

    task = {"ttl": 5}
    async with connected(server, "2025-11-25") as raw:
        await raw.result("tools/call", {"name": "look", "task": task})
        await raw.result("tools/call", {"name": "look"})
    assert kept == [{"task": task}, {}]


async def test_a_result_in_the_peers_own_revision_is_written_as_it_is() -> None:
    server = Server("s", "1", offers=["tools"])
    own = revision("2025-11-25").models

    @server.on("tools/call")
    async def call(params: Any, ctx: Context) -> Any:
        return own.CallToolResult(content=[own.TextContent(text="as it is")])

    async with connected(server, "2025-11-25") as raw:
        result = await raw.result("tools/call", {"name": "x"})
    assert result == {"content": [{"type": "text", "text": "as it is"}]}


# ---- more of what extensions add


class Empty(Extension):
    """As a container it is empty, and so false."""

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [Extension, Empty])
@pytest.mark.parametrize("total", [None, 3])
async def test_a_result_without_a_type_is_complete(
    total: int | None, kind: type[Extension]
) -> None:
    class Untyped(msgspec.Struct):
        total: int | UnsetType = UNSET

    results = {"receipts/get": Untyped}
    server = Server("s", "1", extensions=[kind(bindings(RESULTS=results))])

    @server.on("receipts/get")
    async def get(params: GetParams, ctx: Context) -> Untyped:
        return Untyped() if total is None else Untyped(total=total)

    declared: dict[str, Any] = {"extensions": {NAME: {}}}
    async with connected(server, NEWEST, declared) as raw:
        result = await raw.result("receipts/get", {"receiptId": "a"})
    assert result["resultType"] == "complete"
    assert result.get("total") == total


@pytest.mark.parametrize("spoken", [name for name in ALL if name != NEWEST])
async def test_an_extension_that_is_false_is_one_all_the_same(spoken: str) -> None:
    none = Empty(bindings())
    assert not none
    server = Server("s", "1", extensions=[none])

    @server.on("receipts/get")
    async def get(params: GetParams, ctx: Context) -> GetResult:
        return GetResult(total=1)

    for named, code in ((NEWEST, -32021), (spoken, -32601)):
        async with connected(server, named) as raw:
            assert (await raw.error("receipts/get", {"receiptId": "a"}))["code"] == code
    async with Client(Server("s", "1"), extensions=[none]) as client:
        with pytest.raises(NotOffered, match=f"the extension {NAME} in {NEWEST}"):
            await client.request("receipts/get", GetParams(receipt_id="a"))


async def test_added_members_count_as_subscriptions() -> None:
    server = Server("s", "1", extensions=[Receipts()], limits=Limits(subscriptions=3))
    async with Client(server, extensions=[Receipts()]) as client:
        async with client.listen(more={"receiptIds": ["a", "b"]}) as enough:
            assert enough.served.extra_ == {"receiptIds": ["a", "b"]}
        with pytest.raises(RemoteError, match=r"Limits\.subscriptions"):
            async with client.listen(more={"receiptIds": ["a", "b", "c"]}):
                pytest.fail("what the server refuses is not entered")


async def test_a_tool_that_comes_again_has_no_options_of_the_one_before() -> None:
    server = shop()
    server.remove_tool("buy")

    @server.tool(name="buy")
    def again() -> str:
        return "again"

    async with Client(server, extensions=[Receipts()]) as client:
        assert text(await client.call_tool("buy")) == "again"


async def test_the_first_option_is_the_outermost() -> None:
    class Said(ToolOption):
        def __init__(self, word: str) -> None:
            self.word = word

        async def call(self, params: Any, ctx: Context, handler: Any) -> Any:
            inner = text(await handler(params, ctx))
            content = t.TextContent(text=f"{self.word} {inner}")
            return t.CallToolResult(content=[content], result_type="complete")

    server = Server("s", "1")

    @server.tool(options=[Said("a"), Said("b")])
    def tool() -> str:
        return "c"

    raw = t.Tool(name="raw", input_schema=t.ToolInputSchema())

    @server.raw_tool(raw, options=[Said("d")])
    def plain(arguments: dict[str, Any], ctx: Context) -> str:
        return "e"

    async with Client(server) as client:
        assert text(await client.call_tool("tool")) == "a b c"
        assert text(await client.call_tool("raw")) == "d e"
