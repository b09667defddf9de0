"""The tools of a file: the result of `tools/list` in each of the forms in which it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_TOOLS
from mcp_bindgen.tools.json_document import Node, read_documents

__all__ = ["listed"]


def listed(
    data: bytes, path: str, leave_out: Callable[[Node, str], None] | None = None
) -> list[Node]:
    """The tools of a file: the result of `tools/list`, the whole response, a list of tools, or
    several pages, one after the other or in a list.

    Raises InputError for other contents, for an unfinished list, for a list which reports errors,
    and for two tools of one name; SchemaError for a file too large or too deep. An item without a
    name or an input schema is refused, unless `leave_out` is given: it receives the item and the
    reason.
    """
    documents = read_documents(data, path)
    if not documents:
        raise InputError(f"{path}: is empty", remedy="Give the result of `tools/list`.")
    pages = [page for document in documents for page in _pages(document)]
    tools = [tool for page in pages for tool in _of_page(page, leave_out)]
    if len(tools) > MAX_TOOLS:
        raise documents[0].error(f"lists {len(tools)} tools, more than {MAX_TOOLS}")
    if pages[-1].members.get("nextCursor") is not None:
        raise (
            pages[-1]
            .below("nextCursor")
            .error("the list of tools goes on", remedy="Put the next pages into the file too.")
        )
    if leave_out is not None:
        return [*_distinct(tools, leave_out)]
    _require_distinct(tools)
    return tools


def _pages(document: Node) -> Iterator[Node]:
    """The parts of a document which list tools: results, or lists of tools."""
    if "error" in document.members:
        raise document.below("error").error(
            "is an error response, which lists no tools", remedy="Ask the server again."
        )
    inner = [document.below(number) for number in range(len(document.items))]
    if "result" in document.members:
        yield document.below("result")
    elif inner and not any("name" in each.members for each in inner):
        yield from (page for each in inner for page in _pages(each))
    else:
        yield document


def _of_page(page: Node, leave_out: Callable[[Node, str], None] | None = None) -> Iterator[Node]:
    if page.members.get("errors"):  # as `call --list --format json` writes them
        raise page.below("errors").error(
            "this list is not whole: the server could not list everything",
            remedy="Mend the server, and list its tools again.",
        )
    if not isinstance(page.value, list):
        expected = "the result of `tools/list`, with `tools` in it, or a list of tools"
        page = page.require(lambda v: "tools" in page.members, expected).below("tools")
    page.require(lambda v: isinstance(v, list), "a list of tools")
    for number in range(len(page.items)):
        tool = page.below(number)
        if leave_out is not None and (why := _why_no_tool(tool)):
            leave_out(tool, why)
            continue
        tool.require(lambda v: isinstance(v, dict), "a tool (an object)")
        if "name" not in tool.members or "inputSchema" not in tool.members:
            tool.document.wrong(tool.path, "a tool with `name` and `inputSchema`", tool.value)
        tool.below("name").require(lambda v: isinstance(v, str) and v != "", "the name of a tool")
        yield tool


def _why_no_tool(item: Node) -> str:
    if not isinstance(item.value, dict):
        return "it is no object"
    name = item.members.get("name")
    if not isinstance(name, str) or not name:
        return "it has no name"
    return "" if "inputSchema" in item.members else "it has no inputSchema"


def _require_distinct(tools: Iterable[Node]) -> None:
    names: set[str] = set()
    for tool in tools:
        if tool.value["name"] in names:
            raise tool.below("name").error(f"a second tool is called {tool.value['name']!r}")
        names.add(tool.value["name"])


def _distinct(tools: Iterable[Node], leave_out: Callable[[Node, str], None]) -> Iterator[Node]:
    """The first tool of each name."""
    names: set[str] = set()
    for tool in tools:
        if tool.value["name"] in names:
            leave_out(tool, "another tool before it has this name")
        else:
            names.add(tool.value["name"])
            yield tool
