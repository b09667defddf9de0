"""`mcp.types`: camelCase members, defaults, and conversion from and to JSON."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from mcp_runtime.compat import models
from mcp_runtime.compat.mcp import types


def test_members_have_the_names_of_the_wire() -> None:
    tool = types.Tool(
        name="t",
        inputSchema={"type": "object"},
        annotations={"readOnlyHint": True},
        _meta={"a": 1},
    )
    assert tool.inputSchema == {"type": "object"}
    assert tool.annotations == types.ToolAnnotations(readOnlyHint=True)
    assert tool.description is None
    assert tool.meta == {"a": 1}
    assert models.wire(tool) == {
        "name": "t",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "_meta": {"a": 1},
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"type": "text", "text": "x"}, "TextContent"),
        ({"type": "image", "data": "eA==", "mimeType": "image/png"}, "ImageContent"),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": "eA=="}}, "EmbeddedResource"),
        ({"type": "resource_link", "uri": "a:b", "name": "n"}, "ResourceLink"),
    ],
)
def test_an_object_becomes_the_message_it_is(content: Any, expected: str) -> None:
    result = types.CallToolResult.model_validate({"content": [content]})
    (block,) = result.content
    assert type(block) is getattr(types, expected)
    assert result.isError is False
    assert result.model_dump(by_alias=True, exclude_none=True)["content"] == [content]


def test_a_resource_is_text_or_a_blob() -> None:
    read = types.ReadResourceResult(contents=[{"uri": "a:b", "blob": "eA=="}])
    assert isinstance(read.contents[0], types.BlobResourceContents)


def test_a_missing_member_is_named() -> None:
    with pytest.raises(ValueError, match="Tool: inputSchema is required"):
        types.Tool(name="t")


def test_dumps_are_those_of_pydantic() -> None:
    text = types.TextContent(type="text", text="é")
    assert text.model_dump() == {"type": "text", "text": "é", "annotations": None, "meta": None}
    assert text.model_dump_json(exclude_none=True) == '{"type":"text","text":"é"}'
    assert text.model_copy(update={"text": "x"}).text == "x"
    assert types.TextContent.model_validate_json('{"type": "text", "text": "y"}').text == "y"


def test_a_message_may_be_a_member_of_a_model() -> None:
    class Note(BaseModel):
        content: types.TextContent

    note = Note.model_validate({"content": {"type": "text", "text": "x"}})
    assert note.content == types.TextContent(type="text", text="x")
    assert note.model_dump() == {"content": {"type": "text", "text": "x"}}


def test_unions_are_of_these_classes() -> None:
    assert isinstance(types.TextContent(type="text", text="x"), types.ContentBlock)
    wrapped = types.ServerResult(types.EmptyResult())
    assert wrapped.root == types.EmptyResult()


def test_errors_can_be_raised_and_compared() -> None:
    error = types.ErrorData(code=types.INVALID_PARAMS, message="no")
    assert error.code == -32602
    assert error != types.ErrorData(code=types.INVALID_PARAMS, message="yes")
    with pytest.raises(TypeError):
        hash(error)


def test_an_unknown_name_is_no_message() -> None:
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = types.NoSuchThing


@pytest.mark.parametrize("name", sorted(models.names()))
def test_each_message_reads_what_it_writes(name: str) -> None:
    cls = models.model(name)
    made = cls(**dict.fromkeys(cls.required_))
    assert cls(**made.model_dump(by_alias=True)) == made
