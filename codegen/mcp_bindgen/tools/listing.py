"""The lists of a file: results of `tools/list` and its kin, in each form in which they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from mcp_bindgen.errors import InputError
from mcp_bindgen.limits import MAX_TOOLS
from mcp_bindgen.tools.json_document import Node, read_documents

__all__ = ["KINDS", "listed", "other_lists"]

KINDS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "prompt": (("prompts",), "name"),
    "resource": (("resources",), "uri"),
    "template": (("resourceTemplates", "templates"), "uriTemplate"),
}
"""The lists beside tools: the members of a result that may hold one, and the key of its items.

`call --list` writes `templates`, the protocol `resourceTemplates`.
"""


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
    pages = [page for page in pages if not _lists_others(page)] or pages
    tools = [tool for page in pages for tool in _of_page(page, leave_out)]
    if len(tools) > MAX_TOOLS:
        raise documents[0].error(f"lists {len(tools)} tools, more than {MAX_TOOLS}")
    _require_last(pages, "tools")
    if leave_out is not None:
        return [*_distinct(tools, leave_out)]
    _require_distinct(tools)
    return tools


def other_lists(data: bytes, path: str) -> dict[str, list[Node]]:
    """The prompts, resources and templates of a file, by kind; a kind without a list is left out.

    Raises InputError for items without a key, for two items of one key, and for unfinished lists.
    """
    pages = [page for document in read_documents(data, path) for page in _pages(document)]
    lists: dict[str, list[Node]] = {}
    for kind, (names, key) in KINDS.items():
        parts = [(page, name) for page in pages for name in names if name in page.members]
        if not parts:
            continue
        _require_last([page for page, _ in parts], f"{kind}s")
        items = [item for page, name in parts for item in _items(page.below(name), kind, key)]
        if len(items) > MAX_TOOLS:
            raise pages[0].error(f"lists {len(items)} {kind}s, more than {MAX_TOOLS}")
        _require_distinct(items, kind, key)
        lists[kind] = items
    return lists


def _items(page: Node, kind: str, key: str) -> Iterator[Node]:
    page.require(lambda v: isinstance(v, list), f"a list of {kind}s")
    for number in range(len(page.items)):
        item = page.below(number).require(lambda v: isinstance(v, dict), f"a {kind} (an object)")
        if key not in item.members:
            item.document.wrong(item.path, f"a {kind} with `{key}`", item.value)
        item.below(key).require(lambda v: isinstance(v, str) and v != "", f"the {key} of a {kind}")
        yield item


def _lists_others(page: Node) -> bool:
    """Return whether a page is of another list alone."""
    names = [name for names, _ in KINDS.values() for name in names]
    return "tools" not in page.members and any(name in page.members for name in names)


def _require_last(pages: Iterable[Node], what: str) -> None:
    """Raise InputError if the last page says that another one follows."""
    *_, last = pages
    if last.members.get("nextCursor") is not None:
        raise last.below("nextCursor").error(
            f"the list of {what} goes on", remedy="Put the next pages into the file too."
        )


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


def _require_distinct(items: Iterable[Node], kind: str = "tool", key: str = "name") -> None:
    names: set[str] = set()
    for item in items:
        if item.value[key] in names:
            raise item.below(key).error(f"a second {kind} is called {item.value[key]!r}")
        names.add(item.value[key])


def _distinct(tools: Iterable[Node], leave_out: Callable[[Node, str], None]) -> Iterator[Node]:
    """The first tool of each name."""
    names: set[str] = set()
    for tool in tools:
        if tool.value["name"] in names:
            leave_out(tool, "another tool before it has this name")
        else:
            names.add(tool.value["name"])
            yield tool
