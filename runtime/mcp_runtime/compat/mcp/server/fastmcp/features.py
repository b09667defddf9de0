"""Tools, resources and prompts of `FastMCP` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mcp_runtime.compat import models
from mcp_runtime.compat.content import one_by_one, text_block
from mcp_runtime.compat.errors import ToolError, UrlElicitationRequiredError, mcp_error
from mcp_runtime.compat.functions import Dialect, tool_result
from mcp_runtime.compat.mcp.server.fastmcp.context import Context, make_context
from mcp_runtime.compat.models import Model
from mcp_runtime.compat.shapes import items_of, members_of
from mcp_runtime.compat.tools import FunctionPrompt, FunctionResource, FunctionTool
from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context as NativeContext


def _description(function: Callable[..., Any]) -> str:
    return getattr(function, "__doc__", None) or ""


def _tool_failure(name: str, error: Exception) -> Exception:
    if isinstance(error, UrlElicitationRequiredError):
        return error
    return ToolError(f"Error executing tool {name}: {error}")


def _failure(name: str, error: Exception) -> Exception:
    return error if isinstance(error, RpcError) else mcp_error(0, f"{name}: {error}")


TOOLS: Final = Dialect(
    contexts=(Context, NativeContext),
    context=make_context,
    content=one_by_one,
    description=_description,
    failure=_tool_failure,
    drops_unknown=True,
    names_variadics=True,
)
OTHERS: Final = Dialect(
    contexts=(Context, NativeContext),
    context=make_context,
    content=one_by_one,
    description=_description,
    failure=_failure,
)


class Tool(FunctionTool):
    """A tool of `FastMCP`."""

    dialect = TOOLS

    async def run(
        self, arguments: dict[str, Any], context: Any = None, convert_result: bool = False, **_: Any
    ) -> Any:
        """Call the tool. Raises ToolError."""
        try:
            value = await super().run(arguments)
        except Exception as error:
            raise _tool_failure(self.name, error) from error
        if not convert_result:
            return value
        return returned(tool_result(value, content=one_by_one))


class Message:
    """A message of a prompt."""

    default_role = "user"

    def __init__(self, content: Any, role: str | None = None, **_: Any) -> None:
        self.role = role or self.default_role
        self.content = text_block(content) if isinstance(content, str) else content

    def block(self) -> Any:
        return models.model("PromptMessage")(role=self.role, content=self.content)


class UserMessage(Message):
    """A message of the user."""


class AssistantMessage(Message):
    """A message of the assistant."""

    default_role = "assistant"


def messages(value: object) -> list[Any]:
    """Convert the value of a prompt to messages."""
    items = items_of(value)
    return [_message(each) for each in ([value] if items is None else items)]


def _message(value: Any) -> Any:
    if isinstance(value, Message):
        return value.block()
    if isinstance(value, Model) and type(value).__name__ == "PromptMessage":
        return value
    pair = members_of(value)
    if pair is not None and pair.keys() >= {"role", "content"}:
        return Message(pair["content"], role=pair["role"]).block()
    return Message(one_by_one([value])[0]).block()


class Prompt(FunctionPrompt):
    """A prompt of `FastMCP`."""

    dialect = OTHERS

    @staticmethod
    def messages(value: object) -> list[Any]:
        return messages(value)


class Resource(FunctionResource):
    """A resource of `FastMCP`."""

    dialect = OTHERS


class Manager:
    """The tools, prompts or resources of a server, by name or URI."""

    def __init__(self, add: Callable[[Any], Any]) -> None:
        self.items: dict[str, Any] = {}
        self._add = add
        self._tools = self._prompts = self._resources = self._templates = self.items

    def list_tools(self) -> list[Any]:
        return list(self.items.values())

    list_prompts = list_resources = list_templates = list_tools

    def get_tool(self, name: str) -> Any:
        return self.items.get(name)

    get_prompt = get_tool

    def add_tool(self, fn: Callable[..., Any], **options: Any) -> Any:
        return self._add(Tool.from_function(fn, **options))

    def add_prompt(self, prompt: Any) -> Any:
        return self._add(prompt)

    add_resource = add_prompt


def returned(result: Any) -> Any:
    """Return content of `mcp.types`, and structured content beside it if there is any."""
    json = t.to_wire(result)
    shown = models.model("CallToolResult").of(json)
    content = shown.content
    structured = json.get("structuredContent")
    return content if structured is None else (content, structured)
