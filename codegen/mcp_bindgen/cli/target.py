"""Imports the server that `run` is told to serve."""

from __future__ import annotations

import sys
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from mcp_bindgen.errors import InputError

__all__ = ["server_of"]


def server_of(target: str) -> Any:
    """Raises InputError."""
    from mcp_runtime.server.server import Server

    name, _, attribute = target.partition(":") if not Path(target).exists() else (target, "", "")
    module = _module(name)
    if attribute:
        named = getattr(module, attribute, None)
        if not isinstance(named, Server):
            raise InputError(f"{name} has no Server called {attribute!r}")
        return named
    servers: dict[str, Server] = {
        key: value for key, value in vars(module).items() if isinstance(value, Server)
    }
    if len(servers) != 1:
        has = f"has {', '.join(sorted(servers))}" if servers else "has no Server"
        raise InputError(f"{name} {has}", remedy=f"Name one: {name}:SERVER.")
    return next(iter(servers.values()))


def _module(name: str) -> ModuleType:
    path = Path(name)
    try:
        if path.suffix == ".py":
            return _from_file(path)
        sys.path.insert(0, "")
        return import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"cannot import {name}: {error}") from error
    except FileNotFoundError:
        raise InputError(f"there is no file {name}") from None


def _from_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
