"""A callback whose answer does not fit is told so by one error, whatever the server speaks."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.errors import CallbackError, LocalError, NotApproved, RemoteError
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.elicitation_form import mismatch

ELICITS: Final = [revision for revision in ALL if revision >= "2025-06-18"]


@dataclass
class Trip:
    city: str
    days: int = 1


def asking() -> tuple[Server, list[str]]:
    """A server that asks its clients, and what it was told instead of answers."""
    server, words = Server("s", "1"), list[str]()

    @server.tool
    async def plan(ctx: Context) -> str:
        try:
            answer = await ctx.elicit("Where to?", Trip)
        except RemoteError as error:
            words.append(str(error))
            raise
        return str(answer)

    @server.tool
    async def think(ctx: Context) -> str:
        message = t.SamplingMessage(role="user", content=t.TextContent(text="?"))
        return str(await ctx.sample([message], max_tokens=5))

    @server.tool
    async def look(ctx: Context) -> str:
        return str(await ctx.roots())

    @server.tool
    async def other() -> str:
        return "fine"

    return server, words


def accepted(**content: Any) -> Any:
    async def on_elicit(params: Any) -> t.ElicitResult:
        return t.ElicitResult(action="accept", content=content)

    return on_elicit


async def sampled(params: Any) -> Any:
    return {"role": "assistant", "content": "words"}


async def using_a_tool(params: Any) -> t.CreateMessageResult:
    block = t.ToolUseContent(id="1", name="rm", input={})
    return t.CreateMessageResult(role="assistant", content=block, model="m")


CASES: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "a number for a text": ("plan", {"on_elicit": accepted(city=3)}, "'city': expected string"),
    "a field is missing": ("plan", {"on_elicit": accepted(days=3)}, "'city' is missing"),
    "half a day": ("plan", {"on_elicit": accepted(city="x", days=1.5)}, "'days': expected integer"),
    "no number": ("plan", {"on_elicit": accepted(city="x", days="3")}, "'days': expected integer"),
    "a dict": ("think", {"on_sample": sampled}, "on_sample returned dict"),
    "a tool of nobody": ("think", {"on_sample": using_a_tool}, "the tool 'rm'"),
    "not async": ("plan", {"on_elicit": lambda _: None}, "on_elicit is awaited"),
    "roots elsewhere": ("look", {"roots": lambda: ["https://x.example"]}, "roots: a root is"),
}


@pytest.mark.parametrize("revision", ELICITS)
@pytest.mark.parametrize("case", CASES)
async def test_who_made_the_answer_gets_the_error(revision: str, case: str) -> None:
    tool, callbacks, said = CASES[case]
    server, _ = asking()
    async with Client(server, revisions=[revision], **callbacks) as client:
        with pytest.raises(CallbackError, match=said) as caught:
            await client.call_tool(tool)
        assert isinstance(caught.value, LocalError)
        assert (await client.call_tool("other")).content[0].text == "fine"


async def test_the_server_is_told_what_does_not_fit_and_not_what_was_said() -> None:
    server, words = asking()
    secret = "my address"
    async with Client(server, revisions=["2025-11-25"], on_elicit=accepted(days=secret)) as client:
        with pytest.raises(CallbackError):
            await client.call_tool("plan")
        for _ in range(10):
            await asyncio.sleep(0)
    assert words in (
        [],
        ["Internal error: the client's answer does not fit the form: 'city' is missing (-32603)"],
    )
    assert secret not in repr(words)


async def test_of_several_calls_the_one_that_asked_learns_it_by_its_result(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, _ = asking()
    started, release = asyncio.Event(), asyncio.Event()

    @server.tool
    async def slow() -> str:
        started.set()
        await release.wait()
        return "slow"

    async with Client(server, revisions=["2025-11-25"], on_elicit=accepted(city=3)) as client:
        beside = asyncio.create_task(client.call_tool("slow"))
        await started.wait()
        with caplog.at_level(logging.ERROR, "mcp_runtime.client"):
            assert (await client.call_tool("plan")).is_error
        assert "does not fit the form: 'city': expected string" in caplog.text
        release.set()
        assert (await beside).content[0].text == "slow"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1", None, [1], 1.5])
def test_what_is_no_integer_does_not_fit_an_integer(value: Any) -> None:
    schema = t.from_wire(
        t.ElicitRequestFormParamsRequestedSchema,
        {"type": "object", "properties": {"n": {"type": "integer"}}},
    )
    assert mismatch(schema, {"n": value}) == "'n': expected integer"
    assert not mismatch(schema, {"n": 3.0})
    assert not mismatch(schema, {"n": 10**400})


# ---- pages


@pytest.mark.parametrize("revision", ELICITS[1:])
@pytest.mark.parametrize(
    "url",
    [
        "https://user:pw@evil.example/",
        "https://bank.example@evil.example/",
        "https://@evil.example/",
        "http://bank.example%2F@evil.example/",
        "https://[::1/",
    ],
)
async def test_a_page_whose_url_names_a_user_is_not_shown(revision: str, url: str) -> None:
    server, seen = Server("s", "1"), list[Any]()

    @server.tool
    async def visit(ctx: Context, url: str) -> str:
        await ctx.elicit_url("Pay here", url)
        return "paid"

    async def on_elicit(params: Any) -> t.ElicitResult:
        seen.append(params)
        return t.ElicitResult(action="accept")

    options: dict[str, Any] = {"on_elicit": on_elicit, "elicit_modes": ["url"]}
    async with Client(server, revisions=[revision], **options) as client:
        with suppress(NotApproved):
            assert (await client.call_tool("visit", {"url": url})).is_error
        assert seen == []
        await client.call_tool("visit", {"url": "https://bank.example/?at=a@b"})
        assert [one.url for one in seen] == ["https://bank.example/?at=a@b"]
