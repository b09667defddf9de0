"""What a client reads, and what the log says, of a handler that fails."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from mcp_runtime import Client, Context, Server, ToolError, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.extensions.tasks.server import Tasks
from mcp_runtime.shared.failures import describe

SECRET = "password=hunter2"
FAILURES: list[Exception] = [
    RuntimeError(SECRET),
    ValueError(SECRET),
    KeyError(SECRET),
    OSError(SECRET),
    ExceptionGroup(SECRET, [ValueError("a"), TypeError(SECRET)]),
]


class Strange(Exception):
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


def raising(error: Exception, **options: Any) -> Server:
    """A server each of whose handlers raises `error`."""
    server = Server("s", "1", **options)

    @server.tool
    async def tool() -> str:
        raise error

    @server.tool
    def plain() -> str:
        raise error

    @server.raw_tool({"name": "raw", "inputSchema": {"type": "object"}})
    async def raw(arguments: dict[str, Any], ctx: Any) -> str:
        raise error

    @server.prompt
    async def prompt(city: str) -> str:
        raise error

    @server.resource("a://b")
    async def resource() -> str:
        raise error

    @server.resource("a://c/{d}")
    async def template(d: str) -> str:
        raise error

    @server.completion("prompt", "city")
    async def complete(value: str) -> list[str]:
        raise error

    @server.on("acme/own")
    async def own(params: Any, ctx: Any) -> dict[str, Any]:
        raise error

    return server


async def said_by(client: Client) -> dict[str, str]:
    """By handler what the client reads of its failure."""
    said: dict[str, str] = {}
    for name in ("tool", "plain", "raw"):
        result = await client.call_tool(name, {})
        assert result.is_error is True
        said[name] = "".join(getattr(block, "text", "") for block in result.content)
    ref = types.PromptReference(name="prompt")
    for name, request in {
        "prompt": lambda: client.get_prompt("prompt", {"city": "Oslo"}),
        "resource": lambda: client.read_resource("a://b"),
        "template": lambda: client.read_resource("a://c/d"),
        "completion": lambda: client.complete(ref, "city", "O"),
    }.items():
        with pytest.raises(RemoteError) as refused:
            await request()
        assert refused.value.code == -32603
        said[name] = str(refused.value)
    return said


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
async def test_the_text_of_an_exception_stays_in_the_log(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with Client(raising(error)) as client:
        for name, said in (await said_by(client)).items():
            assert "hunter2" not in said, name
            reference = re.search(r"\(reference ([0-9a-f]{8})\)", said)
            assert reference is not None, (name, said)
            (record,) = [each for each in caplog.records if reference[1] in each.getMessage()]
            assert SECRET in record.getMessage()
            assert record.exc_info is not None


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
async def test_clients_read_the_text_where_the_server_shows_errors(error: Exception) -> None:
    async with Client(raising(error, show_errors=True)) as client:
        for name, said in (await said_by(client)).items():
            assert describe(error) in said, name


async def test_a_tool_error_speaks_whichever_handler_raises_it() -> None:
    async with Client(raising(ToolError("there is no such city"))) as client:
        for name, said in (await said_by(client)).items():
            assert "there is no such city" in said, name


@pytest.mark.parametrize("revision", ["2024-11-05", "2026-07-28"])
async def test_what_a_tool_cannot_send_while_it_runs_is_said_as_of_its_result(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s", "1")
    half = "cut \ud83d"

    @server.tool
    async def logs(ctx: Context) -> None:
        await ctx.info(half)

    @server.tool
    async def counts(ctx: Context) -> None:
        await ctx.info({"share": float("nan")})

    @server.tool
    async def reports(ctx: Context) -> None:
        await ctx.progress(1, 2, half)

    said = {
        "logs": "$.data: expected text, found a lone surrogate",
        "counts": "$.data.share: expected a finite number, found nan",
        "reports": "$.message: expected text, found a lone surrogate",
    }
    if revision == "2024-11-05":
        del said["reports"]  # a message beside progress came later, and is left out before
    async with Client(server, revisions=[revision], on_log=print) as client:
        await client.set_log_level("debug")
        for name, why in said.items():
            result = await client.call_tool(name, on_progress=print)
            assert result.is_error is True
            assert result.content == [types.TextContent(text=f"tool {name}: {why}")]
            assert why in caplog.text


async def test_a_tool_error_in_a_group_speaks_and_the_others_do_not() -> None:
    one = ExceptionGroup("tasks", [ToolError("no such city")])
    async with Client(raising(one)) as client:
        assert (await said_by(client))["tool"] == "no such city"
    both = ExceptionGroup("tasks", [ToolError("no such city"), ValueError(SECRET)])
    async with Client(raising(both)) as client:
        said = (await said_by(client))["tool"]
        assert said.startswith("no such city; tool tool failed; ")
        assert "hunter2" not in said


def test_the_parts_of_a_group_are_named() -> None:
    group = ExceptionGroup("outer", [ValueError("a"), ExceptionGroup("inner", [KeyError("b")])])
    assert describe(group) == (
        "ExceptionGroup: outer (2 sub-exceptions): ValueError: a;"
        " ExceptionGroup: inner (1 sub-exception): KeyError: 'b'"
    )
    many = describe(ExceptionGroup("many", [ValueError(str(i)) for i in range(1000)]))
    assert many.count("ValueError") == 10


@pytest.mark.parametrize("shows", [False, True])
async def test_an_exception_whose_text_cannot_be_made_is_a_failure_like_any(shows: bool) -> None:
    async with Client(raising(Strange(), show_errors=shows)) as client:
        for name, said in (await said_by(client)).items():
            assert ("Strange" if shows else "reference") in said, name


async def test_the_logged_traceback_has_no_frame_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Client(raising(RuntimeError("x"))) as client:
        await said_by(client)
    text = logging.Formatter().format(caplog.records[0])
    assert text.count("  File ") == 1
    assert "mcp_runtime" not in text.partition("Traceback")[2]
    assert "test_failures" in text


class Opaque:
    pass


UNSENDABLE: dict[str, tuple[Any, Any, str]] = {
    "nan": (float("nan"), float, "expected a finite number, found nan"),
    "infinity": ({"a": float("inf")}, dict[str, float], "$.a: expected a finite number, found inf"),
    "type": ("no", int, 'expected integer, found "no"'),
    "surrogate": ("\ud83d", str, "$: expected"),
    "surrogate in a list": (["a", "\ud83d"], list[str], "$.result[1]: expected"),
    "surrogate in a model": (
        types.CallToolResult(content=[types.TextContent(text="\ud83d")], result_type="complete"),
        None,
        "the result cannot be sent",
    ),
    "object": ({"a": [1, Opaque()]}, None, "$.a[1]: expected JSON, found Opaque"),
    "bytes": (b"x", Any, "bytes do not say what they are"),
    "too deep": ([[]], list[int], "$[0]: expected integer, found an array"),
}


@pytest.mark.parametrize("case", UNSENDABLE)
async def test_a_result_that_cannot_be_sent_tells_the_model_why(
    case: str, caplog: pytest.LogCaptureFixture
) -> None:
    value, annotation, why = UNSENDABLE[case]
    server = Server("s", "1")

    def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    server.tool(tool)
    async with Client(server) as client:
        result = await client.call_tool("tool", {})
    assert result.is_error is True
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    assert why in block.text
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert why in record.getMessage()
    assert record.exc_info is None


async def test_what_a_resource_or_prompt_returns_and_cannot_be_sent_is_an_error_that_says_why() -> (
    None
):
    server = Server("s", "1")

    @server.resource("a://b")
    def resource() -> Any:
        return {"a": float("nan")}

    @server.prompt
    def prompt() -> Any:
        return {"a": Opaque()}

    async with Client(server) as client:
        with pytest.raises(RemoteError, match=r"Internal error: \$\.a: expected a finite number"):
            await client.read_resource("a://b")
        with pytest.raises(
            RemoteError, match=r"Internal error: \$\.a: expected JSON, found Opaque"
        ):
            await client.get_prompt("prompt")


async def test_an_exception_in_a_middleware_is_masked_too() -> None:
    server = Server("s", "1", extensions=[Tasks()])

    @server.tool
    def tool() -> str:
        return ""

    @server.middleware
    async def fails(method: str, params: Any, ctx: Any, handler: Any) -> Any:
        raise RuntimeError(SECRET)

    async with Client(server) as client:
        with pytest.raises(RemoteError, match=r"Internal error \(reference [0-9a-f]{8}\)"):
            await client.call_tool("tool", {})
