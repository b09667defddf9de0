"""What a server offers: tools, resources, prompts, completions, their lists, and log messages."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from typing import Annotated, Any

import pytest

from mcp_runtime import Audio, Context, Embedded, Image, Server, ToolError
from mcp_runtime import types as t
from mcp_runtime.errors import BadAnswer, NotFound, NotOffered, RemoteError
from mcp_runtime.limits import Limits
from tests.support.json_peers import (
    ALL,
    HANDSHAKE,
    NEWEST,
    RawServer,
    connected,
    since,
    with_page,
)

CORE = "io.modelcontextprotocol/"
each = pytest.mark.parametrize("revision", ALL)
newest = pytest.mark.parametrize("revision", [NEWEST])
each_handshake = pytest.mark.parametrize("revision", HANDSHAKE)


async def nothing() -> str:
    return ""


def full(**options: Any) -> Server:
    """One of everything, and things that fail."""
    server = Server("full", "1", **options)

    @server.tool
    async def add(a: int, b: int = 1) -> int:
        return a + b

    @server.tool
    async def fails(how: str) -> str:
        raise {"tool": ToolError("no luck"), "error": ValueError("secret")}[how]

    @server.resource("config://app")
    async def config() -> str:
        return "x"

    @server.resource("fails://now")
    async def failing() -> str:
        raise ValueError("secret")

    @server.resource("item://{name}")
    async def item(name: str) -> str | None:
        return name if name.startswith("a") else None

    @server.prompt
    async def review(code: str, style: str = "terse") -> str:
        if code == "fails":
            raise ValueError("secret")
        return f"{style}: {code}"

    @server.completion("review", "code")
    async def codes(value: str) -> list[str]:
        if value == "fails":
            raise ValueError("secret")
        return [f"{value}{n}" for n in range(250)]

    return server


# ---- what is declared


@pytest.mark.requirement("tools.capability.declare")
@pytest.mark.requirement("resources.capability.declare")
@pytest.mark.requirement("logging.capability.declare")
@each
async def test_what_a_server_offers_it_declares(revision: str) -> None:
    async with connected(full(), revision) as client:
        declared = (await client.offered())["capabilities"]
        assert declared.keys() >= {"tools", "resources", "logging"}
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            assert await client.result(method)
    async with connected(Server("bare", "1"), revision) as client:
        assert not (await client.offered())["capabilities"].keys() & {"tools", "resources"}
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            assert (await client.error(method))["code"] == -32601


@pytest.mark.requirement("prompts.capability.declare")
@pytest.mark.requirement("prompts.capability.declare-in-discover")
@each
async def test_prompts_are_declared(revision: str) -> None:
    async with connected(full(), revision) as client:
        assert "prompts" in (await client.offered())["capabilities"]
    async with connected(Server("bare", "1"), revision) as client:
        assert "prompts" not in (await client.offered())["capabilities"]


@pytest.mark.requirement("completion.capability.declare")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_completions_are_declared(revision: str) -> None:
    async with connected(full(), revision) as client:
        assert "completions" in (await client.offered())["capabilities"]
    async with connected(Server("bare", "1"), revision) as client:
        assert "completions" not in (await client.offered())["capabilities"]


@pytest.mark.requirement("prompts.capability.respect")
@each
async def test_no_side_uses_prompts_that_are_not_offered(revision: str) -> None:
    async with connected(Server("bare", "1"), revision) as client:
        assert (await client.error("prompts/list"))["code"] == -32601
        assert (await client.error("prompts/get", {"name": "x"}))["code"] == -32601
    raw = RawServer(revision, {})
    async with raw.client() as ours:
        for ask in (ours.list_prompts, lambda: ours.get_prompt("x")):
            with pytest.raises(NotOffered):
                await ask()
    assert not raw.requests("prompts/list") + raw.requests("prompts/get")


@pytest.mark.requirement("tools.list.must-respond")
@pytest.mark.requirement("prompts.list.must-respond")
@pytest.mark.requirement("resources.list.must-respond")
@newest
async def test_a_list_that_was_declared_answers_also_when_nothing_is_left(revision: str) -> None:
    server = Server("s", "1", offers=["prompts"])
    server.tool(nothing)
    server.resource("a://b")(nothing)
    async with connected(server, revision) as client:
        declared = (await client.offered())["capabilities"]
        assert declared.keys() >= {"tools", "resources", "prompts"}
        server.remove_tool("nothing")
        server.remove_resource("a://b")
        for kind in ("tools", "resources", "prompts"):
            assert (await client.result(f"{kind}/list"))[kind] == []


@pytest.mark.requirement("tools.list.not-per-connection")
@pytest.mark.requirement("prompts.list.not-per-connection")
@pytest.mark.requirement("resources.list.not-per-connection")
@pytest.mark.requirement("tools.list.deterministic-order")
@newest
async def test_every_connection_gets_the_same_lists_whatever_it_did(revision: str) -> None:
    server = full()
    seen = []
    for busy in (False, True, False):
        async with connected(server, revision, {"roots": {}} if busy else {}) as client:
            if busy:
                await client.ask("tools/call", {"name": "fails", "arguments": {"how": "error"}})
                await client.tool("add", {"a": 1})
                await client.ask("resources/read", {"uri": "config://app"})
                await client.ask("prompts/get", {"name": "review", "arguments": {"code": "x"}})
            for _ in range(2):
                seen.append([await client.result(f"{kind}/list") for kind in KINDS])
    assert all(lists == seen[0] for lists in seen)


KINDS = ("tools", "prompts", "resources")


# ---- lists in pages


def paged(size: int, number: int = 7) -> Server:
    server = Server("s", "1", limits=Limits(page_size=size))
    for n in range(number):
        server.add_tool(nothing, name=f"t{n}")
        server.add_prompt(nothing, name=f"t{n}")
        server.resource(f"a://t{n}", name=f"t{n}")(nothing)
    return server


@pytest.mark.requirement("pagination.cursor.stable")
@pytest.mark.requirement("pagination.cursor.invalid-code")
@pytest.mark.requirement("pagination.cursor.invalid-handled")
@pytest.mark.parametrize("kind", KINDS)
@each
async def test_a_cursor_leads_to_the_same_page_each_time(revision: str, kind: str) -> None:
    method = f"{kind}/list"
    async with connected(paged(3), revision) as client:
        names, cursor = [], {}
        for expected in (3, 3, 1):
            page = await client.result(method, cursor)
            assert await client.result(method, cursor) == page
            assert len(page[kind]) == expected
            names += [item["name"] for item in page[kind]]
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else {}
        assert names == [f"t{n}" for n in range(7)]
        assert cursor == {}
        for wrong in ("", "x", "=", "\u0000", "ü", "A" * 100_000):
            assert (await client.error(method, {"cursor": wrong}))["code"] == -32602
        assert (await client.error(method, {"cursor": 5}))["code"] == -32602
        assert await client.result(method)


def pages(revision: str, kind: str, cursors: list[str | None]) -> RawServer:
    """A server whose pages have these cursors, and sizes that vary."""
    todo = list(enumerate(cursors))

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        n, cursor = todo.pop(0)
        page: dict[str, Any] = {kind: [ITEM[kind] | {"name": f"{n}.{m}"} for m in range(n % 3)]}
        return with_page(page | ({} if cursor is None else {"nextCursor": cursor}), revision)

    return RawServer(revision, answers={f"{kind}/list": answer})


ITEM: dict[str, dict[str, Any]] = {
    "tools": {"inputSchema": {"type": "object"}},
    "prompts": {},
    "resources": {"uri": "a://b"},
}


@pytest.mark.requirement("pagination.cursor.opaque")
@pytest.mark.requirement("pagination.page-size.not-assumed")
@pytest.mark.requirement("pagination.client.both-flows")
@pytest.mark.requirement("pagination.end.missing-cursor")
@pytest.mark.requirement("prompts.list.client-pagination")
@pytest.mark.requirement("pagination.cursor.presence-only")
@pytest.mark.requirement("pagination.cursor.empty-string-valid")
@pytest.mark.parametrize("kind", KINDS)
@each
async def test_a_client_follows_cursors_as_they_are_to_the_end(revision: str, kind: str) -> None:
    for cursors in (
        [None],
        ['ü \n"\\', " ", "{}", "x" * 10_000, "0", None],
        ["", "next", None],
    ):
        server = pages(revision, kind, cursors)
        async with server.client() as client:
            listed = await getattr(client, f"list_{kind}")()
        asked = [m.get("params", {}).get("cursor") for m in server.requests(f"{kind}/list")]
        assert asked == [None, *cursors[:-1]]
        assert len(listed) == sum(n % 3 for n in range(len(cursors)))


@pytest.mark.requirement("pagination.cursor.not-across-sessions")
@pytest.mark.requirement("caching.pages.snapshot-from-start")
@each
async def test_each_list_begins_without_a_cursor(revision: str) -> None:
    server = pages(revision, "tools", ["c", None, "d", None, "e", None])
    client = server.client()
    async with client:
        await client.list_tools()
        await client.list_tools()
    async with client:
        await client.list_tools()
    asked = [m.get("params", {}).get("cursor") for m in server.requests("tools/list")]
    assert asked == [None, "c", None, "d", None, "e"]


# ---- hints for caches


@pytest.mark.requirement("caching.hints.required")
@pytest.mark.requirement("caching.ttl.not-negative")
@pytest.mark.requirement("caching.scope.same-on-all-pages")
@pytest.mark.parametrize(("ttl", "scope"), [(0, "private"), (60_000, "public")])
async def test_results_that_may_be_kept_say_how_long_and_by_whom(ttl: int, scope: Any) -> None:
    server = full(ttl_ms=ttl, cache_scope=scope, limits=Limits(page_size=1))
    hints = {"ttlMs": ttl, "cacheScope": scope}
    async with connected(server, NEWEST) as client:
        for method in (
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
        ):
            result = await client.result(method)
            assert result.items() >= hints.items()
            while "nextCursor" in result:
                result = await client.result(method, {"cursor": result["nextCursor"]})
                assert result.items() >= hints.items()
        read = await client.result("resources/read", {"uri": "config://app"})
        assert read.items() >= hints.items()
    with pytest.raises(ValueError, match="ttl_ms"):
        Server("s", "1", ttl_ms=-1)


@pytest.mark.requirement("caching.ttl.absent-is-zero")
@pytest.mark.requirement("caching.ttl.negative-is-zero")
@pytest.mark.requirement("caching.ttl.not-a-poll-interval")
@pytest.mark.parametrize("ttl", [None, -1, -5000, 0, 10])
async def test_a_client_takes_absent_and_negative_times_and_does_not_poll(ttl: int | None) -> None:
    hint = {"ttlMs": ttl} if ttl is not None else {}
    listed = {"tools": [], "resultType": "complete", "cacheScope": "private"} | hint
    server = RawServer(NEWEST, answers={"tools/list": listed})
    async with server.client() as client:
        assert await client.list_tools() == []
        await server.line.quiet(0.05)
    assert len(server.requests("tools/list")) == 1


# ---- tools


@pytest.mark.requirement("tools.security.validate-inputs")
@pytest.mark.parametrize(
    "arguments",
    [
        {"a": "one"},
        {"a": "1.5"},
        {"a": ["1"]},
        {"a": 1.5},
        {"a": True},
        {},
        {"a": None},
        {"a": 1, "c": 2},
    ],
)
@each
async def test_arguments_that_do_not_fit_reach_no_tool(
    revision: str, arguments: dict[str, Any]
) -> None:
    called = []
    server = Server("s", "1")

    @server.tool
    async def add(a: int, b: int = 1) -> int:
        called.append(a)
        return a + b

    async with connected(server, revision) as client:
        result = await client.tool("add", arguments)
        assert result["isError"] is True
        assert result["content"][0]["text"]
    assert called == []


@pytest.mark.requirement("tools.call.execution-error-is-result")
@each
async def test_a_failure_of_a_tool_is_a_result(revision: str) -> None:
    async with connected(full(), revision) as client:
        result = await client.tool("fails", {"how": "tool"})
        assert result["isError"] is True
        assert result["content"] == [{"type": "text", "text": "no luck"}]


@pytest.mark.requirement("tools.call.execution-error-is-result")
@each
async def test_an_unexpected_failure_of_a_tool_is_a_result_with_a_reference_to_the_log(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(full(), revision) as client:
        result = await client.tool("fails", {"how": "error"})
    assert result["isError"] is True
    said = re.search(r"\(reference ([0-9a-f]{8})\)", result["content"][0]["text"])
    assert said
    assert "secret" not in json.dumps(result)
    assert "ValueError" not in json.dumps(result)
    assert f"(reference {said[1]}): ValueError: secret" in caplog.text


@pytest.mark.requirement("tools.name.charset")
@pytest.mark.requirement("tools.name.no-special-characters")
@pytest.mark.requirement("tools.name.length")
@pytest.mark.parametrize("name", ["a b", "a,b", "ä", "a/b", "a\n", "x" * 129, "a:b", "a@b"])
def test_a_tool_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a tool"):
        Server("s", "1").add_tool(nothing, name=name)


@pytest.mark.requirement("tools.name.length")
@pytest.mark.requirement("tools.name.case-sensitive")
@pytest.mark.requirement("tools.name.unique")
@pytest.mark.parametrize("revision", since("2025-11-25"))
async def test_names_are_unique_and_differ_by_case(revision: str) -> None:
    server = Server("s", "1")

    async def lower() -> str:
        return "lower"

    async def upper() -> str:
        return "upper"

    server.add_tool(lower, name="get")
    server.add_tool(upper, name="GET")
    server.add_tool(nothing, name="x" * 128)
    with pytest.raises(ValueError, match="already"):
        server.add_tool(nothing, name="get")
    async with connected(server, revision) as client:
        names = [tool["name"] for tool in (await client.result("tools/list"))["tools"]]
        assert names == ["get", "GET", "x" * 128]
        for name, said in (("get", "lower"), ("GET", "upper")):
            assert (await client.tool(name))["content"][0]["text"] == said


@pytest.mark.requirement("tools.result.embedded-needs-resources")
@pytest.mark.parametrize("revision", since("2025-06-18"))
async def test_a_tool_that_embeds_resources_makes_the_server_offer_some(revision: str) -> None:
    async def one() -> Embedded:
        return Embedded("a://b", "x")

    async def many() -> Annotated[list[str | t.EmbeddedResource], "many"]:
        return []

    for tool in (one, many):
        server = Server("s", "1")
        server.add_tool(tool)
        async with connected(server, revision) as client:
            assert "resources" in (await client.offered())["capabilities"]
            assert (await client.result("resources/list"))["resources"] == []


@pytest.mark.requirement("tools.output-schema.client-validates")
@pytest.mark.requirement("tools.security.client-validate-results")
@pytest.mark.parametrize("revision", since("2025-06-18"))
@pytest.mark.parametrize("structured", [{"a": "x"}, {}, None])
async def test_a_client_checks_what_a_tool_has_promised(revision: str, structured: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tool = {"name": "x", "inputSchema": {"type": "object"}, "outputSchema": schema}
    result: dict[str, Any] = {"content": []}
    result |= {} if structured is None else {"structuredContent": structured}
    server = RawServer(
        revision,
        answers={
            "tools/list": with_page({"tools": [tool]}, revision),
            "tools/call": with_page(result, revision),
        },
    )
    async with server.client() as client:
        await client.list_tools()
        with pytest.raises(BadAnswer):
            await client.call_tool("x")
        server.answers["tools/call"] = with_page(
            {"content": [], "structuredContent": {"a": 1}}, revision
        )
        assert (await client.call_tool("x")).structured_content == {"a": 1}


@pytest.mark.requirement("tools.security.client-validate-results")
@each
async def test_a_client_gives_no_result_to_its_host_that_is_none(revision: str) -> None:
    server = RawServer(revision)
    for result in ({}, {"content": "x"}, {"content": [{"type": "text"}]}, {"content": [{"a": 1}]}):
        server.answers["tools/call"] = with_page(result, revision)
        async with server.client() as client:
            with pytest.raises(BadAnswer):
                await client.call_tool("x")


# ---- resources


@pytest.mark.requirement("resources.read.not-found")
@each_handshake
async def test_a_missing_resource_had_a_code_of_its_own(revision: str) -> None:
    async with connected(full(), revision) as client:
        for uri in ("none://x", "item://b", "config://app2"):
            error = await client.error("resources/read", {"uri": uri})
            assert (error["code"], error["data"]) == (-32002, {"uri": uri})


@pytest.mark.requirement("resources.read.not-found-invalid-params")
@pytest.mark.requirement("resources.read.no-empty-contents-for-missing")
@pytest.mark.requirement("errors.retired.resource-not-found")
@newest
async def test_a_missing_resource_is_a_wrong_parameter_now(revision: str) -> None:
    async with connected(full(), revision) as client:
        for uri in ("none://x", "item://b", "config://app2"):
            error = await client.error("resources/read", {"uri": uri})
            assert (error["code"], error["data"]) == (-32602, {"uri": uri})


@pytest.mark.requirement("resources.read.not-found-accept-legacy-code")
@pytest.mark.requirement("errors.retired.resource-not-found.accept")
@pytest.mark.parametrize(("code", "data"), [(-32002, {}), (-32602, {"uri": "a://b"})])
async def test_a_client_knows_a_missing_resource_by_either_code(code: int, data: Any) -> None:
    server = RawServer(NEWEST)
    server.answers["resources/read"] = lambda m: server.line.refuse(m["id"], code, **data)
    async with server.client() as client:
        with pytest.raises(NotFound):
            await client.read_resource("a://b")
        server.answers["resources/read"] = lambda m: server.line.refuse(m["id"], -32602, a=1)
        with pytest.raises(RemoteError) as refused:
            await client.read_resource("a://b")
        assert type(refused.value) is RemoteError


@pytest.mark.requirement("resources.security.validate-uris")
@pytest.mark.parametrize(
    "uri", ["", "x", "/etc/passwd", "file:///etc/passwd", "item://a/b", "items://a", "item://.."]
)
@each
async def test_a_uri_that_is_none_of_ours_is_refused(revision: str, uri: str) -> None:
    async with connected(full(), revision) as client:
        for method in ("resources/read", "resources/subscribe"):
            if method == "resources/subscribe" and client.is_modern:
                continue
            assert (await client.error(method, {"uri": uri}))["code"] in (-32002, -32602)
        if client.is_modern:
            wanted = {"notifications": {"resourceSubscriptions": [uri, "config://app"]}}
            client.call("subscriptions/listen", wanted)
            acknowledged = await client.next("notifications/subscriptions/acknowledged")
            served = acknowledged["params"]["notifications"]
            assert served["resourceSubscriptions"] == ["config://app"]


@pytest.mark.requirement("resources.security.path-traversal")
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "a/../../secret",
        "%2e%2e/secret",
        "a/%2E%2E/%2e%2e/secret",
        "..%2fsecret",
        "..\\secret",
        "a%5C..%5C..%5Csecret",
        "a/..",
        "%00",
    ],
)
@newest
async def test_no_path_leads_out_of_what_is_exposed(revision: str, path: str) -> None:
    asked: list[str] = []
    server = Server("s", "1")

    @server.resource("file:///srv/{+path}")
    async def file(path: str) -> str:
        asked.append(path)
        return "x"

    @server.resource("file:///one/{name}")
    async def one(name: str) -> str:
        asked.append(name)
        return "x"

    async with connected(server, revision) as client:
        for folder in ("srv", "one"):
            uri = f"file:///{folder}/{path}"
            assert (await client.error("resources/read", {"uri": uri}))["code"] == -32602
        assert asked == []
        assert await client.result("resources/read", {"uri": "file:///srv/a/b..c/d"})


@pytest.mark.requirement("resources.uri.custom-rfc3986")
@pytest.mark.parametrize(
    "uri", ["a b://c", "1a://b", "a", "//a", "a://ü", "a://%zz", "a://{", "ab://c d", "a://b#c#d"]
)
def test_a_resource_has_a_valid_uri(uri: str) -> None:
    with pytest.raises(ValueError, match=r"not a URI|unbalanced brace"):
        Server("s", "1").resource(uri)(nothing)


@pytest.mark.requirement("resources.contents.blob-base64")
@each
async def test_bytes_arrive_intact(revision: str) -> None:
    data = bytes(range(256)) * 3 + b"\n"
    server = Server("s", "1")

    @server.resource("a://raw")
    async def raw() -> bytes:
        return data

    @server.resource("a://wrong")
    async def wrong() -> list[t.BlobResourceContents]:
        return [t.BlobResourceContents(uri="a://wrong", blob="not base64!")]

    async with connected(server, revision) as client:
        (resource,) = (await client.result("resources/read", {"uri": "a://raw"}))["contents"]
        assert b64decode(resource["blob"], validate=True) == data
        assert (await client.error("resources/read", {"uri": "a://wrong"}))["code"] == -32603


@pytest.mark.requirement("resources.read.internal-error")
@pytest.mark.requirement("prompts.get.internal-error")
@each
async def test_a_failure_inside_is_an_internal_error_that_tells_nothing(revision: str) -> None:
    async with connected(full(), revision) as client:
        for method, params in (
            ("resources/read", {"uri": "fails://now"}),
            ("prompts/get", {"name": "review", "arguments": {"code": "fails"}}),
        ):
            error = await client.error(method, params)
            assert error["code"] == -32603
            assert "secret" not in json.dumps(error)
            assert "Traceback" not in json.dumps(error)


# ---- prompts


@pytest.mark.requirement("prompts.get.unknown-name")
@pytest.mark.requirement("prompts.get.missing-argument")
@pytest.mark.requirement("prompts.get.validate-arguments")
@pytest.mark.parametrize(
    "params",
    [
        {"name": "none"},
        {"name": ""},
        {"name": "review"},
        {"name": "review", "arguments": {}},
        {"name": "review", "arguments": {"style": "x"}},
        {"name": "review", "arguments": {"code": 5}},
        {"name": "review", "arguments": {"code": "x", "other": "y"}},
    ],
)
@each
async def test_a_prompt_is_rendered_with_arguments_that_fit(revision: str, params: Any) -> None:
    async with connected(full(), revision) as client:
        assert (await client.error("prompts/get", params))["code"] == -32602
        assert await client.result("prompts/get", {"name": "review", "arguments": {"code": "x"}})


PICTURE = b"\x89PNG\r\n\x1a\n\xff\x00"


async def content(revision: str, value: Any) -> dict[str, Any]:
    """Of the one message of a prompt that returns `value`; or the error."""
    server = Server("s", "1")

    @server.prompt
    async def show() -> Any:
        return value

    async with connected(server, revision) as client:
        answer = await client.ask("prompts/get", {"name": "show"})
    if "error" in answer:
        return answer
    (message,) = answer["result"]["messages"]
    block: dict[str, Any] = message["content"]
    return block


@pytest.mark.requirement("prompts.message.image-base64")
@pytest.mark.requirement("prompts.message.image-mime-type")
@each
async def test_a_picture_in_a_prompt_is_base64_with_its_type(revision: str) -> None:
    block = await content(revision, Image(PICTURE, "image/png"))
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert b64decode(block["data"], validate=True) == PICTURE
    for data, kind in (("%%%", "image/png"), (b64encode(PICTURE).decode(), "png")):
        wrong = await content(revision, t.ImageContent(data=data, mime_type=kind))
        assert wrong["error"]["code"] == -32603
    for kind in ("", "png", "image/", "/png", "image/png\n", "a b/c"):
        with pytest.raises(ValueError, match="MIME"):
            Image(PICTURE, kind)


@pytest.mark.requirement("prompts.message.audio-base64")
@pytest.mark.requirement("prompts.message.audio-mime-type")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_sound_in_a_prompt_is_base64_with_its_type(revision: str) -> None:
    block = await content(revision, Audio(PICTURE, "audio/wav"))
    assert (block["type"], block["mimeType"]) == ("audio", "audio/wav")
    assert b64decode(block["data"], validate=True) == PICTURE
    for data, kind in (("a", "audio/wav"), (b64encode(PICTURE).decode(), "wav")):
        message = t.PromptMessage(role="user", content=t.AudioContent(data=data, mime_type=kind))
        wrong = await content(revision, message)
        assert wrong["error"]["code"] == -32603
    with pytest.raises(ValueError, match="MIME"):
        Audio(PICTURE, "wav")


@pytest.mark.requirement("prompts.message.embedded-mime-type")
@pytest.mark.requirement("prompts.message.embedded-payload")
@pytest.mark.requirement("prompts.message.embedded-uri")
@each
async def test_a_resource_in_a_prompt_has_uri_type_and_payload(revision: str) -> None:
    for value, kind, payload in (
        (Embedded("a://b", "text"), "text/plain", {"text": "text"}),
        (Embedded("a://b", "{}", "application/json"), "application/json", {"text": "{}"}),
        (
            Embedded("a://b", PICTURE),
            "application/octet-stream",
            {"blob": b64encode(PICTURE).decode()},
        ),
        (
            t.GetPromptResult(
                messages=[
                    t.PromptMessage(
                        role="user",
                        content=t.EmbeddedResource(
                            resource=t.TextResourceContents(uri="a://b", text="text")
                        ),
                    )
                ],
                result_type="complete",
            ),
            "text/plain",
            {"text": "text"},
        ),
    ):
        block = await content(revision, value)
        assert block["type"] == "resource"
        assert block["resource"] == {"uri": "a://b", "mimeType": kind} | payload
    bare = t.TextResourceContents(uri="no uri", text="x")
    wrong = await content(revision, t.EmbeddedResource(resource=bare))
    assert wrong["error"]["code"] == -32603
    blob = t.BlobResourceContents(uri="a://b", blob="%")
    wrong = await content(revision, t.EmbeddedResource(resource=blob))
    assert wrong["error"]["code"] == -32603
    with pytest.raises(ValueError, match="URI"):
        Embedded("no uri", "x")


# ---- completions


def complete(name: str = "review", argument: Any = "code", value: Any = "x") -> dict[str, Any]:
    ref = {"type": "ref/prompt", "name": name}
    return {"ref": ref, "argument": {"name": argument, "value": value}}


@pytest.mark.requirement("completion.security.validate-inputs")
@pytest.mark.parametrize(
    "params",
    [
        complete("none"),
        complete(argument="none"),
        complete(argument=5),
        complete(value=None),
        {"ref": {"type": "ref/other", "name": "review"}, "argument": {"name": "a", "value": ""}},
        {
            "ref": {"type": "ref/resource", "uri": "no://{x}"},
            "argument": {"name": "x", "value": ""},
        },
    ],
)
@each
async def test_inputs_of_completions_are_checked(revision: str, params: dict[str, Any]) -> None:
    async with connected(full(), revision) as client:
        assert (await client.error("completion/complete", params))["code"] == -32602
        values = (await client.result("completion/complete", complete()))["completion"]["values"]
        assert len(values) == 100


@pytest.mark.requirement("completion.error.unknown-prompt")
@pytest.mark.requirement("completion.error.missing-argument")
@pytest.mark.requirement("completion.error.internal")
@pytest.mark.requirement("completion.error.unsupported")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_a_completion_that_cannot_be_says_why(revision: str) -> None:
    no_argument = {"ref": {"type": "ref/prompt", "name": "review"}}
    no_value = {**no_argument, "argument": {"name": "code"}}
    async with connected(full(), revision) as client:
        for params, code in (
            (complete("none"), -32602),
            (no_argument, -32602),
            (no_value, -32602),
            (complete(value="fails"), -32603),
        ):
            assert (await client.error("completion/complete", params))["code"] == code
    async with connected(Server("bare", "1"), revision) as client:
        assert (await client.error("completion/complete", complete()))["code"] == -32601


# ---- log messages


def loud(**options: Any) -> Server:
    server = Server("loud", "1", **options)

    @server.tool
    async def talk(ctx: Context) -> str:
        for level in ("debug", "info", "error"):
            await ctx.log(level, {"level": level}, "logger")
        return "done"

    return server


@pytest.mark.requirement("logging.request-level.required-to-emit")
@pytest.mark.requirement("logging.request-level.own-stream-only")
@newest
async def test_log_messages_belong_to_the_request_that_wants_them(revision: str) -> None:
    async with connected(loud(), revision) as client:
        client.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await client.next("notifications/subscriptions/acknowledged")
        await client.tool("talk")
        assert await client.quiet() == []
        await client.tool("talk", meta={f"{CORE}logLevel": "info"})
        messages = await client.quiet()
        assert [m["params"]["level"] for m in messages] == ["info", "error"]
        for message in messages:
            assert f"{CORE}subscriptionId" not in message["params"].get("_meta", {})
        client.got.clear()
        await client.tool("talk")
        assert await client.quiet() == []


@pytest.mark.requirement("logging.request-level.invalid-level")
@pytest.mark.parametrize("level", ["loud", "", "INFO", 5, {}])
@newest
async def test_a_request_with_an_unknown_level_is_refused(revision: str, level: Any) -> None:
    server = loud()

    @server.on("own/method")
    async def own(params: Any, ctx: Context) -> dict[str, Any]:
        return {}

    async with connected(server, revision) as client:
        for method in ("tools/list", "tools/call", "server/discover", "own/method"):
            error = await client.error(method, {"name": "talk"}, meta={f"{CORE}logLevel": level})
            assert error["code"] == -32602
        assert await client.quiet() == []


@newest
async def test_a_request_with_a_level_of_null_is_read_as_one_without_unless_that_is_refused(
    revision: str,
) -> None:
    for strict in (False, True):
        server = loud(strict=["null"] if strict else ())
        async with connected(server, revision) as client:
            answer = await client.ask("tools/list", {}, meta={f"{CORE}logLevel": None})
            if strict:
                assert answer["error"]["code"] == -32602
            else:
                assert answer["result"]["tools"]
            await client.ask("tools/call", {"name": "talk"}, meta={f"{CORE}logLevel": None})
            assert await client.quiet() == []
        assert server.forgiven["null"] == (0 if strict else 2)


@pytest.mark.requirement("logging.set-level.invalid-level")
@pytest.mark.parametrize("level", ["loud", "", "INFO", 5, None])
@each_handshake
async def test_an_unknown_level_is_not_set(revision: str, level: Any) -> None:
    async with connected(loud(), revision) as client:
        await client.result("logging/setLevel", {"level": "error"})
        assert (await client.error("logging/setLevel", {"level": level}))["code"] == -32602
        await client.tool("talk")
        assert [m["params"]["level"] for m in await client.quiet()] == ["error"]


@pytest.mark.requirement("logging.security.validate-data")
@each
async def test_log_messages_are_checked_before_they_go(revision: str) -> None:
    raised: list[Exception] = []
    server = Server("s", "1")

    @server.tool
    async def talk(ctx: Context) -> str:
        for wrong in (("loud", "x", None), ("error", object(), None), ("error", "x", 5)):
            try:
                await ctx.log(*wrong)
            except Exception as error:
                raised.append(error)
        return "done"

    async with connected(server, revision) as client:
        await client.tool("talk", meta={f"{CORE}logLevel": "debug"} if client.is_modern else {})
        assert await client.quiet() == []
    assert len(raised) == 3
    logged: list[Any] = []
    raw = RawServer(revision)
    async with raw.client(on_log=logged.append):
        for params in ({"level": "loud", "data": 1}, {"level": "error"}, {"data": 1}, {}):
            raw.line.notify("notifications/message", params)
        raw.line.notify("notifications/message", {"level": "error", "data": 1})
        await raw.line.quiet()
    assert [params.data for params in logged] == [1]
