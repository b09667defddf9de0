"""Substitutes for parts of a message without a form in the other revision: mostly a text item."""

from __future__ import annotations

import json
from typing import Final

from .._wire.values import At, Json
from ._step import Trip, has_data, same, without


def text(value: str, o: Json = ()) -> Json:
    """Return a text item in place of `o`, with its audience and priority."""
    item = {"type": "text", "text": value}
    return {**item, "annotations": o["annotations"]} if "annotations" in o else item


def json_text(value: Json) -> str:
    """Return a value as JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def media_as_text(o: Json) -> Json:
    """Return a text item with the kind of a media item and its media type."""
    return text(_media_line(o), o)


def link_as_text(o: Json) -> Json:
    """Return a text item with the name, the URI and the description of a resource."""
    return text(_link_lines(o), o)


def _link_lines(o: Json) -> str:
    lines = (f"{o.get('title') or o['name']}: {o['uri']}", o.get("description"))
    return "\n".join(filter(None, lines))


def _media_line(o: Json) -> str:
    """Return the kind and the media type of content."""
    return f"[{o['type']}: {o['mimeType']}]"


def tool_use_as_text(o: Json) -> Json:
    """Return a text item with the tool and the arguments of a model's tool call."""
    return text(f"[tool: {o['name']}] {json_text(o['input'])}")


def tool_result_as_text(o: Json) -> Json:
    """Return a text item with a tool's result.

    Blocks other than text are named; structured content is added if no text repeats it.
    """
    lines = [_block_text(item) for item in o["content"]]
    if "structuredContent" in o and not _is_said(o, "structuredContent"):
        lines.append(json_text(o["structuredContent"]))
    return text("\n".join(lines) or json_text(o["content"]))


def blocks_as_one(o: Json) -> Json:
    """Return a message's only text or image block, or one text item for all blocks."""
    if len(o) == 1 and o[0]["type"] in _WHOLE:
        return o[0]
    return text("\n".join(map(_block_text, o)))


_WHOLE: Final = frozenset(("text", "image"))


def _block_text(o: Json) -> str:
    """Return a block of content in words: a text as it is, and any other block by name."""
    match o["type"]:
        case "text":
            line = o["text"]
        case "tool_use":
            line = tool_use_as_text(o)["text"]
        case "tool_result":
            line = tool_result_as_text(o)["text"]
        case "resource_link":
            line = _link_lines(o)
        case "resource":
            line = o["resource"].get("text", f"[resource: {o['resource']['uri']}]")
        case _:
            line = _media_line(o) if "mimeType" in o else json_text(o)
    return str(line)


def structured_as_text(o: Json, wire: str, at: At, trip: Trip, why: str) -> Json:
    """Return `o` without a member, and with its JSON as a text item unless one has it already."""
    new = without(o, wire)
    if not _is_said(o, wire):
        trip.add(((at, "content"), len(o["content"])), "a text item is added", why)
        new["content"] = [*o["content"], text(json_text(o[wire]))]
    return new


def _is_said(o: Json, wire: str) -> bool:
    """Return whether a text item in `content` is the JSON of a member."""
    return any(_says(item, o[wire]) for item in o["content"])


def _says(item: Json, value: Json) -> bool:
    try:
        return item["type"] == "text" and same(json.loads(item["text"]), value)
    except (ValueError, RecursionError):
        return False


def schemas_as_objects(o: Json, wire: str, at: At, trip: Trip, why: str) -> Json:
    """Return `o` with the schemas of a member as objects: `true` as {}, `false` as {"not": {}}."""
    schemas = o[wire]
    if schemas.__class__ is not dict:
        return without(o, wire)
    return {**o, wire: {key: _schema(item) for key, item in schemas.items()}}


def _schema(value: Json) -> Json:
    return value if value.__class__ is dict else {"not": {}} if value is False else {}


def choice_as_enum(o: Json) -> Json:
    """Return an enum with labels for a choice of titled constants."""
    new = {key: o[key] for key in ("type", "title", "description") if key in o}
    new["enum"] = [item["const"] for item in o["oneOf"]]
    new["enumNames"] = [item["title"] for item in o["oneOf"]]
    return new


def task_as_text(o: Json) -> Json:
    """Return a tool's result whose text names the task."""
    return {"content": [text(f"[task] {json_text(o['task'])}")]}


def json_as_text(o: Json) -> Json:
    """Return JSON as a string."""
    return json_text(o)


def json_as_text_item(o: Json) -> Json:
    """Return JSON in a text item."""
    return text(json_text(o), o if o.__class__ is dict else ())


def urls_in_message(error: Json, code: int) -> Json:
    """Return an error whose message has the URLs of its data."""
    items: Json = (
        error["data"]["elicitations"] if has_data(error, "elicitations") else ()
    )
    items = items if items.__class__ is list else ()
    urls = [str(item["url"]) for item in items if has_data({"data": item}, "url")]
    return {**error, "code": code, "message": " ".join([error["message"], *urls])}
