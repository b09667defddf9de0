"""What a server asks of its client: forms and pages for the user, a language model, and roots."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from mcp_runtime import Context, Server
from mcp_runtime import types as t
from mcp_runtime.errors import BadAnswer, NotOffered, TooMuch
from mcp_runtime.limits import Limits
from tests.support.json_peers import (
    ALL,
    HANDSHAKE,
    NEWEST,
    RawClient,
    RawServer,
    connected,
    since,
    with_page,
)
from tests.support.virtual_time import elapse

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
each = pytest.mark.parametrize("revision", ALL)
each_handshake = pytest.mark.parametrize("revision", HANDSHAKE)
forms_of = pytest.mark.parametrize("revision", since("2025-06-18"))
modes_of = pytest.mark.parametrize("revision", since("2025-11-25"))


async def asked(
    client: RawClient, tool: str, *answers: dict[str, Any] | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Calls a tool and answers its questions: the questions, and the message that ends the call.

    A question is a dictionary of `method` and `params`, however it travels; None refuses it.
    """
    questions: list[dict[str, Any]] = []
    if not client.is_modern:
        id = client.call("tools/call", {"name": tool, "arguments": {}})
        for answer in answers:
            question = await client.next(lambda m: "method" in m and "id" in m)
            questions.append(question)
            if answer is None:
                client.refuse(question["id"], -32603)
            else:
                client.answer(question["id"], answer)
        return questions, await client.response(id)
    retry: dict[str, Any] = {}
    for answer in answers:
        result = await client.result("tools/call", {"name": tool, "arguments": {}} | retry)
        assert result["resultType"] == "input_required"
        ((key, question),) = result["inputRequests"].items()
        questions.append(question)
        retry = {"inputResponses": {key: answer or {"action": "cancel"}}}
        retry |= {"requestState": result["requestState"]} if "requestState" in result else {}
    return questions, await client.ask("tools/call", {"name": tool, "arguments": {}} | retry)


def text(answer: dict[str, Any]) -> str:
    words: str = answer["result"]["content"][0]["text"]
    return words


def asks(method: str, params: dict[str, Any] | None) -> RawServer:
    """A server of the newest revision whose tool asks one question."""
    question = {"method": method} | ({} if params is None else {"params": params})

    def answer(message: dict[str, Any]) -> dict[str, Any]:
        if "inputResponses" in message["params"]:
            return with_page({"content": []}, NEWEST)
        return {"resultType": "input_required", "inputRequests": {"k": question}}

    return RawServer(NEWEST, answers={"tools/call": answer})


def declared(server: RawServer, method: str = "initialize") -> dict[str, Any]:
    """The capabilities of a client, as its first request tells them."""
    first = server.asked[0]
    if server.revision == NEWEST:
        assert all(m["params"]["_meta"][CAPABILITIES] for m in server.asked if "id" in m)
        capabilities: dict[str, Any] = first["params"]["_meta"][CAPABILITIES]
    else:
        capabilities = first["params"]["capabilities"]
    return capabilities


# ---- capabilities


async def never(params: Any) -> Any:
    raise AssertionError(params)


@pytest.mark.requirement("roots.capability.declare")
@pytest.mark.requirement("roots.capability.declare-per-request")
@pytest.mark.requirement("sampling.capability.declare")
@pytest.mark.requirement("sampling.capability.declare-per-request")
@each
async def test_a_client_declares_what_it_does_for_servers(revision: str) -> None:
    server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
    async with server.client(roots=[], on_sample=never) as client:
        await client.list_tools()
    capabilities = declared(server)
    assert capabilities.keys() == {"roots", "sampling"}
    if revision in HANDSHAKE:
        assert capabilities["roots"] == {"listChanged": True}


@pytest.mark.requirement("elicitation.capability.declare")
@pytest.mark.requirement("elicitation.capability.declare-per-request")
@forms_of
async def test_a_client_declares_elicitation(revision: str) -> None:
    server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
    async with server.client(on_elicit=never) as client:
        await client.list_tools()
    assert declared(server).keys() == {"elicitation"}


@pytest.mark.requirement("elicitation.capability.one-mode")
@pytest.mark.parametrize("modes", [["form"], ["url"], ["form", "url"]])
@modes_of
async def test_elicitation_is_declared_with_its_modes(revision: str, modes: list[Any]) -> None:
    server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
    async with server.client(on_elicit=never, elicit_modes=modes) as client:
        await client.list_tools()
    assert declared(server)["elicitation"] == {mode: {} for mode in modes}
    with pytest.raises(ValueError, match="mode"):
        server.client(on_elicit=never, elicit_modes=[])


@pytest.mark.requirement("sampling.capability.declare-tools")
@modes_of
async def test_sampling_with_tools_is_declared(revision: str) -> None:
    for tools in (True, False):
        server = RawServer(revision, answers={"tools/list": with_page({"tools": []}, revision)})
        async with server.client(on_sample=never, sample_tools=tools) as client:
            await client.list_tools()
        assert ("tools" in declared(server)["sampling"]) is tools


# ---- forms


@dataclass
class Person:
    name: str
    age: int = 3
    kind: Literal["a", "b"] = "a"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "size": {"type": "number", "minimum": 0, "maximum": 10},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "yes": {"type": "boolean"},
    },
    "required": ["name"],
}
FIT: list[dict[str, Any]] = [
    {"name": "Ada"},
    {"name": "Ada", "size": 0.5, "kind": "b", "yes": False},
    {"name": "Ada", "size": 10},
]
UNFIT: list[Any] = [
    {},
    {"name": 5},
    {"name": "A"},
    {"name": "Adaaaa"},
    {"name": "Ada", "size": 11},
    {"name": "Ada", "size": True},
    {"name": "Ada", "size": "1"},
    {"name": "Ada", "kind": "c"},
    {"name": "Ada", "yes": "true"},
]


def asker() -> Server:
    server = Server("asker", "1")

    @server.tool
    async def form(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Person)
        return f"{answer.action} {answer.content}"

    @server.tool
    async def schema(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", SCHEMA)
        return f"{answer.action} {answer.content}"

    @server.tool
    async def page(ctx: Context) -> str:
        return (await ctx.elicit_url("Please log in", "https://example.com/in?x=1")).action

    return server


@pytest.mark.requirement("elicitation.form.mode-value")
@pytest.mark.requirement("elicitation.form.requested-schema-required")
@pytest.mark.requirement("elicitation.params.message-required")
@modes_of
async def test_a_form_has_mode_schema_and_message(revision: str) -> None:
    async with connected(asker(), revision, {"elicitation": {"form": {}}}) as client:
        accepted = {"action": "accept", "content": {"name": "Ada"}}
        (question,), answer = await asked(client, "form", accepted)
        assert question["method"] == "elicitation/create"
        params = question["params"]
        assert params.get("mode", "form") == "form"
        assert params["message"] == "Who are you?"
        assert params["requestedSchema"]["type"] == "object"
        assert params["requestedSchema"]["properties"].keys() == {"name", "age", "kind"}
        assert text(answer).startswith("accept Person(name='Ada'")


@pytest.mark.requirement("elicitation.action.server-handles-refusal")
@pytest.mark.requirement("elicitation.action.server-assumes-no-success")
@pytest.mark.parametrize("revision", [NEWEST])
async def test_a_server_ends_well_whatever_the_user_does(revision: str) -> None:
    async with connected(asker(), revision, {"elicitation": {}}) as client:
        for action in ("decline", "cancel"):
            _, answer = await asked(client, "form", {"action": action})
            assert text(answer) == f"{action} None"
        _, answer = await asked(client, "form", None)
        assert text(answer) == "cancel None"
        first = await client.tool("form")
        assert first["resultType"] == "input_required"
        assert await client.result("tools/list")


async def test_a_server_ends_well_when_a_client_of_old_fails() -> None:
    async with connected(asker(), "2025-11-25", {"elicitation": {}}) as client:
        _, answer = await asked(client, "form", None)
        assert answer["result"]["isError"] is True
        for action in ("decline", "cancel"):
            _, answer = await asked(client, "form", {"action": action})
            assert text(answer) == f"{action} None"


@pytest.mark.requirement("elicitation.form.server-validates")
@forms_of
async def test_a_server_checks_what_was_filled_in(revision: str) -> None:
    async with connected(asker(), revision, {"elicitation": {}}) as client:
        for content in FIT:
            _, answer = await asked(client, "schema", {"action": "accept", "content": content})
            assert text(answer) == f"accept {content}"
        for content in UNFIT:
            _, answer = await asked(client, "schema", {"action": "accept", "content": content})
            assert answer["result"]["isError"] is True, content
            assert "Ada" not in text(answer) or "name" not in content


@pytest.mark.requirement("elicitation.form.client-validates")
@forms_of
async def test_a_client_checks_what_was_filled_in_before_it_sends_it(revision: str) -> None:
    filled: list[Any] = []

    async def fill(params: Any) -> t.ElicitResult:
        return t.ElicitResult(action="accept", content=filled[-1])

    params = {"message": "m", "requestedSchema": SCHEMA}
    for content in FIT + UNFIT:
        filled.append(content)
        if revision == NEWEST:
            server = asks("elicitation/create", {"mode": "form"} | params)
            async with server.client(on_elicit=fill) as client:
                if content in FIT:
                    await client.call_tool("x")
                    response = server.requests("tools/call")[1]["params"]["inputResponses"]["k"]
                    assert response["content"] == content
                else:
                    with pytest.raises(ValueError, match="form"):
                        await client.call_tool("x")
                    assert len(server.requests("tools/call")) == 1
        else:
            server = RawServer(revision)
            async with server.client(on_elicit=fill):
                answer = await server.line.request("elicitation/create", params)
                assert ("result" in answer) == (content in FIT)


@pytest.mark.requirement("elicitation.mode.absent-is-form")
@modes_of
async def test_a_question_without_mode_is_a_form(revision: str) -> None:
    questions: list[Any] = []

    async def fill(params: Any) -> t.ElicitResult:
        questions.append(params)
        return t.ElicitResult(action="accept", content={"name": "Ada"})

    params = {"message": "m", "requestedSchema": SCHEMA}
    server = asks("elicitation/create", params) if revision == NEWEST else RawServer(revision)
    async with server.client(on_elicit=fill, elicit_modes=["form"]) as client:
        if revision == NEWEST:
            await client.call_tool("x")
        else:
            assert "result" in await server.line.request("elicitation/create", params)
    assert isinstance(questions[0], t.ElicitRequestFormParams)


@pytest.mark.requirement("elicitation.mode.only-declared")
@pytest.mark.parametrize(
    ("modes", "tool"), [({"form": {}}, "page"), ({}, "page"), ({"url": {}}, "form")]
)
@modes_of
async def test_a_server_asks_in_no_mode_that_was_not_declared(
    revision: str, modes: Any, tool: str
) -> None:
    async with connected(asker(), revision, {"elicitation": modes}) as client:
        answer = await client.ask("tools/call", {"name": tool, "arguments": {}})
        if client.is_modern:
            assert answer["error"]["code"] == -32021
        else:
            assert answer["result"]["isError"] is True
        assert await client.quiet() == []


PAGE = {"mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "e1"}
FORM = {"mode": "form", "message": "m", "requestedSchema": SCHEMA}


@pytest.mark.requirement("elicitation.mode.undeclared-refused")
async def test_a_client_refuses_a_mode_that_it_has_not_declared() -> None:
    for mode, params in (("form", PAGE), ("url", FORM)):
        server = RawServer("2025-11-25")
        async with server.client(on_elicit=never, elicit_modes=[mode]):
            answer = await server.line.request("elicitation/create", params)
            assert answer["error"]["code"] == -32602


# ---- pages


@pytest.mark.requirement("elicitation.url.params")
@pytest.mark.requirement("elicitation.params.message-required")
async def test_a_page_of_2025_11_25_has_an_id() -> None:
    seen = set()
    async with connected(asker(), "2025-11-25", {"elicitation": {"url": {}}}) as client:
        for _ in range(3):
            (question,), answer = await asked(client, "page", {"action": "accept"})
            params = question["params"]
            assert params.keys() - {"_meta"} == {"mode", "message", "url", "elicitationId"}
            assert (params["mode"], params["message"]) == ("url", "Please log in")
            assert params["url"] == "https://example.com/in?x=1"
            seen.add(params["elicitationId"])
            assert text(answer) == "accept"
    assert len(seen) == 3


@pytest.mark.requirement("elicitation.url.params-without-id")
@pytest.mark.requirement("elicitation.params.message-required")
async def test_a_page_of_the_newest_revision_has_none() -> None:
    async with connected(asker(), NEWEST, {"elicitation": {"url": {}}}) as client:
        (question,), answer = await asked(client, "page", {"action": "accept"})
        assert question["params"].keys() - {"_meta"} == {"mode", "message", "url"}
        assert question["params"]["mode"] == "url"
        assert text(answer) == "accept"


@pytest.mark.requirement("elicitation.url.valid")
@pytest.mark.requirement("elicitation.url.https")
@pytest.mark.parametrize(
    "url",
    ["", "x", "example.com", "https://", "https://a b", "http://example.com", "ftp://a.b", "a:b"],
)
@modes_of
async def test_no_page_is_sent_that_is_none_or_in_the_clear(revision: str, url: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def page(ctx: Context) -> str:
        return (await ctx.elicit_url("m", url)).action

    @server.tool
    async def local(ctx: Context) -> str:
        return (await ctx.elicit_url("m", "http://localhost:8000/x")).action

    async with connected(server, revision, {"elicitation": {"url": {}}}) as client:
        assert (await client.tool("page"))["isError"] is True
        assert await client.quiet() == []
        (question,), _ = await asked(client, "local", {"action": "accept"})
        assert question["params"]["url"] == "http://localhost:8000/x"


@pytest.mark.requirement("elicitation.url.no-prefetch")
@pytest.mark.requirement("elicitation.url.id-opaque")
@modes_of
async def test_a_client_fetches_no_page_and_reads_nothing_into_its_id(revision: str) -> None:
    visits = []

    async def visited(reader: Any, writer: Any) -> None:
        visits.append(1)
        writer.close()

    listener = await asyncio.start_server(visited, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    questions: list[Any] = []

    async def agree(params: Any) -> t.ElicitResult:
        questions.append(params)
        return t.ElicitResult(action="accept")

    for id in ("e", "", "../x", "https://x", "ü\n"):
        page = {"mode": "url", "message": "m", "url": f"http://127.0.0.1:{port}/x"}
        page |= {} if revision == NEWEST else {"elicitationId": id}
        server = asks("elicitation/create", page) if revision == NEWEST else RawServer(revision)
        async with server.client(on_elicit=agree, elicit_modes=["url"]) as client:
            if revision == NEWEST:
                await client.call_tool("x")
            else:
                answer = await server.line.request("elicitation/create", page)
                assert answer["result"]["action"] == "accept"
        assert questions[-1].url == page["url"]
    await elapse(0.02)
    assert visits == []
    listener.close()
    await listener.wait_closed()


@pytest.mark.requirement("elicitation.complete.includes-id")
@pytest.mark.requirement("elicitation.complete.only-to-initiator")
async def test_that_a_page_is_done_is_told_to_who_was_sent_there() -> None:
    server = Server("s", "1")

    @server.tool
    async def page(ctx: Context) -> str:
        await ctx.elicit_url("m", "https://example.com", elicitation_id="e7")
        await ctx.elicitation_over("e7")
        return "done"

    capabilities = {"elicitation": {"url": {}}}
    async with (
        connected(server, "2025-11-25", capabilities) as one,
        connected(server, "2025-11-25", capabilities) as other,
    ):
        await asked(one, "page", {"action": "accept"})
        notification = await one.next("notifications/elicitation/complete")
        assert notification["params"]["elicitationId"] == "e7"
        assert "id" not in notification
        assert await other.quiet() == []
    async with connected(server, NEWEST, capabilities) as modern:
        _, answer = await asked(modern, "page", {"action": "accept"})
        assert text(answer) == "done"
        assert await modern.quiet() == []


@pytest.mark.requirement("elicitation.complete.unknown-ignored")
async def test_a_client_ignores_that_an_unknown_page_is_done() -> None:
    server = RawServer("2025-11-25", answers={"tools/list": {"tools": []}})
    async with server.client(on_elicit=never, elicit_modes=["url"]) as client:
        server.line.got.clear()
        for params in ({"elicitationId": "none"}, {"elicitationId": "none"}, {"x": 1}, {}):
            server.line.notify("notifications/elicitation/complete", params)
        assert await server.line.quiet() == []
        assert await client.list_tools() == []


@pytest.mark.requirement("elicitation.required-error.code")
@pytest.mark.requirement("elicitation.required-error.lists-elicitations")
@pytest.mark.requirement("elicitation.required-error.url-mode-with-id")
@pytest.mark.requirement("elicitation.required-error.only-when-required")
async def test_a_request_that_needs_pages_first_is_refused_with_all_of_them() -> None:
    server = asker()

    @server.tool
    async def guarded(ctx: Context) -> str:
        await ctx.require_urls(("one", "https://example.com/1"), ("two", "https://example.com/2"))
        return "done"

    @server.tool
    async def unsafe(ctx: Context) -> str:
        await ctx.require_urls(("one", "http://example.com/1"))
        return "done"

    async with connected(server, "2025-11-25", {"elicitation": {"url": {}}}) as client:
        error = await client.error("tools/call", {"name": "guarded", "arguments": {}})
        assert error["code"] == -32042
        pages = error["data"]["elicitations"]
        assert [page["url"][-1] for page in pages] == ["1", "2"]
        assert {page["mode"] for page in pages} == {"url"}
        assert len({page["elicitationId"] for page in pages}) == 2
        assert [page["message"] for page in pages] == ["one", "two"]
        assert (await client.tool("unsafe"))["isError"] is True
        for method, params in (
            ("no/such", {}),
            ("tools/call", {}),
            ("tools/list", {"cursor": "x"}),
        ):
            assert (await client.error(method, params))["code"] != -32042
    async with connected(server, "2025-11-25", {"elicitation": {}}) as client:
        assert (await client.tool("guarded"))["isError"] is True
    async with connected(server, NEWEST, {"elicitation": {"url": {}}}) as client:
        agreed = {"action": "accept"}
        questions, answer = await asked(client, "guarded", agreed, agreed)
        assert [q["params"]["url"][-1] for q in questions] == ["1", "2"]
        assert text(answer) == "done"


# ---- a language model


def said(role: Any, *content: Any) -> t.SamplingMessage:
    return t.SamplingMessage(role=role, content=list(content))


def used(id: str, **more: Any) -> t.ToolUseContent:
    return t.ToolUseContent(id=id, name="add", input={}, **more)


def gave(id: str, **more: Any) -> t.ToolResultContent:
    return t.ToolResultContent(tool_use_id=id, content=[], **more)


HELLO = said("user", t.TextContent(text="hello"))
ADD = t.Tool(
    name="add",
    input_schema=t.ToolInputSchema(),
    output_schema=t.from_wire(
        t.ToolOutputSchema,
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    ),
)
REPLY = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}


def sampler(*messages: t.SamplingMessage, **options: Any) -> tuple[Server, list[Exception]]:
    """A server whose tool asks the model with these messages, and what that raised."""
    server = Server("s", "1", limits=options.pop("limits", Limits()))
    raised: list[Exception] = []

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            return (await ctx.sample(messages or "x", max_tokens=9, **options)).model
        except Exception as error:
            raised.append(error)
            raise

    return server, raised


TOOLS: dict[str, Any] = {"sampling": {"tools": {}, "context": {}}}
BALANCED = (HELLO, said("assistant", used("1"), used("2")), said("user", gave("2"), gave("1")))
UNBALANCED = [
    (HELLO, said("assistant", used("1"))),
    (HELLO, said("assistant", used("1")), HELLO),
    (HELLO, said("assistant", used("1"), used("2")), said("user", gave("1"))),
    (HELLO, said("user", gave("1"))),
    (HELLO, said("assistant", used("1")), said("user", gave("9"))),
    (HELLO, said("assistant", used("1")), said("user", gave("1"), t.TextContent(text="x"))),
    (HELLO, said("assistant", used("1")), said("assistant", gave("1"))),
    (HELLO, said("assistant", used("1")), said("user", gave("1"), gave("1"))),
]


@pytest.mark.requirement("sampling.tool-result.balance")
@pytest.mark.requirement("sampling.tool-result.id-known")
@pytest.mark.requirement("sampling.tool-result.only-results")
@pytest.mark.requirement("sampling.security.validate-messages")
@modes_of
async def test_a_server_sends_no_use_of_a_tool_without_its_result(revision: str) -> None:
    for messages in UNBALANCED:
        server, raised = sampler(*messages, tools=[ADD])
        async with connected(server, revision, TOOLS) as client:
            assert (await client.tool("ask"))["isError"] is True
            assert await client.quiet() == []
        assert "messages" in str(raised[0])
    server, _ = sampler(*BALANCED, tools=[ADD])
    async with connected(server, revision, TOOLS) as client:
        (question,), answer = await asked(client, "ask", REPLY)
        assert len(question["params"]["messages"]) == 3
        assert text(answer) == "m"


@modes_of
async def test_a_system_prompt_has_the_name_that_it_has_in_the_params(revision: str) -> None:
    server, _ = sampler(HELLO, system_prompt="be brief")
    async with connected(server, revision, TOOLS) as client:
        (question,), _ = await asked(client, "ask", REPLY)
        assert question["params"]["systemPrompt"] == "be brief"


@pytest.mark.requirement("sampling.tool-result.structured-conforms")
@modes_of
async def test_a_structured_result_fits_the_schema_of_its_tool(revision: str) -> None:
    for structured, fits in (({"n": 1}, True), ({"n": "x"}, False), ({}, False)):
        result = gave("1", structured_content=structured)
        server, _ = sampler(HELLO, said("assistant", used("1")), said("user", result), tools=[ADD])
        async with connected(server, revision, TOOLS) as client:
            if fits:
                assert text((await asked(client, "ask", REPLY))[1]) == "m"
            else:
                assert (await client.tool("ask"))["isError"] is True


@pytest.mark.requirement("sampling.tools.server-needs-capability")
@pytest.mark.requirement("sampling.context.needs-capability")
@pytest.mark.parametrize(
    "options",
    [
        {"tools": [ADD]},
        {"tool_choice": t.ToolChoice(mode="auto")},
        {"include_context": "thisServer"},
        {"include_context": "allServers"},
    ],
)
@modes_of
async def test_a_server_asks_for_nothing_that_sampling_was_not_declared_with(
    revision: str, options: Any
) -> None:
    server, raised = sampler(**options)
    async with connected(server, revision, {"sampling": {}}) as client:
        answer = await client.ask("tools/call", {"name": "ask", "arguments": {}})
        assert "error" in answer or answer["result"]["isError"] is True
        assert await client.quiet() == []
    assert isinstance(raised[0], NotOffered) or "sampling" in str(raised[0])
    async with connected(server, revision, TOOLS) as client:
        assert text((await asked(client, "ask", REPLY))[1]) == "m"


@pytest.mark.requirement("sampling.context.avoid-deprecated-values")
@modes_of
async def test_a_server_asks_for_no_context_by_itself(revision: str) -> None:
    server, _ = sampler()
    async with connected(server, revision, TOOLS) as client:
        (question,), _ = await asked(client, "ask", REPLY)
        assert question["params"].get("includeContext", "none") == "none"


@pytest.mark.requirement("sampling.message.role-required")
@pytest.mark.parametrize("revision", [NEWEST])
async def test_a_message_has_a_role_and_content(revision: str) -> None:
    server, _ = sampler()
    async with connected(server, revision, TOOLS) as client:
        (question,), _ = await asked(client, "ask", REPLY)
        for message in question["params"]["messages"]:
            assert message["role"] in ("user", "assistant")
            assert message["content"]
        first = await client.tool("ask")
        ((key, _),) = first["inputRequests"].items()
        for wrong in ({"role": "system"}, {"role": None}, {"content": None}):
            retry = {"inputResponses": {key: REPLY | wrong}}
            answer = await client.ask("tools/call", {"name": "ask", "arguments": {}} | retry)
            assert "error" in answer or answer["result"]["resultType"] == "input_required"
    for wrong in ({"role": "user"}, {"content": {"type": "text", "text": "x"}}, {"role": "x"}):
        raw = asks("sampling/createMessage", {"messages": [wrong], "maxTokens": 1})
        async with raw.client(on_sample=never) as ours:
            with pytest.raises(BadAnswer):
                await ours.call_tool("x")


def turn(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


USE = {"type": "tool_use", "id": "1", "name": "add", "input": {}}
RESULT = {"type": "tool_result", "toolUseId": "1", "content": []}
TEXT = {"type": "text", "text": "x"}


@pytest.mark.requirement("sampling.tools.client-refuses-tools")
@pytest.mark.requirement("sampling.tools.client-refuses-tool-choice")
@pytest.mark.parametrize(
    "more",
    [{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}, {"toolChoice": {}}],
)
@modes_of
async def test_a_client_without_tools_refuses_them(revision: str, more: dict[str, Any]) -> None:
    params = {"messages": [turn("user", TEXT)], "maxTokens": 1} | more
    if revision == NEWEST:
        server = asks("sampling/createMessage", params)
        async with server.client(on_sample=never) as client:
            with pytest.raises(NotOffered, match=r"sampling\.tools"):
                await client.call_tool("x")
    else:
        server = RawServer(revision)
        async with server.client(on_sample=never):
            answer = await server.line.request("sampling/createMessage", params)
            assert answer["error"]["code"] == -32602


@pytest.mark.requirement("sampling.error.tool-result-missing")
@pytest.mark.requirement("sampling.error.tool-result-mixed")
@pytest.mark.requirement("sampling.security.validate-messages")
@pytest.mark.parametrize(
    "messages",
    [
        [turn("assistant", USE)],
        [turn("assistant", USE), turn("user", TEXT)],
        [turn("assistant", USE), turn("user", RESULT, TEXT)],
        [turn("user", RESULT)],
        [{"role": "user"}],
        [{"role": "system", "content": TEXT}],
    ],
)
async def test_a_client_refuses_messages_that_do_not_add_up(messages: Any) -> None:
    server = RawServer("2025-11-25")
    async with server.client(on_sample=never, sample_tools=True):
        params = {"messages": messages, "maxTokens": 1}
        answer = await server.line.request("sampling/createMessage", params)
        assert answer["error"]["code"] == -32602


@pytest.mark.requirement("sampling.security.validate-messages")
@each
async def test_a_model_is_given_messages_that_are_some(revision: str) -> None:
    params = {"messages": [{"role": "user", "content": {"type": "text"}}], "maxTokens": 1}
    if revision == NEWEST:
        server = asks("sampling/createMessage", params)
        async with server.client(on_sample=never) as client:
            with pytest.raises(BadAnswer):
                await client.call_tool("x")
    else:
        server = RawServer(revision)
        async with server.client(on_sample=never):
            answer = await server.line.request("sampling/createMessage", params)
            assert answer["error"]["code"] == -32602


@pytest.mark.requirement("sampling.security.iteration-limit")
@modes_of
async def test_neither_side_goes_on_with_tools_for_ever(revision: str) -> None:
    ids = [str(n) for n in range(4)]
    turns = [m for id in ids for m in (said("assistant", used(id)), said("user", gave(id)))]
    for most, is_over in ((3, True), (4, False)):
        server, raised = sampler(HELLO, *turns, limits=Limits(tool_rounds=most))
        async with connected(server, revision, TOOLS) as client:
            if is_over:
                assert (await client.tool("ask"))["isError"] is True
                assert isinstance(raised[0], TooMuch)
            else:
                assert text((await asked(client, "ask", REPLY))[1]) == "m"
    wire = [turn("assistant", USE), turn("user", RESULT)] * 4
    if revision in HANDSHAKE:
        raw = RawServer(revision)
        limits = Limits(tool_rounds=3)
        async with raw.client(on_sample=never, sample_tools=True, limits=limits):
            params = {"messages": wire, "maxTokens": 1}
            answer = await raw.line.request("sampling/createMessage", params)
            assert "tool_rounds" in answer["error"]["message"]


@pytest.mark.requirement("sampling.tool-blocks.keep-meta")
@modes_of
async def test_what_is_noted_at_uses_and_results_is_kept(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def loop(ctx: Context) -> str:
        first = await ctx.sample([HELLO], max_tokens=9, tools=[ADD])
        answered = t.SamplingMessage(role="assistant", content=first.content)
        result = said("user", gave("1", meta={"com.example/b": 2}))
        second = await ctx.sample([HELLO, answered, result], max_tokens=9, tools=[ADD])
        return second.model

    use = REPLY | {"content": [USE | {"_meta": {"com.example/a": 1}}], "stopReason": "toolUse"}
    async with connected(server, revision, TOOLS) as client:
        (_, again), answer = await asked(client, "loop", use, REPLY)
        assert text(answer) == "m"

    def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
        content = message["content"]
        return content if isinstance(content, list) else [content]

    _, use_again, result_again = again["params"]["messages"]
    assert blocks(use_again)[0]["_meta"] == {"com.example/a": 1}
    assert blocks(result_again)[0]["_meta"] == {"com.example/b": 2}
    requests: list[Any] = []

    async def answer_(params: Any) -> t.CreateMessageResult:
        requests.append(params)
        content = [used("1", meta={"com.example/c": 3})]
        return t.CreateMessageResult(role="assistant", content=content, model="m")

    params = {"messages": [turn("assistant", USE | {"_meta": {"a": 1}}), turn("user", RESULT)]}
    params |= {"maxTokens": 1, "tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    if revision in HANDSHAKE:
        raw = RawServer(revision)
        async with raw.client(on_sample=answer_, sample_tools=True):
            response = (await raw.line.request("sampling/createMessage", params))["result"]
    else:
        raw = asks("sampling/createMessage", params)
        async with raw.client(on_sample=answer_, sample_tools=True) as ours:
            await ours.call_tool("x")
        response = raw.requests("tools/call")[1]["params"]["inputResponses"]["k"]
    assert t.to_wire(requests[0])["messages"][0]["content"][0]["_meta"] == {"a": 1}
    assert blocks(response)[0]["_meta"] == {"com.example/c": 3}


@pytest.mark.requirement("sampling.error.user-rejected")
@each_handshake
async def test_what_the_user_turns_down_is_refused_with_minus_one(revision: str) -> None:
    async def approve(method: str, params: Any) -> bool:
        return False

    server = RawServer(revision)
    async with server.client(on_sample=never, approve=approve):
        params = {"messages": [{"role": "user", "content": TEXT}], "maxTokens": 1}
        answer = await server.line.request("sampling/createMessage", params)
        assert answer["error"]["code"] == -1


# ---- roots


def lister() -> Server:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> str:
        return " ".join(root.uri for root in await ctx.roots())

    return server


@pytest.mark.requirement("roots.server.checks-capability")
@each
async def test_a_server_asks_for_roots_where_there_are_some(revision: str) -> None:
    async with connected(lister(), revision) as client:
        answer = await client.ask("tools/call", {"name": "where", "arguments": {}})
        assert "error" in answer or answer["result"]["isError"] is True
        assert await client.quiet() == []


def of(*uris: str) -> dict[str, Any]:
    return {"roots": [{"uri": uri} for uri in uris]}


@pytest.mark.requirement("roots.server.caches")
@pytest.mark.requirement("roots.list-changed.handled")
@each_handshake
async def test_a_server_keeps_the_roots_until_they_change(revision: str) -> None:
    async with connected(lister(), revision, {"roots": {"listChanged": True}}) as client:
        _, answer = await asked(client, "where", of("file:///a"))
        assert text(answer) == "file:///a"
        assert (await client.tool("where"))["content"][0]["text"] == "file:///a"
        client.notify("notifications/roots/list_changed")
        _, answer = await asked(client, "where", of("file:///b", "file:///c"))
        assert text(answer) == "file:///b file:///c"
        # A change while the answer is on its way: what was told is not kept.
        client.notify("notifications/roots/list_changed")
        id = client.call("tools/call", {"name": "where", "arguments": {}})
        question = await client.next("roots/list")
        client.notify("notifications/roots/list_changed")
        client.answer(question["id"], of("file:///old"))
        assert text(await client.response(id)) == "file:///old"
        _, answer = await asked(client, "where", of())
        assert answer["result"]["content"][0]["text"] == ""


@pytest.mark.requirement("roots.server.caches")
async def test_a_server_keeps_the_roots_for_the_rounds_of_a_request() -> None:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> str:
        roots = await ctx.roots(key="roots")
        await ctx.elicit("x", {"properties": {}}, key="form")
        return str(len(roots))

    async with connected(server, NEWEST, {"roots": {}, "elicitation": {}}) as client:
        accepted = {"action": "accept", "content": {}}
        questions, answer = await asked(client, "where", of("file:///a"), accepted)
        assert [q["method"] for q in questions] == ["roots/list", "elicitation/create"]
        assert text(answer) == "1"


@pytest.mark.requirement("roots.list-changed.notify")
@each_handshake
async def test_a_client_tells_that_its_roots_have_changed(revision: str) -> None:
    server = RawServer(revision)
    async with server.client(roots=[t.Root(uri="file:///a")]) as client:
        assert declared(server)["roots"] == {"listChanged": True}
        for uri in ("file:///b", "file:///c"):
            await client.set_roots([t.Root(uri=uri)])
            await server.line.next("notifications/roots/list_changed")
            answer = await server.line.request("roots/list")
            assert answer["result"] == of(uri)


WRONG_ROOTS = [
    "http://a/b",
    "/a/b",
    "file:/a",
    "file:///a/../b",
    "file:///a/..",
    "file:///a/%2e%2e/b",
    "file:///a/%2E./b",
    "file:///a\\..\\b",
    "file:///a b",
]


@pytest.mark.requirement("roots.uri.file-scheme")
@pytest.mark.requirement("roots.security.validate-uris")
@pytest.mark.parametrize("uri", WRONG_ROOTS)
@each
async def test_a_client_tells_no_root_that_leads_elsewhere(revision: str, uri: str) -> None:
    given = [t.Root(uri="file:///good"), t.Root(uri=uri)]
    with pytest.raises(ValueError, match="root"):
        RawServer(revision).client(roots=given)

    async def roots() -> list[t.Root]:
        return given

    if revision == NEWEST:
        server = asks("roots/list", None)
        async with server.client(roots=roots) as client:
            with pytest.raises(Exception, match="root"):
                await client.call_tool("x")
        assert len(server.requests("tools/call")) == 1
    else:
        server = RawServer(revision)
        async with server.client(roots=roots):
            assert "error" in await server.line.request("roots/list")
    for line in server.line.raw:
        assert uri.encode() not in line


@pytest.mark.requirement("roots.error.internal")
@pytest.mark.requirement("roots.error.unsupported")
@each_handshake
async def test_a_client_says_why_it_tells_no_roots(revision: str) -> None:
    async def broken() -> list[t.Root]:
        raise OSError("secret")

    server = RawServer(revision)
    async with server.client(roots=broken):
        error = (await server.line.request("roots/list"))["error"]
        assert error["code"] == -32603
        assert "secret" not in error["message"]
    server = RawServer(revision)
    async with server.client():
        assert (await server.line.request("roots/list"))["error"]["code"] == -32601


# ---- ping


@pytest.mark.requirement("ping.respond")
@each_handshake
async def test_a_ping_is_answered_at_once_with_nothing(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def slow() -> None:
        await elapse(60)

    async with connected(server, revision, handshake=False) as client:
        assert await client.result("ping") == {}
        await client.shake_hands()
        client.call("tools/call", {"name": "slow"})
        assert await client.result("ping") == {}
    raw = RawServer(revision)
    async with raw.client():
        assert (await raw.line.request("ping"))["result"] == {}


@pytest.mark.requirement("ping.periodic")
@pytest.mark.requirement("ping.configurable")
@pytest.mark.requirement("ping.timeout-is-failure")
@pytest.mark.requirement("ping.log")
@each_handshake
async def test_a_peer_that_does_not_answer_pings_is_gone(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    raw = RawServer(revision, {"tools": {}}, {"ping": {}})
    async with raw.client(ping_every=0.03, timeout=60) as ours:
        calling = asyncio.create_task(ours.call_tool("x"))
        while len(raw.requests("ping")) < 3:
            await elapse(0.01)
        assert not calling.done()
        del raw.answers["ping"]
        with pytest.raises(Exception, match="the server has ended"):
            await calling
    assert "ping" in caplog.text
    caplog.clear()
    server = Server("s", "1", ping_every=0.03)
    async with connected(server, revision) as client:
        for _ in range(3):
            client.answer((await client.next("ping"))["id"], {})
        await client.next("ping")
        while not client.is_over:
            await elapse(0.01)
    assert "ping" in caplog.text
    quiet = Server("s", "1")
    async with connected(quiet, revision) as client:
        assert await client.quiet(0.1) == []
