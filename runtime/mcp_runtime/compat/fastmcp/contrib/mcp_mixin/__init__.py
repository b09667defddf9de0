"""Stand-in for `fastmcp.contrib.mcp_mixin`: methods of a class as tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

_MARK: Final = "_mcp_mixin_"
"""The attribute of a marked method: by kind, the options of its decorator."""


def mcp_tool(name: str | None = None, **options: Any) -> Callable[[_F], _F]:
    """Mark a method as a tool; `options` are those of `FastMCP.tool`."""
    return _marked("tool", {"name": name, **options})


def mcp_resource(uri: str, *, name: str | None = None, **options: Any) -> Callable[[_F], _F]:
    """Mark a method as a resource; `options` are those of `FastMCP.resource`."""
    return _marked("resource", {"uri": uri, "name": name, **options})


def mcp_prompt(name: str | None = None, **options: Any) -> Callable[[_F], _F]:
    """Mark a method as a prompt; `options` are those of `FastMCP.prompt`."""
    return _marked("prompt", {"name": name, **options})


def _marked(kind: str, options: dict[str, Any]) -> Callable[[_F], _F]:
    def mark(function: _F) -> _F:
        setattr(function, f"{_MARK}{kind}", options)
        return function

    return mark


class MCPMixin:
    """A class whose marked methods can be registered with a server.

    With a prefix, names and URIs begin with it and a separator.
    """

    def register_tools(
        self, mcp_server: Any, prefix: str | None = None, separator: str = "_"
    ) -> None:
        """Register the marked tools."""
        for method, options in self._methods("tool", prefix, separator):
            mcp_server.tool(method, **options)

    def register_resources(
        self, mcp_server: Any, prefix: str | None = None, separator: str = "+"
    ) -> None:
        """Register the marked resources."""
        for method, options in self._methods("resource", prefix, separator):
            uri = options.pop("uri")
            mcp_server.resource(f"{prefix}{separator}{uri}" if prefix else uri, **options)(method)

    def register_prompts(
        self, mcp_server: Any, prefix: str | None = None, separator: str = "_"
    ) -> None:
        """Register the marked prompts."""
        for method, options in self._methods("prompt", prefix, separator):
            mcp_server.prompt(method, **options)

    def register_all(
        self,
        mcp_server: Any,
        prefix: str | None = None,
        tools_separator: str = "_",
        resources_separator: str = "+",
        prompts_separator: str = "_",
    ) -> None:
        """Register everything that is marked."""
        self.register_tools(mcp_server, prefix, tools_separator)
        self.register_resources(mcp_server, prefix, resources_separator)
        self.register_prompts(mcp_server, prefix, prompts_separator)

    def _methods(
        self, kind: str, prefix: str | None, separator: str
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the enabled methods of one kind, each with the options of its decorator."""
        for attribute in dir(type(self)):
            options = getattr(getattr(type(self), attribute), f"{_MARK}{kind}", None)
            if options is None or options.get("enabled") is False:
                continue
            name = options["name"] or attribute
            yield (
                getattr(self, attribute),
                {**options, "name": f"{prefix}{separator}{name}" if prefix else name},
            )
