"""Tools, prompts and resources as objects, which servers of `mcp` 1.x and `fastmcp` pass around."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from mcp_runtime.compat import functions, models, prompts
from mcp_runtime.compat.content import text_block
from mcp_runtime.compat.context import current
from mcp_runtime.compat.functions import Callee, Dialect
from mcp_runtime.compat.models import Model
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.registry import Feature, ResourceTemplate, Tool


class Component:
    """A function with the members of its entry in a list."""

    dialect: ClassVar[Dialect]

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Any = None,
        icons: Any = None,
        meta: Mapping[str, Any] | None = None,
        tags: Iterable[str] | None = None,
        enabled: bool = True,
        **options: Any,
    ) -> None:
        self.fn = function
        self.name = name or functions.is_named(function)
        self.title = title
        self.description = description or self.dialect.description(function)
        self.annotations = annotations
        self.icons = icons
        self.tags = set(tags or ())
        self.meta = dict(meta or {})
        self.enabled = enabled
        self.options = options

    @cached_property
    def called(self) -> Callee:
        return functions.callee(self.fn, self.dialect)

    @property
    def key(self) -> str:
        return self.name

    @property
    def members(self) -> dict[str, Any]:
        meta = dict(self.meta)
        if self.tags and self.shows_tags:
            meta = {"fastmcp": {"tags": sorted(self.tags)}, **meta}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "annotations": self.annotations,
            "icons": self.icons,
            "_meta": meta or None,
        }

    shows_tags: ClassVar[bool] = False
    """True if `_meta` of the entry names the tags."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with other members, such as another name."""
        other = copy.copy(self)
        other.__dict__.pop("native", None)
        other.__dict__.update(update or {})
        return other

    copy = model_copy

    def enable(self) -> None:
        self.enabled = True

    def disable(self) -> None:
        self.enabled = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"


class FunctionTool(Component):
    """A tool. `parameters` is its input schema."""

    @classmethod
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Self:
        """Build a tool from a function. Raises TypeError for a signature JSON cannot express."""
        made = cls(fn, name=name, **options)
        _ = made.native
        return made

    @cached_property
    def called(self) -> Callee:
        hidden = frozenset[str](self.options.get("exclude_args") or ())
        return functions.callee(self.fn, self.dialect, hidden=hidden)

    @cached_property
    def native(self) -> Tool:
        output_schema = self.options.get("output_schema")
        structured = self.options.get("structured_output")
        return functions.tool(
            self.called,
            self.members,
            structured=False if output_schema is False else structured,
            output_schema=output_schema or None,
            timeout=self.options.get("timeout"),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        schema: dict[str, Any] = t.to_wire(self.native.model.input_schema)
        return schema

    @property
    def output_schema(self) -> dict[str, Any] | None:
        schema = self.native.model.output_schema
        return None if schema is t.UNSET else t.to_wire(schema)

    def to_mcp_tool(self, **update: Any) -> Model:
        """Return the entry of the tool in a list."""
        return models.model("Tool")(**{**t.to_wire(self.native.model), **update})

    async def run(self, arguments: dict[str, Any], context: Any = None, **_: Any) -> Any:
        """Call the tool inside of a request or outside of one, and return the function's value."""
        return await self.called.call(current.get(), self.native.signature.read(arguments))


class FunctionPrompt(Component):
    """A prompt."""

    @staticmethod
    def messages(value: object) -> list[Any]:
        """Convert the function's value to messages."""
        raise NotImplementedError

    @classmethod
    def from_function(cls, fn: Callable[..., Any], name: str | None = None, **options: Any) -> Self:
        """Build a prompt from a function. Raises TypeError as tools do."""
        made = cls(fn, name=name, **options)
        _ = made.native
        return made

    @cached_property
    def called(self) -> Callee:
        return functions.callee(self.fn, self.dialect, default_type=str)

    @cached_property
    def native(self) -> Feature[t.Prompt]:
        members = {name: each for name, each in self.members.items() if name != "annotations"}
        return prompts.prompt(self.called, members, type(self).messages)

    @property
    def arguments(self) -> list[Model]:
        arguments: Any = t.to_wire(self.native.model).get("arguments", [])
        return [models.model("PromptArgument")(**each) for each in arguments]

    async def render(self, arguments: dict[str, Any] | None = None, context: Any = None) -> Any:
        """Return the messages of the prompt."""
        read = self.native.signature.read(arguments or {})
        return type(self).messages(await self.called.call(current.get(), read))


class FunctionResource(Component):
    """A resource of a URI, or all resources of a URI template."""

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        uri: Any,
        mime_type: str | None = None,
        limits: Limits = DEFAULT,
        **options: Any,
    ) -> None:
        super().__init__(fn, **options)
        self.uri = str(uri)
        self.mime_type = mime_type or "text/plain"
        self._limits = limits

    @classmethod
    def from_function(cls, fn: Callable[..., Any], uri: Any = None, **options: Any) -> Self:
        """Build a resource from a function. Raises TypeError and ValueError."""
        uri = options.pop("uri_template", uri)
        made = cls(fn, uri=uri, **options)
        _ = made.native
        return made

    @property
    def key(self) -> str:
        return self.uri

    uri_template = key

    @cached_property
    def called(self) -> Callee:
        return functions.callee(self.fn, self.dialect, default_type=str)

    @cached_property
    def native(self) -> Feature[t.Resource] | ResourceTemplate:
        members = {**self.members, "mimeType": self.mime_type}
        return prompts.resource(self.called, self.uri, members, self._limits)

    async def read(self) -> Any:
        """Return the value of the function."""
        return await self.called.call(current.get(), {})


def text_resource(cls: type[FunctionResource], uri: Any, text: str, **options: Any) -> Any:
    """Return a resource of a fixed text."""

    def read() -> str:
        return text

    given: dict[str, Any] = {"name": str(uri), "description": " ", **options}
    return cls(read, uri=uri, **given)


def file_resource(cls: type[FunctionResource], uri: Any, path: Any, **options: Any) -> Any:
    """Return a resource that reads a file each time; text unless `is_binary` or the MIME type says
    otherwise.
    """
    mime_type = options.get("mime_type") or "text/plain"
    is_binary = options.pop("is_binary", not mime_type.startswith("text/"))

    def read() -> str | bytes:
        return Path(path).read_bytes() if is_binary else Path(path).read_text(encoding="utf-8")

    given: dict[str, Any] = {"name": Path(path).name, "description": " ", **options}
    return cls(read, uri=uri, **given)


__all__ = [
    "Component",
    "FunctionPrompt",
    "FunctionResource",
    "FunctionTool",
    "file_resource",
    "text_block",
    "text_resource",
]
