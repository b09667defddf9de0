"""The native server behind a server of `mcp` 1.x or `fastmcp`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from mcp_runtime.compat import models
from mcp_runtime.compat.models import Model
from mcp_runtime.compat.routes import Route, RoutedApp
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.registry import Feature, RawTool, ResourceTemplate, Tool, or_unset
from mcp_runtime.server.server import Server

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

HINTS: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""Members of results unknown to `mcp` 1.x."""


class NativeServer(Server):
    """A server whose features are built before they are registered."""

    def serve_as(self, facade: Any) -> None:
        """Set the server of `mcp` or `fastmcp` whose features these are."""
        self._dispatcher.facade = facade

    @cached_property
    def routes(self) -> list[Route]:
        """Endpoints beside the protocol's, over HTTP."""
        return []

    def asgi(self, **options: Any) -> Any:
        """Return the ASGI application, with the routes before it."""
        app = super().asgi(**options)
        return RoutedApp(app, self.routes) if self.routes else app

    def rename(self, name: str, version: str) -> None:
        """Change the server's name and version."""
        self.info = structs.replace(self.info, name=name, version=version)
        self._dispatcher.change(info=self.info)

    @property
    def instructions(self) -> str | None:
        instructions = self._dispatcher.offer().instructions
        return instructions if isinstance(instructions, str) else None

    def instruct(self, instructions: str | None) -> None:
        """Change the instructions for clients."""
        self._dispatcher.change(instructions=or_unset(instructions))

    def put_tool(self, tool: Tool | RawTool) -> None:
        """Register a tool; one of the same name is replaced."""
        self._features.tools.pop(tool.model.name, None)
        self._add_tool(tool, (), (), False)
        self._dispatcher.announce_change("tools")

    def put_prompt(self, prompt: Feature[t.Prompt]) -> None:
        """Register a prompt; one of the same name is replaced."""
        self._features.prompts[prompt.model.name] = prompt
        self._dispatcher.announce_change("prompts")

    def put_resource(self, resource: Feature[t.Resource] | ResourceTemplate) -> None:
        """Register a resource or a template; one of the same URI is replaced."""
        if isinstance(resource, ResourceTemplate):
            self._features.resource_templates[resource.model.uri_template] = resource
        else:
            self._features.resources[resource.model.uri] = resource
        self._dispatcher.announce_change("resources")

    def announce(self, changed: str) -> None:
        """Tell clients of a change in a list: tools, prompts or resources."""
        self._dispatcher.announce_change(changed)

    # ---- lists, as `mcp.types` has them

    def tools(self) -> list[Model]:
        return [_model("Tool", each.model) for each in self._features.tools.values()]

    def prompts(self) -> list[Model]:
        return [_model("Prompt", each.model) for each in self._features.prompts.values()]

    def resources(self) -> list[Model]:
        return [_model("Resource", each.model) for each in self._features.resources.values()]

    def resource_templates(self) -> list[Model]:
        templates = self._features.resource_templates.values()
        return [_model("ResourceTemplate", each.model) for each in templates]

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        """Connect a client in this process, for calls outside of a request."""
        from mcp_runtime.client.client import Client

        async with Client(self, cache=False, validate=False) as client:
            yield client


def _model(name: str, value: Any) -> Model:
    return models.model(name).of(t.to_wire(value))
