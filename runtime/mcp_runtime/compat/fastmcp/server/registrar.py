"""Registers the features of a server of `fastmcp`, and those of servers mounted on it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from functools import partial
from types import FunctionType
from typing import Any, Final, NoReturn, TypeVar, overload

from mcp_runtime.compat.errors import NotFoundError
from mcp_runtime.compat.fastmcp.server.features import (
    Prompt,
    Resource,
    Tool,
)
from mcp_runtime.compat.fastmcp.server.mounting import (
    kind_of,
    natives,
    prefixed,
    renamed,
)
from mcp_runtime.compat.generics import Subscriptable
from mcp_runtime.compat.native import NativeServer

log: Final = logging.getLogger("mcp_runtime.compat")
_F = TypeVar("_F", bound=Callable[..., Any])


class Registrar(Subscriptable, ABC):
    """The features of a server, by kind and key."""

    def __init__(
        self,
        *,
        include_tags: Iterable[str] | None = None,
        exclude_tags: Iterable[str] | None = None,
        on_duplicate: str = "warn",
    ) -> None:
        self._include = None if include_tags is None else set(include_tags)
        self._exclude = set(exclude_tags or ())
        self._on_duplicate = on_duplicate
        self._components: dict[tuple[str, str], Any] = {}
        self._children: list[tuple[Any, str]] = []
        self._parents: list[tuple[Any, str]] = []

    @property
    @abstractmethod
    def native(self) -> NativeServer:
        """The native server."""

    # ---- tools

    @overload
    def tool(self, name_or_fn: _F, *, name: str | None = None, **options: Any) -> _F: ...
    @overload
    def tool(
        self, name_or_fn: str | None = None, *, name: str | None = None, **options: Any
    ) -> Callable[[_F], _F]: ...
    def tool(self, name_or_fn: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a tool: `@mcp.tool`, `@mcp.tool()`, `@mcp.tool("name")`.

        `options` are those of `Tool`: title, description, tags, annotations, output_schema, meta,
        enabled, exclude_args, timeout.
        """
        return self._decorated(Tool, name_or_fn, name, options)

    @overload
    def prompt(self, name_or_fn: _F, *, name: str | None = None, **options: Any) -> _F: ...
    @overload
    def prompt(
        self, name_or_fn: str | None = None, *, name: str | None = None, **options: Any
    ) -> Callable[[_F], _F]: ...
    def prompt(self, name_or_fn: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a prompt: `@mcp.prompt`, `@mcp.prompt("name")`."""
        return self._decorated(Prompt, name_or_fn, name, options)

    def resource(self, uri: str, **options: Any) -> Callable[[_F], _F]:
        """Register a function as a resource, or as all resources of a URI template."""
        if callable(uri):
            raise TypeError("The @resource decorator was used incorrectly: @resource('uri')")
        return partial(self._register, Resource, {"uri": uri, **options})

    def _decorated(
        self, cls: Any, name_or_fn: Any, name: str | None, options: dict[str, Any]
    ) -> Any:
        if callable(name_or_fn) and not isinstance(name_or_fn, str):
            return self._register(cls, {"name": name, **options}, name_or_fn)
        return partial(self._register, cls, {"name": name_or_fn or name, **options})

    def _register(self, cls: Any, options: dict[str, Any], function: Any) -> Any:
        made = cls(function, **options)
        self._put(made)
        if isinstance(function, FunctionType) and not hasattr(function, "fn"):
            vars(function)["fn"] = function  # fastmcp 2.x returns an object with its function
        return function

    def add_tool(self, tool: Any) -> Any:
        """Register a tool, or a function as one; return the tool."""
        return self._put(tool if isinstance(tool, Tool) else Tool(tool))

    def add_prompt(self, prompt: Any) -> Any:
        """Register a prompt, or a function as one; return the prompt."""
        return self._put(prompt if isinstance(prompt, Prompt) else Prompt(prompt))

    def add_resource(self, resource: Any) -> Any:
        """Register a resource; return it."""
        return self._put(resource)

    add_template = add_resource

    def remove_tool(self, name: str) -> None:
        """Remove a tool. Raises NotFoundError."""
        if self._components.pop(("tool", name), None) is None:
            raise NotFoundError(f"Unknown tool: {name}")
        self._remove("tool", name)

    def _put(self, component: Any) -> Any:
        """Register a feature. One of the same name is replaced, unless `on_duplicate` says else.

        Raises ValueError with `on_duplicate="error"`.
        """
        kind = kind_of(component)
        if (kind, component.key) in self._components:
            if self._on_duplicate == "error":
                raise ValueError(f"{kind} already exists: {component.key}")
            if self._on_duplicate == "ignore":
                return self._components[kind, component.key]
            if self._on_duplicate == "warn":
                log.warning("%s %s is registered already, and is replaced", kind, component.key)
        component.bind(self)
        _ = component.native
        self._components[kind, component.key] = component
        self.refresh(component)
        return component

    def refresh(self, component: Any) -> None:
        """Show or hide a feature, as its tags and its state say."""
        kind, key, shows = kind_of(component), component.key, self._is_shown(component)
        self._add(kind, key, component.native, component.tags, shows)

    def _is_shown(self, component: Any) -> bool:
        tags: set[str] = component.tags
        included = self._include is None or bool(tags & self._include)
        return component.enabled and included and not tags & self._exclude

    def _add(
        self, kind: str, key: str, native: Any, tags: Collection[str], shows: bool = True
    ) -> None:
        """Register a native feature here, and on the servers this one is mounted on."""
        match kind:
            case "tool":
                self.native.put_tool(native, tags)
            case "prompt":
                self.native.put_prompt(native, tags)
            case _:
                self.native.put_resource(native, tags)
        self.native.show(kind, key, shows=shows)
        for parent, prefix in self._parents:
            own = renamed(kind, native, prefix)
            parent._add(kind, prefixed(kind, key, prefix), own, tags, shows)

    def _remove(self, kind: str, key: str) -> None:
        if self.native.remove(kind, key):
            self.native.announce(f"{kind}s")
        for parent, prefix in self._parents:
            parent._remove(kind, prefixed(kind, key, prefix))

    def enable(self, *, names: Any = None, tags: Any = None, only: bool = False, **_: Any) -> None:
        """Show the features of these names or tags; all, without either. With `only`, hide the
        others.
        """
        if only:
            self._switch(False, None, None)
        self._switch(True, names, tags)

    def disable(self, *, names: Any = None, tags: Any = None, **_: Any) -> None:
        """Hide the features of these names or tags; all, without either."""
        self._switch(False, names, tags)

    def _switch(self, enabled: bool, names: Any, tags: Any) -> None:
        for (kind, key), component in self._components.items():
            by_name = names is not None and component.name in names
            by_tag = tags is not None and bool(component.tags & set(tags))
            if by_name or by_tag or (names is None and tags is None):
                component.enabled = enabled
                self._show(kind, key, self._is_shown(component))

    def _show(self, kind: str, key: str, shows: bool) -> None:
        self.native.show(kind, key, shows=shows)
        for parent, prefix in self._parents:
            parent._show(kind, prefixed(kind, key, prefix), shows)

    # ---- composition

    def mount(self, server: Any, namespace: Any = None, *, prefix: Any = None, **_: Any) -> None:
        """Serve the features of another server too, now and later, under a prefix."""
        if isinstance(server, str) or isinstance(namespace, Registrar):
            server, namespace = namespace, server
        if server is self:
            raise ValueError("Cannot mount a server onto itself")
        name = namespace or prefix or ""
        self._children.append((server, name))
        server._parents.append((self, name))
        self._copy(server, name)
        self.native.routes += server.native.routes

    async def import_server(self, server: Any, prefix: Any = None, **_: Any) -> None:
        """Copy the present features of another server, under a prefix."""
        if isinstance(server, str) or isinstance(prefix, Registrar):
            server, prefix = prefix, server
        self._copy(server, prefix or "")

    def _copy(self, server: Registrar, prefix: str) -> None:
        for kind, key, native, tags, shows in natives(server.native):
            own = renamed(kind, native, prefix)
            self._add(kind, prefixed(kind, key, prefix), own, tags, shows)

    @classmethod
    def from_openapi(cls, *_: Any, **__: Any) -> NoReturn:
        _elsewhere("from_openapi", "a function for each operation")

    @classmethod
    def from_fastapi(cls, *_: Any, **__: Any) -> NoReturn:
        _elsewhere("from_fastapi", "a function for each route, and mount http_app() beside them")

    @classmethod
    def as_proxy(cls, *_: Any, **__: Any) -> NoReturn:
        _elsewhere("as_proxy", "fastmcp.Client in a tool")


def _elsewhere(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"FastMCP.{name} is not in mcp_runtime.compat; instead use {instead}")
