"""Content that a handler returns is content, whatever its annotation says; or it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import pytest

from mcp_runtime import Audio, Client, Embedded, Image, Server, types

T = TypeVar("T")

OPEN_LISTS: list[Any] = [
    list,
    list[Any],
    list[object],
    Sequence[object],
    Sequence[Any],
    tuple,
    tuple[Any, ...],
    tuple[str, Any],
    list | None,
    list[Any] | dict[str, int],
    list[list[Any]],
    list[T],  # type: ignore[valid-type]
    Any,
    object,
    None,
]
PICTURE = Image(b"x", "image/png")


def returning(value: object, annotation: Any) -> Server:
    server = Server("s", "1")

    def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    server.tool(tool)
    return server


async def result_of(value: object, annotation: Any) -> types.CallToolResult:
    async with Client(returning(value, annotation)) as client:
        await client.list_tools()  # so that the client checks the output schema
        return await client.call_tool("tool", {})


def kinds(result: types.CallToolResult) -> list[str]:
    return [block.type for block in result.content]


@pytest.mark.parametrize("annotation", OPEN_LISTS)
async def test_content_in_a_list_of_anything_is_content(annotation: Any) -> None:
    result = await result_of(["look", PICTURE, {"a": 1}], annotation)
    assert kinds(result) == ["text", "image", "text"]
    assert result.content[0] == types.TextContent(text="look")
    assert result.content[2] == types.TextContent(text='{"a":1}')
    assert result.structured_content is types.UNSET
    assert result.is_error is not True


@pytest.mark.parametrize(
    "block",
    [
        PICTURE,
        Audio(b"x", "audio/wav"),
        Embedded("a://b", "text"),
        types.TextContent(text="x"),
        types.ResourceLink(name="x", uri="a://b"),
    ],
)
@pytest.mark.parametrize("annotation", [list, list[Any], Sequence[object], list | dict, tuple])
async def test_every_kind_of_content_is_content_alone_and_in_a_tuple(
    block: Any, annotation: Any
) -> None:
    expected = block.block() if hasattr(block, "block") else block
    assert (await result_of((block,), annotation)).content == [expected]
    assert (await result_of(block, annotation)).content == [expected]


@pytest.mark.parametrize("annotation", [list, list[Any], Sequence[object]])
async def test_a_list_of_anything_without_content_is_structured(annotation: Any) -> None:
    result = await result_of([1, "a"], annotation)
    assert result.structured_content == {"result": [1, "a"]}


async def test_what_may_be_content_declares_no_output_schema() -> None:
    for annotation, is_declared in ((list, False), (list[int], True), (dict[str, Any], True)):
        async with Client(returning([], annotation)) as client:
            (tool,) = await client.list_tools()
            assert (tool.output_schema is not types.UNSET) is is_declared


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        (PICTURE, dict),
        (PICTURE, dict[str, Any]),
        (PICTURE, dict[str, str]),
        (PICTURE, Mapping[str, object]),
        ({"a": PICTURE}, dict),
        ({"a": PICTURE}, Any),
        ({"a": PICTURE}, None),
        ({"a": [PICTURE]}, dict[str, list[Any]]),
        ([{"a": PICTURE}], list),
        ([{"a": types.TextContent(text="x")}], list[Any]),
        ([PICTURE], list[dict[str, Any]]),
    ],
)
async def test_content_where_it_would_be_json_is_an_error_that_says_so(
    value: object, annotation: Any
) -> None:
    result = await result_of(value, annotation)
    assert result.is_error is True
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    assert "expected JSON, found" in block.text
    assert "content is returned alone, or in a list" in block.text


@dataclass
class Album:
    cover: Image


Pictures: TypeAlias = dict[str, Image]


@pytest.mark.parametrize(
    "annotation",
    [
        dict[str, Image],
        dict[str, list[Image]],
        list[dict[str, Audio]],
        list[dict[str, types.TextContent]],
        Pictures,
        Album,
        list[Album],
        set[Image],
        dict[str, Image] | None,
        tuple[str, dict[str, Embedded]],
    ],
)
def test_an_annotation_with_content_inside_of_a_value_is_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"tool\(\) returns \w+ inside of another value"):
        returning(None, annotation)


async def test_a_picture_of_a_resource_is_its_bytes() -> None:
    server = Server("s", "1")

    @server.resource("a://picture")
    def picture() -> Any:
        return PICTURE

    @server.resource("a://many")
    def many() -> Any:
        return [PICTURE, Embedded("a://b", "text")]

    async with Client(server) as client:
        blob = types.BlobResourceContents(uri="a://picture", blob="eA==", mime_type="image/png")
        assert await client.read_resource("a://picture") == [blob]
        assert [type(one).__name__ for one in await client.read_resource("a://many")] == [
            "BlobResourceContents",
            "TextResourceContents",
        ]


async def test_content_in_the_structure_of_a_raw_tool_is_an_error() -> None:
    server = Server("s", "1")
    schema = {"type": "object"}

    @server.raw_tool({"name": "t", "inputSchema": schema, "outputSchema": schema})
    def tool(arguments: dict[str, Any], ctx: Any) -> Any:
        return {"a": PICTURE}

    async with Client(server) as client:
        assert (await client.call_tool("t", {})).is_error is True
