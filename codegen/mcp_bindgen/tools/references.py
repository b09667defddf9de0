"""Resolves `$ref` within one JSON Schema, and collects all schemas that apply to one value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import unquote

from mcp_bindgen.tools.json_document import JsonPath, Node
from mcp_bindgen.tools.keywords import SCHEMA, canonical, check_keywords

__all__ = ["References"]

_REF_STANDS_ALONE: Final = tuple(f"draft-0{number}/" for number in (4, 6, 7))
"""The drafts in which the neighbours of `$ref` are ignored."""
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class References:
    """The references within the schema `root`."""

    def __init__(self, root: Node) -> None:
        self.root = root
        draft = root.members.get("$schema")
        self._names_itself = '"$id"' in canonical(root.value)
        self._alone = isinstance(draft, str) and any(each in draft for each in _REF_STANDS_ALONE)

    def target(self, node: Node) -> Node | None:
        """The target of a reference within this schema; None for other nodes."""
        ref = node.members.get("$ref")
        if ref is None or not (ref == "#" or ref.startswith("#/")):
            return None
        target = self.root
        for token in ref.split("/")[1:]:
            key = unquote(token).replace("~1", "/").replace("~0", "~")
            if key in target.members:
                target = target.below(key)
            elif isinstance(target.value, list) and key in map(str, range(len(target.items))):
                target = target.below(int(key))
            else:
                raise node.error(f"{canonical(ref)} leads nowhere")
        return check_keywords(target.require(*SCHEMA))

    def flat(self, nodes: Iterable[Node]) -> list[Node]:
        """The schemas themselves: references followed, `allOf` taken apart; none twice."""
        basics: dict[JsonPath, Node] = {}
        queue: list[tuple[Node, tuple[JsonPath, ...]]] = [(node, ()) for node in nodes]
        while queue:
            node, chain = queue.pop(0)
            if node.key in chain:
                raise node.error("refers to itself")
            if node.key in basics:
                continue
            basics[node.key] = check_keywords(node)
            chain = (*chain, node.key)
            queue[:0] = [(inner, chain) for inner in self._conjuncts(node)]
        return [self._without_neighbours(node) for node in basics.values()]

    def targets(self, value: object) -> dict[str, object]:
        """The schemas reachable from a value, by their references.

        An unresolvable reference counts as one to the whole schema.
        """
        targets: dict[str, object] = {}
        queue = [replace(self.root, value=value)]
        while queue:
            node = queue.pop()
            for keyword in _REFERENCES & node.members.keys():
                ref = node.members[keyword]
                if isinstance(ref, str) and ref not in targets:
                    target = self.target(node) if keyword == "$ref" else None
                    targets[ref] = target.value if target else self._unresolved(ref)
                    queue += [target] if target else []
            queue += [replace(node, value=v) for v in (*node.members.values(), *node.items)]
        return targets

    def _unresolved(self, ref: str) -> object:
        return None if _ABSOLUTE.match(ref) and not self._names_itself else self.root.value

    def _conjuncts(self, node: Node) -> Iterator[Node]:
        """The schemas which hold together with a schema: `allOf`, and the target of `$ref`."""
        if (target := self.target(node)) is not None:
            yield target
        if not self.stands_alone(node.members):
            yield from (node.below("allOf", n) for n in range(len(node.members.get("allOf", ()))))

    def _without_neighbours(self, node: Node) -> Node:
        """A schema without the neighbours of `$ref`, in drafts which ignore them."""
        if self.stands_alone(node.members):
            return replace(node, value={"$ref": node.members["$ref"]})
        return node

    def stands_alone(self, members: Mapping[str, Any]) -> bool:
        """Return whether a schema is a reference whose neighbours do not count."""
        return self._alone and "$ref" in members
