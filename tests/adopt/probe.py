"""Loads one module of a public server, and prints its tools as JSON; run by other interpreters.

    python probe.py FOLDER MODULE FUNCTION OUTPUT [ours]

It imports nothing of this project unless the last argument is `ours`, so the original package's
interpreter can run it. Libraries that are not installed are replaced by stubs.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

_SETTING = re.compile(r"""(?:environ\[|getenv\(|environ\.get\()\s*['"](\w+)['"]""")


ORIGINALS = ("mcp", "fastmcp", "mcp_runtime", "mcp_wire")


class StubType(type):
    """The class of stubs, which have any attribute and can be called, subscripted and inherited."""

    def __getattr__(cls, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(name)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if cls.__dict__.get("is_stub"):
            is_decorator = (
                len(args) == 1 and not options and isinstance(args[0], types.FunctionType)
            )
            return args[0] if is_decorator else _Instance()
        return super().__call__(*args, **options)

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return object

    __ror__ = __or__

    def __iter__(cls) -> Any:
        return iter(())


class _Instance:
    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        is_decorator = len(args) == 1 and isinstance(args[0], types.FunctionType)
        return args[0] if is_decorator else _Instance()

    def __getitem__(self, item: Any) -> Any:
        return _Instance()

    def __setitem__(self, item: Any, value: Any) -> Any:
        pass

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> Any:
        return None

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *exception: Any) -> Any:
        return None

    def __await__(self) -> Any:
        yield from ()
        return self

    def __len__(self) -> Any:
        return 0

    def __int__(self) -> Any:
        return 1

    def __float__(self) -> Any:
        return 1.0

    def __fspath__(self) -> Any:
        return "/tmp"

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __add__ = __radd__ = __truediv__ = __mul__ = __sub__ = __mod__ = __or__

    def __lt__(self, other: Any) -> Any:
        return False

    __gt__ = __le__ = __ge__ = __lt__


def stub(name: Any) -> Any:
    def schema(cls: Any, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()

    return StubType(
        name,
        (Exception,),
        {
            "is_stub": True,
            "__module__": "stubs",
            "__get_pydantic_core_schema__": classmethod(schema),
        },
    )


class StubModule(types.ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = list[str]()

    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = stub(name)
        setattr(self, name, made)
        return made


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds each module that is not installed, but no part of a package that is."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.stubbed = set[str]()

    def find_spec(self, name: Any, path: Any = None, target: Any = None) -> Any:
        top, _, rest = name.partition(".")
        parent = sys.modules.get(name.rpartition(".")[0])
        if top in sys.stdlib_module_names or top in ORIGINALS:
            return None
        is_ours = (Path(self.folder) / top).exists()
        is_elsewhere = rest and getattr(parent, "__file__", None) is None
        if is_ours and not is_elsewhere:
            return None
        if not isinstance(parent, StubModule) and not self.is_asked_by_the_server():
            return None
        self.stubbed.add(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def is_asked_by_the_server(self) -> Any:
        """Return True if a module of the folder imports, rather than a library."""
        frame = inspect.currentframe()
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            if not name.startswith("importlib") and name != __name__:
                return str(frame.f_globals.get("__file__", "")).startswith(self.folder)
            frame = frame.f_back
        return False

    def create_module(self, spec: Any) -> Any:
        return StubModule(spec.name)

    def exec_module(self, module: Any) -> Any:
        pass


class Served(BaseException):
    """The module has begun to serve."""


def main(folder: Any, name: Any, function: Any, output: Any, ours: Any = "") -> Any:
    sys.path.insert(0, folder)
    os.chdir(folder)
    sources = [each.read_text("utf-8", "replace") for each in Path(folder).rglob("*.py")]
    for setting in {each for text in sources for each in _SETTING.findall(text)}:
        os.environ.setdefault(setting, "1")
    finder = StubFinder(folder)
    sys.meta_path.append(finder)
    if ours:
        from mcp_runtime.compat import aliases

        aliases.install()
    servers: list[Any] = []
    record(servers)
    outcome: dict[str, Any] = {"error": None}
    sys.argv = [name]
    try:
        module = importlib.import_module(name)
        if not servers and function:
            call(getattr(module, function))
    except Served:
        pass
    except BaseException as error:
        outcome["error"] = f"{type(error).__name__}: {error}"[:300]
    tools: dict[str, Any] = {}
    for server in servers:
        try:
            tools |= asyncio.run(asyncio.wait_for(listed(server), 20))
        except BaseException as error:
            outcome["error"] = f"listing: {type(error).__name__}: {error}"[:300]
    outcome |= {"servers": len(servers), "tools": tools, "stubbed": sorted(finder.stubbed)}
    Path(output).write_text(json.dumps(outcome, default=str))
    os._exit(0)


def call(function: Any) -> Any:
    """Call an entry point, which may be async, with stubs for arguments without a default."""
    parameters = inspect.signature(function).parameters.values()
    needed = [
        _Instance()
        for each in parameters
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    value = function(*needed)
    if asyncio.iscoroutine(value):
        asyncio.run(asyncio.wait_for(value, 20))


def record(servers: Any) -> Any:
    """Note each server that is made; serving ends the load."""

    def served(*args: Any, **options: Any) -> Any:
        raise Served

    async def served_async(*args: Any, **options: Any) -> Any:
        raise Served

    for module, name, coroutines, functions in (
        ("mcp.server.lowlevel.server", "Server", ("run",), ()),
        ("mcp.server.fastmcp.server", "FastMCP", (), ("run",)),
        ("fastmcp.server.server", "FastMCP", ("run_async",), ("run",)),
    ):
        try:
            cls: Any = getattr(importlib.import_module(module), name)
        except ImportError:
            continue
        note(cls, servers)
        for each in coroutines:
            setattr(cls, each, served_async)
        for each in functions:
            setattr(cls, each, served)


def note(cls: Any, servers: Any) -> Any:
    make = cls.__init__

    def init(self: Any, *args: Any, **options: Any) -> Any:
        make(self, *args, **options)
        if self not in servers:
            servers.append(self)

    cls.__init__ = init


async def listed(server: Any) -> Any:
    """Return the tools of a server, by name."""
    if hasattr(server, "tool"):
        tools: Any = await (
            server.get_tools() if hasattr(server, "get_tools") else server.list_tools()
        )
        listing: list[Any] = list(tools.values() if hasattr(tools, "values") else tools)
        items: list[Any] = [
            each.to_mcp_tool() if hasattr(each, "to_mcp_tool") else each for each in listing
        ]
    else:
        mcp_types: Any = importlib.import_module("mcp.types")

        handler = server.request_handlers.get(mcp_types.ListToolsRequest)
        if handler is None:
            return {}
        result = await handler(mcp_types.ListToolsRequest(method="tools/list"))
        items = getattr(result, "root", result).tools
    return {each.name: described(each) for each in items}


def described(tool: Any) -> Any:
    schema = tool.inputSchema if hasattr(tool, "inputSchema") else tool.input_schema
    return {
        "description": tool.description or "",
        "properties": sorted(schema.get("properties", {})),
        "required": sorted(schema.get("required", [])),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
