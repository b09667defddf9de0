"""Gives the names `mcp` and `fastmcp` to the packages here, for one process.

from mcp_runtime.compat import aliases

aliases.install()
import mcp.server.fastmcp        # is mcp_runtime.compat.mcp.server.fastmcp
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

PREFIX: Final = "mcp_runtime.compat."
PACKAGES: Final = ("mcp", "fastmcp")

_TOKENS: Final = "FastMCP(auth=...) with a token verifier of mcp_runtime (docs/AUTH.md)"
_ISSUED: Final = "RemoteAuthProvider: a server here checks tokens, and issues none"
ELSEWHERE: Final[Mapping[str, str]] = {
    "mcp.client.auth": "Client.http(url, auth=OAuth(...)) of mcp_runtime (docs/AUTH.md)",
    "mcp.client.websocket": "streamablehttp_client; the protocol has no WebSocket transport",
    "mcp.server.websocket": "streamable_http_app(); the protocol has no WebSocket transport",
    "mcp.server.mcpserver": "mcp.server.fastmcp: mcp 2.x is not spoken here, but 1.x",
    "mcp.cli": "the command mcp-bindgen run",
    "fastmcp.server.openapi": "a function for each operation, or mcp-bindgen new --from-tools",
    "fastmcp.experimental": "a function for each operation of an OpenAPI document",
    "fastmcp.server.proxy": "fastmcp.Client in a tool",
    "fastmcp.server.auth.providers.github": _TOKENS,
    "fastmcp.server.auth.oauth_proxy": _ISSUED,
    "fastmcp.server.auth.oidc_proxy": _ISSUED,
    "fastmcp.server.auth.OAuthProxy": _ISSUED,
    "fastmcp.server.auth.OAuthProvider": _ISSUED,
    "fastmcp.server.auth.OIDCProxy": _ISSUED,
    "fastmcp.apps": "mcp_runtime.extensions.apps (docs/APPS.md)",
    "fastmcp.cli": "the command mcp-bindgen run",
}
"""By missing module or name, the way to do the same."""


class _Loader:
    """Loads a module of this package under another name."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._own: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._target)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put back the module's own spec, which the alias has replaced."""
        module.__spec__ = self._own


class Finder:
    """Finds modules of `mcp` and `fastmcp` here.

    The bases of `importlib.abc` are left out: they import sixteen modules, which nobody needs here.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module. Raises ModuleNotFoundError if it is missing here."""
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = find_spec(PREFIX + name)
        if spec is None:
            raise ModuleNotFoundError(missing(name), name=name)
        return ModuleSpec(
            name,
            cast("Loader", _Loader(PREFIX + name)),
            is_package=bool(spec.submodule_search_locations is not None),
        )


def missing(name: str) -> str:
    """Return the text of the error for a missing module, with the way to do the same."""
    text = f"{name} is not in mcp_runtime.compat"
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        if instead := ELSEWHERE.get(".".join(parts[:end])):
            return f"{text}; instead use {instead}"
    return text


def missing_name(module: str, name: str) -> Exception:
    """Return the error for a name that a module lacks: an ImportError, if there is another way."""
    if f"{module}.{name}" in ELSEWHERE:
        return ImportError(missing(f"{module}.{name}"), name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")


def install() -> None:
    """Give both names to the packages here, from now on.

    Raises RuntimeError if an original is imported already.
    """
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        if loaded is not None and not loaded.__name__.startswith(PREFIX):
            raise RuntimeError(f"{name} is imported already, from {loaded.__spec__}")
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def remove() -> None:
    """Take the aliases back, and forget the modules under their other names."""
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, Finder)]
    for name in [each for each in sys.modules if each.partition(".")[0] in PACKAGES]:
        if sys.modules[name].__name__.startswith(PREFIX):
            del sys.modules[name]
