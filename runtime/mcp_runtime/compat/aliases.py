"""Gives the names `mcp` and `fastmcp` to the packages here, for one process.

from mcp_runtime.compat import aliases

aliases.install()
import mcp.server.fastmcp        # is mcp_runtime.compat.mcp.server.fastmcp
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast

from mcp_runtime.compat.elsewhere import PREFIX, missing

if TYPE_CHECKING:
    from importlib.abc import Loader

PACKAGES: Final = ("mcp", "fastmcp")


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
