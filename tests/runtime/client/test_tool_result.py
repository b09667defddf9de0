"""A tool's result has its text and its data at hand, and may be raised where it is an error."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import structs

from mcp_runtime import Client, Context, Server, ToolError, ToolFailed, ToolResult
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.errors import BadAnswer
from mcp_runtime.revisions import ALL, latest


@dataclass
class Report:
    city: str
    degrees: int


@dataclass
class Wrapper:
    result: int


def station() -> Server:
    server = Server("station", "3", title="The station", website_url="https://example.com")

    @server.tool
    async def report(city: str) -> Report:
        if city == "Atlantis":
            raise ToolError("there is no such city")
        return Report(city, 9)

    @server.tool
    async def degrees() -> list[int]:
        return [9, 11]

    @server.tool
    async def words() -> list[str]:
        return ["rain", "wind"]

    @server.raw_tool(latest.Tool(name="both", input_schema=latest.ToolInputSchema()))
    async def both(arguments: Mapping[str, Any], ctx: Context) -> latest.CallToolResult:
        picture = latest.ImageContent(data="aGk=", mime_type="image/png")
        texts = [latest.TextContent(text=each) for each in ("rain", "wind")]
        blocks: list[latest.ContentBlock] = [texts[0], picture, texts[1]]
        return latest.CallToolResult(content=blocks, result_type="complete")

    return server


@pytest.mark.parametrize("revision", ALL)
async def test_text_data_and_models_in_every_revision(revision: str) -> None:
    async with Client(station(), revisions=[revision]) as client:
        both = await client.call_tool("both")
        assert (both.text, both.data) == ("rain\nwind", None)
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("station", "3")
        report = await client.call_tool("report", {"city": "Oslo"})
        degrees = await client.call_tool("degrees")
        if report.structured_content is latest.UNSET:  # the revision has none
            assert (report.data, degrees.data) == (None, None)
        else:
            assert report.data == {"city": "Oslo", "degrees": 9}
            assert report.read(Report) == Report("Oslo", 9)
            assert (degrees.data, degrees.read(tuple[int, int])) == ([9, 11], (9, 11))


@pytest.mark.parametrize("revision", ALL)
async def test_a_failed_call_is_returned_or_raised(revision: str) -> None:
    async with Client(station(), revisions=[revision]) as client:
        returned = await client.call_tool("report", {"city": "Atlantis"})
        assert (returned.is_error, returned.text) == (True, "there is no such city")
        with pytest.raises(ToolFailed, match=r"^report: there is no such city$") as raised:
            await client.call_tool("report", {"city": "Atlantis"}, raise_on_error=True)
        assert raised.value.result.text == returned.text
        for other in (pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)):
            assert (str(other), other.result) == (str(raised.value), raised.value.result)


def made(**members: Any) -> latest.CallToolResult:
    members = {"content": [latest.TextContent(text="x")], "result_type": "complete", **members}
    return latest.CallToolResult(**members)


@pytest.mark.parametrize("members", [{}, {"is_error": True}, {"extra_": {"more": 1}}])
def test_a_tool_result_is_the_model_on_the_wire_and_equals_it(members: dict[str, Any]) -> None:
    from mcp_runtime.client.tool_result import tool_result

    model = made(**members)
    result = tool_result(model)
    assert isinstance(result, ToolResult)
    assert isinstance(result, latest.CallToolResult)
    assert result == model
    assert model == result
    assert result != made(content=[])
    assert latest.encode(result) == latest.encode(model)
    assert latest.to_wire(result) == latest.to_wire(model)
    assert structs.asdict(result) == structs.asdict(model)
    assert pickle.loads(pickle.dumps(result)) == model


@pytest.mark.parametrize(
    ("content", "data"),
    [
        ({"result": 3}, 3),
        ({"result": None}, None),
        ({"result": 3, "more": 1}, {"result": 3, "more": 1}),
        ({}, {}),
        (None, None),
        ([1], [1]),
    ],
)
def test_data_is_the_structured_content_or_its_one_result(content: Any, data: Any) -> None:
    from mcp_runtime.client.tool_result import tool_result

    assert tool_result(made(structured_content=content)).data == data


def test_a_type_with_result_as_its_one_member_is_read_whole() -> None:
    from mcp_runtime.client.tool_result import tool_result

    result = tool_result(made(structured_content={"result": 3}))
    assert (result.read(int), result.read(Wrapper)) == (3, Wrapper(3))
    with pytest.raises(BadAnswer, match=r"structured content does not fit the type: .*str"):
        result.read(str)


def terms(info: dict[str, Any] | None) -> Terms:
    from typing import cast

    return Terms(cast("Any", None), info, {})


def test_a_peer_that_named_itself_is_a_model() -> None:
    whole = {"name": "n", "version": "1", "title": "N", "icons": [{"src": "data:,"}]}
    assert terms(None).implementation is None
    named = terms(whole).implementation
    assert named is not None
    assert latest.to_wire(named) == whole
    odd = terms({"name": "n", "version": "1", "title": 5}).implementation
    assert odd == latest.Implementation(name="n", version="1")


async def test_a_handler_reads_the_client_as_a_model() -> None:
    server = Server("s", "1")

    @server.tool
    async def who(ctx: Context) -> str:
        assert ctx.client_info is not None
        return f"{ctx.client_info.name} {ctx.client_info.version}"

    for revision in ALL:
        async with Client(server, name="tests", version="7", revisions=[revision]) as client:
            assert (await client.call_tool("who")).text == "tests 7"
