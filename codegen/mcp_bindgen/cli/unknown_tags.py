"""Finds tags of doc comments that bind nothing: `inspect` lists them, and `generate` warns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_bindgen import pins

__all__ = ["unknown_tags"]


def unknown_tags(file: pins.Found) -> Iterator[tuple[str, str, str]]:
    """The place of each, the path of its declaration or member, and the tag as it is written."""
    from mcp_bindgen.ir.tags import is_known
    from mcp_bindgen.source import Source, read_source
    from mcp_bindgen.source.rewrite import documented

    source = Source(file.data, file.path)
    for path, node in documented(read_source(source)):
        for tag in node.doc.tags if node.doc else ():
            if not is_known(tag):
                yield source.place(node.at), path, f"@{tag.name} {tag.rest}".rstrip()
