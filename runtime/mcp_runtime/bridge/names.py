"""Names of features behind a bridge: a prefix for each server, so none hides another's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

from msgspec import structs

from mcp_runtime.revisions import latest as t

Kind: TypeAlias = Literal["tool", "prompt", "resource", "template", "method"]

_URI: Final = re.compile(r"([^:/]+://)(.*)", re.DOTALL)
_SEPARATOR: Final = {"tool": "_", "prompt": "_", "resource": "+", "template": "+"}
KEYS: Final[Mapping[Kind, str]] = {
    "tool": "name",
    "prompt": "name",
    "resource": "uri",
    "template": "uri_template",
}
"""The member with the name, by kind of feature."""
FEATURES: Final[Mapping[str, tuple[Kind, str]]] = {
    "tools/call": ("tool", "name"),
    "prompts/get": ("prompt", "name"),
    "resources/read": ("resource", "uri"),
}
"""By method: the kind of the feature it uses, and the member of its params with the name."""


def add_prefix(kind: str, key: str, prefix: str) -> str:
    """Return a name or a URI with a prefix: `a_name`, `scheme://a/path`, `a+urn:x`."""
    if not prefix:
        return key
    is_uri = kind in ("resource", "template")
    match = _URI.fullmatch(key) if is_uri else None
    if match is None:
        return f"{prefix}{_SEPARATOR[kind]}{key}"
    return f"{match[1]}{prefix}/{match[2]}"


def remove_prefix(kind: str, key: str, prefix: str) -> str | None:
    """Return the name changed to `key` by `add_prefix`; None if it has another prefix."""
    if not prefix:
        return key
    is_uri = kind in ("resource", "template")
    match = _URI.fullmatch(key) if is_uri else None
    if match is not None:
        rest = match[2].removeprefix(f"{prefix}/")
        return None if rest == match[2] else f"{match[1]}{rest}"
    rest = key.removeprefix(f"{prefix}{_SEPARATOR[kind]}")
    return None if rest == key else rest


@dataclass(frozen=True, slots=True)
class Names:
    """The public names of one upstream server's features.

    `renamed` are tools by their own names, each with the name clients see. `tools` are
    patterns such as `read_*`: a tool matching none of them is neither listed nor called.
    """

    prefix: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    tools: tuple[str, ...] = ("*",)

    def serves(self, tool: str) -> bool:
        """Return True if a tool with this own name is served."""
        return any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def public(self, kind: Kind, own: str) -> str | None:
        """Return the name clients see; None for an unserved tool."""
        if kind != "tool":
            return add_prefix(kind, own, self.prefix)
        if not self.serves(own):
            return None
        return self.renamed.get(own) or add_prefix(kind, own, self.prefix)

    def own(self, kind: Kind, public: str) -> str | None:
        """Return the upstream server's own name; None if clients see no feature of it so named."""
        if kind == "tool":
            by_public = {new: old for old, new in self.renamed.items()}
            name = by_public.get(public) or remove_prefix(kind, public, self.prefix)
            is_ours = name is not None and self.public(kind, name) == public
            return name if is_ours else None
        return remove_prefix(kind, public, self.prefix)

    def publish(self, kind: Kind, model: Any) -> Any:
        """Return a model of a list with its public name; None for an unserved tool."""
        own = getattr(model, KEYS[kind])
        public = self.public(kind, own)
        if public is None or public == own:
            return None if public is None else model
        return structs.replace(model, **{KEYS[kind]: public})

    def result(self, result: Any) -> Any:
        """Return a result whose links and embedded resources have public URIs."""
        if not self.prefix:
            return result
        if isinstance(result, t.ReadResourceResult):
            return structs.replace(result, contents=[*map(self._contents, result.contents)])
        if isinstance(result, t.CallToolResult):
            return structs.replace(result, content=[*map(self._block, result.content)])
        if isinstance(result, t.GetPromptResult):
            said = [structs.replace(m, content=self._block(m.content)) for m in result.messages]
            return structs.replace(result, messages=said)
        return result

    def _block(self, block: Any) -> Any:
        if isinstance(block, t.ResourceLink):
            return structs.replace(block, uri=add_prefix("resource", block.uri, self.prefix))
        if isinstance(block, t.EmbeddedResource):
            return structs.replace(block, resource=self._contents(block.resource))
        return block

    def _contents(self, contents: Any) -> Any:
        return structs.replace(contents, uri=add_prefix("resource", contents.uri, self.prefix))


def clashes(names: Mapping[str, Names]) -> Iterator[str]:
    """Yield a sentence for each way in which a server of these could take a name of another."""
    items = list(names.items())
    for index, (one, first) in enumerate(items):
        for other, second in items[index + 1 :]:
            pair = sorted((first.prefix, second.prefix), key=len)
            if f"{pair[1]}_".startswith(f"{pair[0]}_") or not pair[0]:
                yield f"{one!r} and {other!r} need prefixes of which none begins another: {pair}"
    seen: dict[str, str] = {}
    for server, each in items:
        for new in each.renamed.values():
            if new in seen:
                yield f"{seen[new]!r} and {server!r} both rename a tool to {new!r}"
            seen[new] = server
            taken = [o for o, n in items if o != server and n.own("tool", new) is not None]
            yield from (f"{server!r} renames a tool to {new!r}, a name of {o!r}" for o in taken)
