"""What stands in a message for what the other revision cannot say: a text item, most of all."""

from __future__ import annotations

import json
from typing import Final

from .._wire.values import At, Json
from ._step import Trip, has_data, same, without


def text(value: str) -> Json:
    """A text item."""
    return {"type": "text", "text": value}


def written(value: Json) -> str:
    """JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def media_as_text(o: Json) -> Json:
    """What it is, a sound for instance, and its media type."""
    return text(f"[{o['type']}: {o['mimeType']}]")


def link_as_text(o: Json) -> Json:
    """The name and the URI of a resource."""
    return text(f"{o.get('title') or o['name']}: {o['uri']}")


def tool_use_as_text(o: Json) -> Json:
    """The tool that a model wants, and its arguments."""
    return text(f"[tool: {o['name']}] {written(o['input'])}")


def tool_result_as_text(o: Json) -> Json:
    """What a tool has returned: its texts and what none of them says, or its blocks as JSON."""
    items = o["content"]
    texts = [item["text"] for item in items if item["type"] == "text"]
    if "structuredContent" in o and not _is_said(o, "structuredContent"):
        texts.append(written(o["structuredContent"]))
    return text("\n".join(texts) or written(items))


def blocks_as_one(o: Json) -> Json:
    """The only block of a message, or the text of all."""
    if len(o) == 1 and o[0]["type"] in _WHOLE:
        return o[0]
    return text("\n".join(map(_block_text, o)))


_WHOLE: Final = frozenset(("text", "image"))


def _block_text(o: Json) -> str:
    match o["type"]:
        case "text":
            line = o["text"]
        case "tool_use":
            line = tool_use_as_text(o)["text"]
        case "tool_result":
            line = tool_result_as_text(o)["text"]
        case other:
            line = f"[{other}: {o['mimeType']}]"
    return str(line)


def structured_as_text(o: Json, wire: str, at: At, trip: Trip, why: str) -> Json:
    """`o` without a member; its JSON as a text item, unless `content` has a text that says it."""
    new = without(o, wire)
    if not _is_said(o, wire):
        trip.add(((at, "content"), len(o["content"])), "a text item is added", why)
        new["content"] = [*o["content"], text(written(o[wire]))]
    return new


def _is_said(o: Json, wire: str) -> bool:
    """Return whether a text in `content` is the JSON of a member."""
    return any(_says(item, o[wire]) for item in o["content"])


def _says(item: Json, value: Json) -> bool:
    try:
        return item["type"] == "text" and same(json.loads(item["text"]), value)
    except (ValueError, RecursionError):
        return False


def schemas_as_objects(o: Json, wire: str, at: At, trip: Trip, why: str) -> Json:
    """`o` with the schemas of a member as objects: `true` is {}, `false` is {"not": {}}."""
    schemas = o[wire]
    if schemas.__class__ is not dict:
        return without(o, wire)
    return {**o, wire: {key: _schema(item) for key, item in schemas.items()}}


def _schema(value: Json) -> Json:
    return value if value.__class__ is dict else {"not": {}} if value is False else {}


def choice_as_enum(o: Json) -> Json:
    """A field whose values have labels beside them."""
    new = {key: o[key] for key in ("type", "title", "description") if key in o}
    new["enum"] = [item["const"] for item in o["oneOf"]]
    new["enumNames"] = [item["title"] for item in o["oneOf"]]
    return new


def task_as_text(o: Json) -> Json:
    """A tool's result that says which task will have it."""
    return {"content": [text(f"[task] {written(o['task'])}")]}


def json_as_text(o: Json) -> Json:
    """JSON as a string."""
    return written(o)


def json_as_text_item(o: Json) -> Json:
    """JSON in a text item, for content of any kind."""
    return text(written(o))


def urls_in_message(error: Json, code: int) -> Json:
    """An error whose message has the addresses that its data lists."""
    items: Json = (
        error["data"]["elicitations"] if has_data(error, "elicitations") else ()
    )
    items = items if items.__class__ is list else ()
    urls = [str(item["url"]) for item in items if has_data({"data": item}, "url")]
    return {**error, "code": code, "message": " ".join([error["message"], *urls])}
