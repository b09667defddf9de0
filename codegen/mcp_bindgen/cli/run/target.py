"""Imports the server for `run`, and reports its errors by the user's own lines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module, util
from importlib.machinery import PathFinder
from inspect import iscoroutine
from pathlib import Path
from runpy import run_module, run_path
from traceback import StackSummary, TracebackException
from types import ModuleType
from typing import Any, Final

from mcp_bindgen.cli.requirements import install_hint
from mcp_bindgen.errors import InputError

__all__ = [
    "compat_server_of",
    "failure",
    "file_of",
    "is_ours",
    "program_arguments",
    "server_of",
]

_MACHINERY: Final = frozenset({"mcp_bindgen", "mcp_runtime", "mcp_wire", "asyncio", "importlib"})
"""Packages whose lines of a traceback are not the user's."""


@contextmanager
def program_arguments(target: str, arguments: Sequence[str]) -> Generator[None]:
    """Give a program its own `sys.argv` for a while: the module or file, and its arguments."""
    ours = sys.argv
    sys.argv = [_parts(target)[0], *arguments]
    try:
        yield
    finally:
        sys.argv = ours


def server_of(target: str) -> Any:
    """Return the server in a module or a file. Raises InputError."""
    name, attribute = _parts(target)
    return _server_in(name, vars(_module(name)), attribute)


def compat_server_of(target: str, is_program: bool = False) -> Any:
    """Return the server of `mcp` 1.x or `fastmcp` in a module or a file.

    A module without a server of its own is run as a program, and so is each with `is_program`; a
    target may also name the function which starts the server. Return None at their end.
    Raises InputError.
    """
    from mcp_runtime.compat.aliases import install

    install()
    name, attribute = _parts(target)
    values = vars(_module(name))
    natives = {
        key: native
        for key, value in values.items()
        if (native := getattr(value, "native", None)) is not None and not isinstance(value, type)
    }
    if attribute and attribute not in natives and callable(start := values.get(attribute)):
        _start(start)
        return None
    if attribute or (natives and not is_program):
        return _server_in(name, natives, attribute)
    run = run_path if name.endswith(".py") else run_module
    _start(partial(run, name, run_name="__main__"))
    return None


def _start(function: Callable[[], Any]) -> None:
    """Call a function which starts a server, to its end. Raises InputError if it fails."""
    try:
        started = function()
        if iscoroutine(started):
            asyncio.run(started)
    except Exception as error:
        raise failure("the server has failed", error) from None


def _server_in(name: str, values: Mapping[str, Any], attribute: str) -> Any:
    """Return the server of that name, or the only one. Raises InputError."""
    from mcp_runtime.server.server import Server

    if attribute:
        named = values.get(attribute)
        if not isinstance(named, Server):
            raise InputError(f"{name} has no Server called {attribute!r}")
        return named
    servers: dict[str, Server] = {
        key: value for key, value in values.items() if isinstance(value, Server)
    }
    if len(servers) != 1:
        if not servers:
            remedy = "Make one there: server = Server(NAME, VERSION)."
            raise InputError(f"{name} has no Server", remedy=remedy)
        has = ", ".join(sorted(servers))
        raise InputError(f"{name} has {has}", remedy=f"Name one: {name}:SERVER.")
    return next(iter(servers.values()))


def _parts(target: str) -> tuple[str, str]:
    """The module or file, and the name behind the last colon; a drive has a colon too."""
    name, _, attribute = target.rpartition(":")
    is_named = name and attribute.isidentifier() and not Path(target).exists()
    return (name, attribute) if is_named else (target.removesuffix(":"), "")


def file_of(target: str) -> Path:
    """Return the absolute path of the module or file, without importing it. Raises InputError."""
    name, _ = _parts(target)
    path = _checked(name)
    if path.suffix == ".py":
        return path.absolute()
    folders: Sequence[str] | None = ["", *sys.path]
    words, spec = name.split("."), None
    for number in range(len(words)):
        spec = PathFinder.find_spec(".".join(words[: number + 1]), folders)
        if spec is None:
            break
        folders = spec.submodule_search_locations or []
    if spec is None or not spec.has_location or spec.origin is None:
        raise InputError(f"cannot import {name}: there is no such module")
    return Path(spec.origin).absolute()


def _checked(name: str) -> Path:
    """Return the name as a path. Raises InputError if it is neither a module nor a file."""
    path = Path(name)
    if path.suffix == ".py" and not path.is_file():
        raise InputError(f"there is no file {name}")
    if path.suffix != ".py" and not all(map(str.isidentifier, name.split("."))):
        raise InputError(f"{name!r} is neither a module nor a .py file")
    return path


def _module(name: str) -> ModuleType:
    """Import a module. Raises InputError if it is missing, or fails while it is imported."""
    path = _checked(name)
    try:
        if path.suffix == ".py":
            return _from_file(path)
        sys.path.insert(0, "")
        return import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"cannot import {name}: {error}") from None
        raise failure(f"{name} fails when it is imported", error) from None


def failure(what: str, error: Exception) -> InputError:
    """The error of a user's program, with only its own lines of the traceback."""
    failed = TracebackException.from_exception(error)
    stack = StackSummary.from_list([f for f in failed.stack if not is_ours(f.filename)])
    is_syntax = isinstance(error, SyntaxError)
    ends = (
        list(failed.format_exception_only()) if is_syntax else [f"{type(error).__name__}: {error}"]
    )
    rows = [*"".join(stack.format()).splitlines(), *(each.rstrip("\n") for each in ends[:-1])]
    shown = rows if stack or is_syntax else ()
    return InputError(f"{what}: {ends[-1].strip()}", rows=shown, remedy=install_hint(error))


def is_ours(file: str) -> bool:
    """Return whether a file belongs to the machinery, and was not written by the user."""
    return file.startswith("<frozen ") or bool(_MACHINERY & {*Path(file).parts})


def _from_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file")
    module = util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
