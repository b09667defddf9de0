"""Lists what a server has: tools with their signatures, resources, templates and prompts."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcp_bindgen.cli import COULD_NOT, FINDINGS, OK
from mcp_bindgen.cli.show import in_one_line, safe, safe_text, say, warn
from mcp_bindgen.errors import BindgenError, InputError

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["list_all"]

_METHOD_NOT_FOUND: Final = -32601
_NAMED: Final = 20
"""Items left out of a list which are named; the rest is counted."""
_INDENT: Final = 12
_NARROWEST: Final = 40


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of feature: its capability, and the client's method to list it."""

    name: str
    capability: str
    method: str


_KINDS: Final = (
    _Kind("tools", "tools", "list_tools"),
    _Kind("resources", "resources", "list_resources"),
    _Kind("templates", "resources", "list_resource_templates"),
    _Kind("prompts", "prompts", "list_prompts"),
)


@dataclass(slots=True)
class _Listing:
    """For each kind: the items of the server, and the error if they could not be listed in full.

    A kind with a failed list has no items, not even an empty list.
    """

    items: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    errors: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def status(self) -> int:
        """2 if a kind could not be listed, 1 if single items were left out, else 0."""
        if self.errors.keys() - self.items.keys():
            return COULD_NOT
        return FINDINGS if self.errors else OK


async def list_all(client: Client, *, as_json: bool) -> int:
    """Print all lists; return the exit status. Raises InputError if nothing could be listed."""
    listing = _Listing()
    for kind in _KINDS:
        if kind.capability in client.server_capabilities:
            await _list_kind(client, kind, listing)
    for name, error in listing.errors.items():
        what = "cannot all be listed" if name in listing.items else "cannot be listed"
        warn(f"mcp-bindgen: the {name} {what}: {in_one_line(error)}")
    if listing.errors and not listing.items:
        raise InputError("nothing could be listed")
    (_say_json if as_json else _say_text)(client, listing)
    return listing.status


async def _list_kind(client: Client, kind: _Kind, listing: _Listing) -> None:
    """List the items of one kind. An unknown method counts as an empty list."""
    from mcp_runtime.errors import LocalError, PeerError, RemoteError

    before, known = client.forgiven.get("item", 0), len(client.problems)
    try:
        items = await getattr(client, kind.method)()
        if left_out := client.forgiven.get("item", 0) - before:
            named = [str(problem) for problem in client.problems[known:][:_NAMED]]
            more = [f"and {left_out - len(named)} more"] if left_out > len(named) else []
            listing.errors[kind.name] = "; ".join([*named, *more])
        if items or not left_out:
            listing.items[kind.name] = items
    except RemoteError as error:
        if error.code == _METHOD_NOT_FOUND:
            listing.items[kind.name] = []
        else:
            listing.errors[kind.name] = str(error)
    except (PeerError, LocalError) as error:
        if not client.is_connected:
            raise
        listing.errors[kind.name] = str(error)


def _say_json(client: Client, listing: _Listing) -> None:
    from mcp_runtime.revisions import latest

    written = {
        kind.name: [latest.to_wire(item) for item in listing.items.get(kind.name, ())]
        for kind in _KINDS
        if kind.name in listing.items or kind.name not in listing.errors
    }
    errors = {"errors": listing.errors} if listing.errors else {}
    document = {"revision": client.revision, **written, **errors}
    say(safe_text(json.dumps(document, ensure_ascii=False)))


def _say_text(client: Client, listing: _Listing) -> None:
    info = client.server_info
    name = "?" if info is None else f"{info.name} {info.version}".rstrip()
    say(safe(f"{name}, MCP {client.revision}"))
    for kind, items in listing.items.items():
        signature = _signature if kind == "tools" else _parameters
        for item in items:
            for line in _lines(kind[:-1], f"{_name(item)}{signature(item)}{_describe(item)}"):
                say(line)


def _lines(kind: str, text: str) -> Iterator[str]:
    """One item; on a terminal in lines of its width, indented below the first one."""
    line = safe(f"  {kind:<9} {text}")
    if not sys.stdout.isatty():
        yield line
        return
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    yield from textwrap.wrap(line, width, subsequent_indent=" " * _INDENT) or [line]


def _name(item: Any) -> str:
    return str(getattr(item, "uri_template", None) or getattr(item, "uri", None) or item.name)


def _describe(item: Any) -> str:
    text = item.description if isinstance(item.description, str) else ""
    first = next(iter(text.strip().splitlines()), "")
    return f": {first}" if first else ""


def _parameters(item: Any) -> str:
    """The parameters of a prompt in parentheses; empty for items which have none."""
    given: Any = getattr(item, "arguments", None)
    if given.__class__ is not list:
        return ""
    names = [f"{each.name}{'' if each.required is True else '?'}" for each in given]
    return f"({', '.join(names)})"


def _signature(tool: Any) -> str:
    """The parameters of a tool in parentheses, as TypeScript writes them; `(…)` if its schema
    cannot be read.
    """
    from mcp_bindgen.tools.signature import signature
    from mcp_runtime.revisions import latest

    try:
        return signature(latest.encode(tool), tool.name)
    except (BindgenError, RecursionError):
        return "(…)"
