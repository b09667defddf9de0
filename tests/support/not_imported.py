"""Lets a test import a package of the runtime anew, and puts the old one back whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

__all__ = ["not_imported"]


def _modules_of(package: str) -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in [*sys.modules.items()]
        if name == package or name.startswith(f"{package}.")
    }


@contextmanager
def not_imported(package: str) -> Iterator[None]:
    """Forget `package` and its modules inside the block.

    Afterwards the old modules are back, and the old package is the attribute of its parent again:
    a new package in its place would lack the modules that others have imported.
    """
    outer, _, name = package.rpartition(".")
    parent, before = sys.modules.get(outer), _modules_of(package)
    for module in before:
        del sys.modules[module]
    try:
        yield
    finally:
        for module in _modules_of(package):
            del sys.modules[module]
        sys.modules.update(before)
        if parent is not None and package in before:
            setattr(parent, name, before[package])
