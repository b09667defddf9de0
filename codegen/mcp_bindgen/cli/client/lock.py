"""`mcp-tools.lock`: the lists of a server as they were seen, with the digest of each item.

It is JSON with sorted members, so that equal lists are equal bytes; `diff --tools` reads it too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcp_bindgen import pins
from mcp_bindgen.errors import InputError
from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.listing import KINDS, listed, other_lists

__all__ = ["LISTS", "NAME", "Lock", "digests", "lock_of", "parse"]

NAME: Final = "mcp-tools.lock"
_KINDS: Final = {members[0]: kind for kind, (members, _) in KINDS.items()}
"""The lists beside tools, each with the kind of its items."""
LISTS: Final = {"tools": "name", **{name: KINDS[kind][1] for name, kind in _KINDS.items()}}
"""The lists, each with the key of its items."""
_FORMAT: Final = 1
_NEEDED: Final = frozenset(("for", "from", "seen"))
_EDITED: Final = "Take its committed version, or lock anew with --update."


@dataclass(frozen=True, slots=True)
class Lock:
    """The parsed members of a lock."""

    members: Mapping[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.members, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @property
    def data(self) -> bytes:
        return self.text.encode()

    @property
    def source(self) -> str:
        return str(self.members["from"])

    @property
    def seen(self) -> str:
        """The date on which the lists were first seen as they are."""
        return str(self.members["seen"])

    @property
    def target(self) -> str:
        return str(self.members["for"])

    @property
    def title(self) -> str:
        """The server's name and version, as it says them."""
        said = object_of(self.members.get("server")) or {}
        return f"{said.get('name', 'a server')} {said.get('version', '')}".strip()

    def is_equal(self, other: Lock) -> bool:
        """Return whether both have the same items."""
        return bool(self.members["digests"] == other.members["digests"])

    def tool_digests(self) -> dict[str, dict[str, str]]:
        """The digests of each tool by member, and of the whole tool by an empty name."""
        from mcp_runtime import definition_digest

        return {
            tool["name"]: {
                "": definition_digest(tool),
                **{m: definition_digest({m: tool[m]}) for m in sorted(tool) if m != "_meta"},
            }
            for tool in _items(self.members, "tools")
        }


def lock_of(
    data: bytes, source: str, target: str, seen: str, left_out: list[str] | None = None
) -> Lock:
    """A lock of lists that were read from a server or a file. Raises InputError.

    An item that is not a tool is not in the lock: `left_out` gets its place, with the reason.
    """

    def leave_out(node: Node, why: str) -> None:
        if left_out is not None:
            left_out.append(f"{node.document.source.place(node.at)}: {why}")

    tools = [node.value for node in listed(data, source, leave_out)]
    others = other_lists(data, source)
    lists = {name: [n.value for n in others[k]] for name, k in _KINDS.items() if k in others}
    said = _object(data)
    members = {
        "format": _FORMAT,
        "for": target,
        "from": source,
        "seen": seen,
        "server": said.get("server"),
        "revision": said.get("revision"),
        "tools": tools,
        **lists,
    }
    return Lock({**members, "digests": digests(members)})


def _object(data: bytes) -> dict[str, Any]:
    try:
        whole: Any = json.loads(data)
    except ValueError:  # several pages, one after the other
        return {}
    return object_of(whole) or {}


def digests(lists: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The digest of each item, by list and by key."""
    from mcp_runtime import definition_digest

    return {
        name: {item[key]: definition_digest(item) for item in _items(lists, name)}
        for name, key in LISTS.items()
        if name in lists
    }


def _items(lists: Mapping[str, Any], name: str) -> list[Any]:
    return list_of(lists.get(name)) or []


def parse(path: Path) -> Lock:
    """Read a lock. Raises InputError, also for one that was edited by hand."""
    try:
        members: Any = json.loads(pins.read_bytes(path))
        lock = Lock(members)
        if members["format"] != _FORMAT:
            remedy = "A newer mcp-bindgen wrote it: update yours."
            raise InputError(f"{path}: has format {members['format']}", remedy=remedy)
        is_whole = members["digests"] == digests(members)
        missing = _NEEDED - members.keys()
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"{path}: is not a lock of mcp-bindgen", remedy=_EDITED) from None
    if missing:
        raise InputError(f"{path}: lacks {', '.join(sorted(missing))}", remedy=_EDITED)
    if not is_whole:
        raise InputError(f"{path}: a definition does not have its digest", remedy=_EDITED)
    return lock
