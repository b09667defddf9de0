"""Typical use of the dataclass models, as a type checker sees it."""

from __future__ import annotations

from typing import Any, Literal, assert_never, assert_type

from mcp_wire.v2025_11_25 import calls_dataclass as calls
from mcp_wire.v2025_11_25 import models_dataclass as m


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


def named(tool: m.Tool) -> str:
    return tool.title or tool.name


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
