"""Converts return values of tools as `mcp` 1.x and as `fastmcp` do."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final, cast

from msgspec import structs

from mcp_runtime.compat import models
from mcp_runtime.compat.media import Media
from mcp_runtime.compat.models import Model, wire
from mcp_runtime.compat.shapes import items_of, members_of
from mcp_runtime.json_schema.to_json import BadResult, to_json
from mcp_runtime.revisions import latest as t
from mcp_runtime.revisions import revision

_BLOCKS: Final = frozenset(
    {"TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "ResourceLink"}
)


def text_block(text: str) -> Model:
    return models.model("TextContent")(type="text", text=text)


def is_block(value: object) -> bool:
    """Return True if a value is content of `mcp.types`."""
    return isinstance(value, Model) and type(value).__name__ in _BLOCKS


def one_by_one(value: object) -> list[Model]:
    """Convert a value as `mcp` 1.x does: each item of a list is a block, JSON is indented."""
    if value is None:
        return []
    if (items := items_of(value)) is not None:
        return [block for each in items for block in one_by_one(each)]
    return [_single(value, 2)]


def as_whole(value: object) -> list[Model]:
    """Convert a value as `fastmcp` does: a list without content is one block of JSON."""
    items = items_of(value)
    if value is None or value == []:
        return []
    if items and any(is_block(each) or isinstance(each, Media) for each in items):
        return [_single(each, None) for each in items]
    return [_single(value, None)]


def _single(value: object, indent: int | None) -> Model:
    if is_block(value):
        return cast("Model", value)
    if isinstance(value, Media):
        return value.block()
    return text_block(value if isinstance(value, str) else json_text(value, indent))


def json_text(value: object, indent: int | None = None) -> str:
    """Write a value as JSON; parts without a JSON form are written as `str` gives them."""
    separators = (",", ":") if indent is None else None
    return json.dumps(
        plain_json(value), indent=indent, separators=separators, ensure_ascii=False, default=str
    )


def plain_json(value: object) -> Any:
    """Convert a value to parsed JSON; parts without a JSON form become text."""
    try:
        return wire(value)
    except BadResult:
        pass
    if (members := members_of(value)) is not None:
        return {str(name): plain_json(each) for name, each in members.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(each) for each in cast("list[Any]", value)]
    return _shown(value)


def _shown(value: object) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float):
        return None
    try:
        return to_json(vars(value)) if hasattr(value, "model_dump") else str(value)
    except BadResult:
        return str(value)


def for_revision(result: Any, name: str) -> Any:
    """Return the result of a tool as a client of that revision gets it from the originals.

    The content says everything already, so clients that do not know structured content get no
    text for it.
    """
    if not isinstance(result, t.CallToolResult):
        return result
    if not result.content or _has_structure(name):
        return result
    return structs.replace(result, structured_content=t.UNSET)


@cache
def _has_structure(name: str) -> bool:
    """Return True if a revision has structured content."""
    fields: tuple[str, ...] = revision(name).models.CallToolResult.__struct_fields__
    return "structured_content" in fields
