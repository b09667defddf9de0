"""The names `mcp` and `fastmcp` lead to the packages here, and cost nothing to others."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_runtime.compat import aliases, elsewhere
from tests.support.imports import modules


@pytest.fixture
def aliased() -> Iterator[None]:
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if is_original(name)}
    aliases.install()
    yield
    aliases.remove()
    sys.modules.update(kept)


def is_original(name: str) -> bool:
    return name.partition(".")[0] in aliases.PACKAGES


@pytest.mark.usefixtures("aliased")
@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("mcp", "ClientSession"),
        ("mcp", "McpError"),
        ("mcp", "stdio_server"),
        ("mcp.types", "TextContent"),
        ("mcp.server", "Server"),
        ("mcp.server.fastmcp", "FastMCP"),
        ("mcp.server.fastmcp.prompts.base", "UserMessage"),
        ("mcp.server.sse", "SseServerTransport"),
        ("mcp.client.streamable_http", "streamablehttp_client"),
        ("fastmcp", "FastMCP"),
        ("fastmcp", "Client"),
        ("fastmcp.server.dependencies", "get_http_headers"),
        ("fastmcp.tools.tool", "ToolResult"),
        ("fastmcp.utilities.types", "File"),
    ],
)
def test_an_alias_is_the_module_here(name: str, member: str) -> None:
    module = importlib.import_module(name)
    assert module is importlib.import_module(elsewhere.PREFIX + name)
    assert module.__spec__ is not None
    assert module.__spec__.name == elsewhere.PREFIX + name
    assert hasattr(module, member)


def way_out(statement: str) -> str:
    """Return the text behind "instead use" in the error of an import."""
    try:
        exec(statement)
    except ImportError as error:
        return str(error).partition("instead use ")[2]
    return "nothing: the import succeeds"


@pytest.mark.usefixtures("aliased")
def test_a_missing_module_tells_the_way_to_do_the_same() -> None:
    ways = {name: way_out(f"import {name}") for name in elsewhere.MODULES}
    assert ways == elsewhere.MODULES


@pytest.mark.usefixtures("aliased")
def test_a_missing_name_tells_the_way_to_do_the_same_by_both_ways_in() -> None:
    named = {name: name.rpartition(".") for name in elsewhere.NAMES}
    for prefix in ("", elsewhere.PREFIX):
        ways = {
            name: way_out(f"from {prefix}{module} import {child}")
            for name, (module, _, child) in named.items()
        }
        assert ways == elsewhere.NAMES


def test_a_missing_name_without_a_row_is_an_attribute_error() -> None:
    modules = {name.rpartition(".")[0] for name in elsewhere.NAMES}
    for module in modules:
        with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Nothing'"):
            _ = importlib.import_module(elsewhere.PREFIX + module).Nothing


@pytest.mark.usefixtures("aliased")
def test_a_missing_module_without_a_row_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"mcp\.nowhere is not in mcp_runtime\.compat"):
        importlib.import_module("mcp.nowhere")


def test_an_original_that_is_imported_already_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fastmcp", type(sys)("fastmcp"))
    with pytest.raises(RuntimeError, match="fastmcp is imported already"):
        aliases.install()


@pytest.mark.wide
def test_nothing_outside_imports_the_room(root: Path) -> None:
    outside = [
        module.name
        for module in modules(root / "runtime", "mcp_runtime")
        if module.parts[1:2] != ["compat"]
        for imported in module.imports
        if imported.within("mcp_runtime.compat")
    ]
    assert outside == []
