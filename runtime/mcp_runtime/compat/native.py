"""The native server behind a server of `mcp` 1.x or `fastmcp`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from mcp_runtime.compat import models
from mcp_runtime.compat.models import Model
from mcp_runtime.compat.routes import Route, RoutedApp
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.registry import Feature, RawTool, ResourceTemplate, Tool, or_unset
from mcp_runtime.server.rules import Switch
from mcp_runtime.server.server import Server
from mcp_runtime.server.visibility import Registry

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

    def put_tool(self, tool: Tool | RawTool, tags: Iterable[str] = ()) -> None:
        """Register a tool; one of the same name is replaced."""
        self.remove("tool", tool.model.name)
        self._add_tool(tool, (), (), False, tuple(tags))
        self._dispatcher.announce_change("tools")

    def put_prompt(self, prompt: Feature[t.Prompt], tags: Iterable[str] = ()) -> None:
        """Register a prompt; one of the same name is replaced."""
        self._features.prompts.put(prompt.model.name, prompt, tags, self._features.rules)
        self._dispatcher.announce_change("prompts")

    def put_resource(
        self, resource: Feature[t.Resource] | ResourceTemplate, tags: Iterable[str] = ()
    ) -> None:
        """Register a resource or a template; one of the same URI is replaced."""
        features = self._features
        if isinstance(resource, ResourceTemplate):
            uri = resource.model.uri_template
            features.resource_templates.put(uri, resource, tags, features.rules)
        else:
            features.resources.put(resource.model.uri, resource, tags, features.rules)
        self._dispatcher.announce_change("resources")

    def show(self, kind: str, key: str, *, shows: bool = True) -> None:
        """Enable or disable a feature of a kind: a tool, a prompt, or a resource or template."""
        for registry in self._registries(kind):
            if key in registry.registered and (key in registry) is not shows:
                self._dispatcher.switch(Switch(shows, [f"{registry.what} {key}"]))

    def remove(self, kind: str, key: str) -> bool:
        """Remove a feature of a kind, and return True if it was registered."""
        registries = [each for each in self._registries(kind) if key in each.registered]
        for registry in registries:
            registry.remove(key)
        return bool(registries)

    def _registries(self, kind: str) -> list[Registry[Any]]:
        features = self._features
        registries: dict[str, list[Registry[Any]]] = {
            "tool": [features.tools],
            "prompt": [features.prompts],
            "resource": [features.resources, features.resource_templates],
        }
        return registries[kind]

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
