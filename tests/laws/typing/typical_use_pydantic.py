"""Typical use of the pydantic models, as a type checker sees it."""

from __future__ import annotations

from typing import Any, Literal, assert_never, assert_type

from pydantic import MISSING, BaseModel, TypeAdapter

from mcp_wire.v2025_11_25 import calls_pydantic as calls
from mcp_wire.v2025_11_25 import models_pydantic as m


def construct() -> m.Tool:
    tool = m.Tool(name="add", input_schema=m.ToolInputSchema(), title="Add")
    assert_type(tool.name, str)
    assert_type(tool.input_schema.type, Literal["object"])
    return tool


def narrow(tool: m.Tool) -> str:
    if tool.title is m.UNSET:
        return tool.name
    assert_type(tool.title, str)
    return tool.title


def nullable(task: m.Task) -> int | float | None:
    assert_type(task.ttl, int | float | None)
    return task.ttl


def match(block: m.ContentBlock) -> str:
    match block:
        case m.TextContent(text=text):
            assert_type(text, str)
            return text
        case m.ImageContent() | m.AudioContent():
            assert_type(block, m.ImageContent | m.AudioContent)
            return block.mime_type
        case m.ResourceLink(uri=uri):
            return uri
        case m.EmbeddedResource(resource=resource):
            assert_type(resource, m.TextResourceContents | m.BlobResourceContents)
            return resource.uri
        case _:
            assert_never(block)


def by_discriminator(block: m.TextContent | m.ImageContent) -> str:
    if block.type == "text":
        assert_type(block, m.TextContent)
        return block.text
    assert_type(block, m.ImageContent)
    return block.data


def read(data: bytes) -> m.CallToolResult:
    result = m.decode(m.CallToolResult, data)
    assert_type(result, m.CallToolResult)
    assert_type(result.content, list[m.ContentBlock])
    assert_type(result.extra_.get("x"), Any | None)
    assert_type(m.encode(result), bytes)
    return result


class Calls(calls.ClientCalls):
    """A transport that answers each request with the same text."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    async def request(self, method: str, params: object) -> object:
        return calls.decode_result(method, self.text)

    async def notify(self, method: str, params: object) -> None:
        return None


async def call(client: calls.ClientCalls) -> list[m.ContentBlock]:
    await client.initialized()
    answer = await client.call_tool(m.CallToolRequestParams(name="add", arguments={"a": 1}))
    assert_type(answer, m.CallToolResult | m.CreateTaskResult)
    if isinstance(answer, m.CreateTaskResult):
        assert_type(answer.task, m.Task)
        return []
    return answer.content


class Answer(BaseModel):
    """A model of a user's own, around ours."""

    result: m.CallToolResult
    blocks: list[m.ContentBlock] = []
    request: m.RequestId | None = None
    note: str | MISSING = MISSING


def nest(result: m.CallToolResult) -> Answer:
    answer = Answer(result=result, blocks=result.content, request=1)
    assert_type(answer.result, m.CallToolResult)
    assert_type(answer.blocks, list[m.ContentBlock])
    assert_type(answer.model_dump_json(), str)
    if answer.note is not MISSING:
        assert_type(answer.note, str)
    return answer


def adapt(data: bytes) -> m.CallToolResult:
    adapter = TypeAdapter(m.CallToolResult)
    assert_type(adapter.validate_json(data), m.CallToolResult)
    return m.CallToolResult.model_validate_json(data)


def is_block(value: object) -> m.ContentBlock | None:
    assert_type(m.TextContent.type, Literal["text"])
    return value if isinstance(value, m.ContentBlock) else None
