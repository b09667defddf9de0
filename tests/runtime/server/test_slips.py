"""Slips of whoever writes a server are refused at once, with what to write instead."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server, ToolError, types
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.verifier import StaticVerifier
from mcp_runtime.errors import LocalError, NotOffered, RemoteError, TimedOut
from mcp_runtime.revisions import ALL
from mcp_runtime.shared import elicitation_form
from tests.support.virtual_time import elapse

NO_RESULTS: Final = (None, "text", ["a"], 3, True, types.UNSET)


@pytest.mark.parametrize("revision", ALL)
@pytest.mark.parametrize("value", NO_RESULTS, ids=repr)
async def test_what_is_no_result_is_an_error_for_the_client_and_the_log_says_who_returned_it(
    revision: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s", "1")

    @server.tool
    async def add() -> int:
        return 1

    @server.middleware
    async def forgets(method: str, params: Any, ctx: Context, handler: Any) -> Any:
        result = await handler(params, ctx)
        return value if method == "tools/call" else result

    async with Client(server, revisions=[revision]) as client:
        with pytest.raises(RemoteError, match="Internal error"):
            await client.call_tool("add")
    assert f"a middleware returned {type(value).__name__}" in caplog.text


@pytest.mark.parametrize("revision", ALL)
async def test_a_tool_error_of_a_middleware_is_the_result_of_a_call(revision: str) -> None:
    server = Server("s", "1")
    seen: list[Any] = []

    @server.tool
    async def add() -> int:
        return 1

    @server.middleware
    async def outer(method: str, params: Any, ctx: Context, handler: Any) -> Any:
        result = await handler(params, ctx)
        seen.extend([result.is_error] if method == "tools/call" else [])
        return result

    @server.middleware
    async def closed(method: str, params: Any, ctx: Context, handler: Any) -> Any:
        if method == "tools/list" and seen:
            raise ToolError("no list today")
        if method == "tools/call":
            raise ToolError("the shop is closed")
        return await handler(params, ctx)

    async with Client(server, revisions=[revision]) as client:
        result = await client.call_tool("add")
        assert result.is_error is True
        assert result.content == [types.TextContent(text="the shop is closed")]
        assert seen == [True]
        with pytest.raises(RemoteError, match="no list today"):
            await client.list_tools(anew=True)


@pytest.mark.parametrize("wrong", [float("inf"), "1", None, True], ids=repr)
async def test_progress_that_is_no_number_is_refused_and_what_follows_is_sent(wrong: Any) -> None:
    server = Server("s", "1")
    sent: list[float] = []

    @server.tool
    async def work(ctx: Context) -> str:
        with pytest.raises(ValueError, match=r"^\$\.progress: expected "):
            await ctx.progress(wrong)
        with pytest.raises(ValueError, match=r"^\$\.total: expected "):
            await ctx.progress(1, "2" if wrong is None else wrong)
        await ctx.progress(1, 2)
        return "done"

    async with Client(server) as client:
        for on_progress in (lambda progress, *_: sent.append(progress), None):
            result = await client.call_tool("work", on_progress=on_progress)
            assert result.content == [types.TextContent(text="done")]
    assert sent == [1]


@pytest.mark.parametrize("revision", [ALL[-1], "2025-11-25"])
async def test_a_timeout_of_zero_waits_for_nothing(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def work(ctx: Context) -> str:
        if ctx.era == "handshake":
            with pytest.raises(TimedOut):
                await ctx.sample("hi", max_tokens=1, timeout=0)
        return "done"

    async def sleepy(params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        await elapse(9)
        raise AssertionError

    async with (
        Client(server, revisions=[revision], on_sample=sleepy) as client,
        asyncio.timeout(5),
    ):
        assert (await client.call_tool("work")).is_error is not True
        with pytest.raises(TimedOut):
            await client.call_tool("work", timeout=0)


@pytest.mark.parametrize("revision", ALL)
async def test_a_handler_may_go_on_without_what_the_client_lacks(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def greet(ctx: Context) -> str:
        try:
            await ctx.sample("hi", max_tokens=1)
        except NotOffered as error:
            return str(error)
        return "asked"

    async with Client(server, revisions=[revision]) as client:
        (said,) = (await client.call_tool("greet")).content
    assert said == types.TextContent(
        text="sampling/createMessage: the client does not offer sampling"
    )


@pytest.mark.parametrize("revision", ALL)
async def test_what_another_server_lacks_is_told_as_a_failure_and_not_of_the_client(
    revision: str,
) -> None:
    server, other = Server("s", "1"), Server("other", "1")

    @server.tool
    async def forward() -> str:
        async with Client(other) as client:
            return str(await client.list_prompts())

    @server.resource("other://prompts")
    async def listed() -> str:
        return await forward()

    async with Client(server, revisions=[revision]) as client:
        (said,) = (await client.call_tool("forward")).content
        with pytest.raises(RemoteError, match="Internal error"):
            await client.read_resource("other://prompts")
    assert said == types.TextContent(text="prompts/list: the server does not offer prompts")


@pytest.mark.parametrize("form", [list[str], ["a", "b"]], ids=repr)
def test_what_is_no_form_is_refused_with_what_is_one(form: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot be a form: .*; give a dataclass, or a schema"):
        elicitation_form.form(form)


def test_a_resource_without_its_uri_is_refused() -> None:
    def today() -> str:
        return "rain"

    with pytest.raises(TypeError, match=r"a resource needs its URI: @server\.resource"):
        Server("s", "1").resource(today)  # type: ignore[arg-type]


def test_an_async_principal_is_refused_as_nobody_would_await_it() -> None:
    async def caller(scope: Any) -> str:
        return "ada"

    with pytest.raises(TypeError, match="give a function without `async`"):
        Server("s", "1").asgi(principal=caller)


def test_a_transport_is_refused_with_what_to_write_instead_of_serving_stdio() -> None:
    with pytest.raises(TypeError, match=r"run\(http="):
        Server("s", "1").run(transport="streamable-http", port=8000)


@pytest.mark.parametrize("option", ["port", "host", "transport"])
def test_an_option_of_another_library_is_refused_instead_of_serving_stdio(
    option: str,
) -> None:
    with pytest.raises(TypeError, match=rf"^{option}: run\(\) serves stdio, and run\(http="):
        Server("s", "1").run(**{option: "x"})  # type: ignore[arg-type]


def test_options_of_http_may_stand_where_an_address_may_be_none() -> None:
    """So a project serves either, by one call."""
    code = "from mcp_runtime import Server\n"
    code += 'Server("s", "1").run(http=None, health="/health", root_path="/a", started=print)'
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("kind", ["tool", "prompt"])
def test_a_name_that_is_no_function_is_refused_with_its_option(kind: str) -> None:
    with pytest.raises(TypeError, match="a name as an option: name='forecast'"):
        getattr(Server("s", "1"), kind)("forecast")


async def test_an_async_function_that_waits_as_a_plain_one_fails_and_does_not_hang() -> None:
    server = Server("s", "1", show_errors=True)

    @server.tool
    async def waits(ctx: Context) -> str:
        ctx.wait(ctx.info("x"))
        return ""

    async with Client(server) as client:
        result = await client.call_tool("waits")
    assert result.is_error is True
    assert "in an async one write await" in str(result.content[0])


async def test_a_client_that_is_open_is_not_opened_again_and_stays_open() -> None:
    async with Client(Server("s", "1")) as client:
        with pytest.raises(LocalError, match="the client is open already"):
            await client.__aenter__()
        assert client.is_connected
    async with client:
        assert client.is_connected


@pytest.mark.parametrize("option", ["path", "sse", "messages", "health", "ready"])
def test_a_path_without_its_slash_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="'mcp' is not the path of a URL: begin it with a slash"):
        Server("s", "1").asgi(**{option: "mcp"})


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), "3", None])
def test_a_limit_below_nothing_or_no_number_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(ValueError, match=r"Limits\.lease is .*: give 0 or more"):
        Limits(lease=value)


@pytest.mark.parametrize("given", [[1], "x", 3], ids=repr)
async def test_arguments_that_are_not_a_dict_are_refused_by_their_name(given: Any) -> None:
    async with Client(Server("s", "1")) as client:
        for call in (client.call_tool, client.get_prompt):
            with pytest.raises(TypeError, match=r"arguments: .* is not a dict"):
                await call("f", given)


def test_an_address_that_is_a_number_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match=r"'8000' is not an address: .* such as 127\.0\.0\.1:8000"):
        Server("s", "1").run(http=8000)  # type: ignore[arg-type]


async def test_a_lifespan_that_is_no_context_manager_is_refused_with_the_decorator() -> None:
    async def lifespan(server: Server) -> Any:
        yield {}

    with pytest.raises(TypeError, match="decorate it with contextlib"):
        async with Client(Server("s", "1", lifespan=lifespan)):
            pass


@pytest.mark.parametrize("option", ["hosts", "origins"])
def test_one_host_or_origin_that_is_no_list_is_refused(option: str) -> None:
    match = rf"{option} is a list: write \['https://a\.example'\] instead of"
    with pytest.raises(ValueError, match=match):
        Server("s", "1").asgi(**{option: "https://a.example"})


ONE_TEXT: Final[dict[str, Callable[[Server], object]]] = {
    "revisions": lambda server: Server("s", "1", revisions=ALL[-1]),
    "revisions of a client": lambda server: Client(server, revisions=ALL[-1]),
    "elicit_schemes": lambda server: Client(server, elicit_schemes="https"),
    "uris": lambda server: Client(server).listen(uris="a://b"),
    "scopes": lambda server: server.tool(scopes="read")(lambda: ""),
    "scopes of every request": lambda server: BearerAuth(
        StaticVerifier({}, stderr=StringIO()),
        issuer="https://a.example",
        resource="https://b.example",
        scopes="read",
    ),
    "scopes_supported": lambda server: BearerAuth(
        StaticVerifier({}, stderr=StringIO()),
        issuer="https://a.example",
        resource="https://b.example",
        scopes_supported="read",
    ),
    "scopes of a client": lambda server: OAuth(scopes="read"),  # type: ignore[arg-type]
}


OTHERS: Final[dict[str, Callable[[Any], object]]] = {
    "offers": lambda other: Server("s", "1", offers=[other]),
    "era": lambda other: Client(Server("s", "1"), era=other),
    "elicit_modes": lambda other: Client(Server("s", "1"), elicit_modes=[other]),
}


@pytest.mark.parametrize("option", OTHERS)
def test_a_word_that_an_option_does_not_know_is_refused_with_those_that_it_knows(
    option: str,
) -> None:
    with pytest.raises(ValueError, match=rf"{option}: 'tool' is not one of [a-z]+, [a-z]+"):
        OTHERS[option]("tool")


@pytest.mark.parametrize("option", ONE_TEXT)
def test_one_text_instead_of_a_list_is_refused_before_its_letters_are_read(option: str) -> None:
    with pytest.raises(ValueError, match=rf"{option.split()[0]} is a list: write \['"):
        ONE_TEXT[option](Server("s", "1"))


@pytest.mark.parametrize("other", ["https://a.example/mcp", "python server.py", ["python"], None])
async def test_what_is_no_server_is_refused_with_what_to_write_for_it(other: Any) -> None:
    with pytest.raises(TypeError, match=r"is not a Server; for a command write Client\.stdio"):
        Client(other)


@pytest.mark.parametrize("form", [str | None, {"type": "object"}])
async def test_what_has_no_fields_is_no_form(form: Any) -> None:
    server = Server("s", "1", show_errors=True)

    @server.tool
    async def ask(ctx: Context) -> str:
        return str(await ctx.elicit("?", form))

    async def answer(question: Any) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    async with Client(server, on_elicit=answer) as client:
        result = await client.call_tool("ask")
    assert result.is_error is True
    assert "cannot be a form: it has no fields" in result.content[0].text  # type: ignore[union-attr]


@dataclass
class Nested:
    tags: dict[str, int]


def test_a_field_that_no_form_has_is_named_and_what_forms_have() -> None:
    with pytest.raises(TypeError) as refused:
        elicitation_form.form(Nested)
    assert str(refused.value) == (
        "Nested cannot be a form: $.properties.tags.type does not fit; "
        "a form has only strings, numbers, booleans and choices of strings"
    )


@pytest.mark.parametrize("kind", ["Tool", "Prompt", "Resource", "ResourceTemplate"])
@pytest.mark.parametrize("member", ["description", "origin"])
def test_a_member_that_a_newer_revision_requires_is_named_with_the_feature(
    kind: str, member: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strict(**members: Any) -> Any:
        if members.get(member, types.UNSET) is types.UNSET:
            raise TypeError(f"$.{member}: expected string, found nothing")
        return made(**members)

    made, server = getattr(types, kind), Server("s", "1")
    strict.__name__ = kind
    monkeypatch.setattr(types, kind, strict)
    register: dict[str, Callable[[], object]] = {
        "Tool": lambda: server.tool(undocumented),
        "Prompt": lambda: server.prompt(undocumented),
        "Resource": lambda: server.resource("note://a")(undocumented),
        "ResourceTemplate": lambda: server.resource("note://{a}")(undocumented_part),
    }
    with pytest.raises(TypeError) as caught:
        register[kind]()
    name = "undocumented_part" if kind == "ResourceTemplate" else "undocumented"
    assert f"{kind} '{name}': $.{member}: expected string" in str(caught.value)
    assert ("write a docstring" in str(caught.value)) == (member == "description")


def undocumented() -> str:
    return ""


def undocumented_part(a: str) -> str:
    return a
