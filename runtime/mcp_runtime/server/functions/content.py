"""What handlers return, as content, messages and results of the newest revision."""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, get_args

import msgspec

from mcp_runtime.json_schema.to_json import BadResult, to_json, to_text
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.meta_names import require_meta
from mcp_runtime.shared.uri_template import is_uri

if TYPE_CHECKING:
    from mcp_runtime.server.functions.signature import Signature

__all__ = [
    "CONTENT",
    "Audio",
    "BadResult",
    "Embedded",
    "Image",
    "blocks",
    "prompt_messages",
    "resource_contents",
    "to_json",
    "tool_result",
]

Meta: TypeAlias = dict[str, Any] | t.Unset


# ---- what spares an author base64 and nesting; the models of `latest` serve for the rest


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: the bytes of its file, and a type such as `image/png`. Raises ValueError."""

    data: bytes
    mime_type: str
    annotations: t.Annotations | t.Unset = t.UNSET
    meta: Meta = t.UNSET

    def __post_init__(self) -> None:
        _require_fit(self.mime_type, self.meta)

    def block(self) -> t.ImageContent:
        return t.ImageContent(
            data=_base64(self.data),
            mime_type=self.mime_type,
            annotations=self.annotations,
            meta=self.meta,
        )


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound: the bytes of its file, and a type such as `audio/wav`. Raises ValueError."""

    data: bytes
    mime_type: str
    annotations: t.Annotations | t.Unset = t.UNSET
    meta: Meta = t.UNSET

    def __post_init__(self) -> None:
        _require_fit(self.mime_type, self.meta)

    def block(self) -> t.AudioContent:
        return t.AudioContent(
            data=_base64(self.data),
            mime_type=self.mime_type,
            annotations=self.annotations,
            meta=self.meta,
        )


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource as a whole: text as str, anything else as bytes. Raises ValueError."""

    uri: str
    data: str | bytes
    mime_type: str | None = None
    annotations: t.Annotations | t.Unset = t.UNSET
    meta: Meta = t.UNSET

    def __post_init__(self) -> None:
        _require_fit(self.mime_type, self.meta)
        if not is_uri(self.uri):
            raise ValueError(f"{self.uri[:80]!r} is no URI")

    def block(self) -> t.EmbeddedResource:
        resource = _contents(self.data, self.uri, self.mime_type)
        return t.EmbeddedResource(resource=resource, annotations=self.annotations, meta=self.meta)


_BLOCKS: Final[tuple[type, ...]] = get_args(t.ContentBlock)
_WRAPPED: Final = (Image, Audio, Embedded)
_CONTENTS: Final = (t.TextResourceContents, t.BlobResourceContents)
_BINARY: Final = (bytes, bytearray, memoryview)
_ROLES: Final[tuple[str, ...]] = get_args(t.Role)

CONTENT: Final[tuple[type, ...]] = (*_BLOCKS, *_WRAPPED)
"""The classes whose instances are content as they are."""


_MIME_TYPE: Final = re.compile(r"[\w!#$&^+.-]{1,127}/[\w!#$&^+.-]{1,127}(?:[ \t]*;.*)?", re.ASCII)


def _require_fit(mime_type: str | None, meta: Meta) -> None:
    """Raises ValueError for what is no type, and for what `_meta` cannot have."""
    if mime_type is not None and not _MIME_TYPE.fullmatch(mime_type):
        raise ValueError(f"{mime_type[:80]!r} is no MIME type, such as image/png")
    if meta is not t.UNSET:
        require_meta(meta)


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def _require_base64(data: str) -> None:
    """Raises BadResult."""
    try:
        a2b_base64(data, strict_mode=True)
    except (Base64Error, ValueError):
        raise BadResult("expected base64: Image, Audio and Embedded take bytes") from None


# ---- tools


def tool_result(value: object, signature: Signature) -> t.CallToolResult | t.InputRequiredResult:
    """What a tool returned, as its result.

    Results of `latest` pass, their structured content as JSON. Raises BadResult if that does not
    fit the signature's output schema, or is missing, and for what is no content.
    """
    if isinstance(value, t.InputRequiredResult):
        return value
    if isinstance(value, t.CallToolResult):
        return _checked(value, signature)
    if signature.output_schema is None:
        return t.CallToolResult(content=blocks(value), result_type="complete")
    return _structured(signature.structured(value))


def raw_result(value: object, *, is_structured: bool) -> t.CallToolResult | t.InputRequiredResult:
    """What a tool returned whose schemas were given. Raises BadResult for what is no content."""
    if isinstance(value, t.CallToolResult | t.InputRequiredResult):
        return value
    if is_structured:
        return _structured(to_json(value))
    return t.CallToolResult(content=blocks(value), result_type="complete")


def _structured(value: Any) -> t.CallToolResult:
    mirror: list[t.ContentBlock] = [t.TextContent(text=to_text(value))]
    return t.CallToolResult(content=mirror, structured_content=value, result_type="complete")


def _checked(result: t.CallToolResult, signature: Signature) -> t.CallToolResult:
    if result.structured_content is t.UNSET:
        if signature.output_schema is None or result.is_error is True:
            return result
        raise BadResult("$.structuredContent: expected what the output schema says, found none")
    structured = to_json(result.structured_content)
    if result.is_error is not True:
        signature.check(structured)
    return msgspec.structs.replace(result, structured_content=structured)


def blocks(value: object) -> list[t.ContentBlock]:
    """None is no block, str text, content itself; a list of such is many, else one block of JSON.

    Raises BadResult for bytes, which do not say what they are, and for what is not JSON.
    """
    if value is None:
        return []
    if isinstance(value, str) and value.__class__ is str:
        return [_text(value)]
    if value.__class__ in (list, tuple) and _is_many(many := cast("list[object]", value)):
        return [block for item in many for block in blocks(item)]
    return [_block(value)]


def _is_many(items: list[object]) -> bool:
    """Whether a list is one of content, rather than a value of its own."""
    return all(isinstance(item, str) for item in items) or any(
        isinstance(item, CONTENT) for item in items
    )


def _text(text: str) -> t.TextContent:
    if not text.isascii():
        to_text(text)
    return t.TextContent(text=text)


def _block(value: object) -> t.ContentBlock:
    if isinstance(value, _BLOCKS):
        return cast("t.ContentBlock", value)
    if isinstance(value, _WRAPPED):
        return value.block()
    if isinstance(value, _BINARY):
        raise BadResult(
            "bytes do not say what they are: return Image(data, mime_type), Audio(data, mime_type)"
            " or Embedded(uri, data, mime_type)"
        )
    json = to_json(value)
    return _text(json if isinstance(json, str) else to_text(json))


# ---- prompts


def prompt_messages(value: object) -> list[t.PromptMessage]:
    """The messages of a prompt; what names no role is said by the user.

    One message or a list of them, each a PromptMessage, a pair of role and content, or content as
    `blocks` takes it, of which every block is a message. Raises BadResult.
    """
    if isinstance(value, list):
        return [message for item in cast("list[object]", value) for message in _messages(item)]
    return _messages(value)


def _messages(item: object) -> list[t.PromptMessage]:
    if isinstance(item, t.PromptMessage):
        return [msgspec.structs.replace(item, content=_sound(item.content))]
    role, content = _pair(item)
    return [t.PromptMessage(role=role, content=_sound(block)) for block in blocks(content)]


def _sound(block: t.ContentBlock) -> t.ContentBlock:
    """With a type and data that are some, and a resource's type and URI. Raises BadResult.

    Source: 2025-11-25 server/prompts, "PromptMessage".
    """
    if isinstance(block, t.ImageContent | t.AudioContent):
        _require_type(block.mime_type)
        _require_base64(block.data)
    if isinstance(block, t.EmbeddedResource):
        return msgspec.structs.replace(block, resource=_typed(block.resource))
    return block


def _typed(
    resource: t.TextResourceContents | t.BlobResourceContents,
) -> t.TextResourceContents | t.BlobResourceContents:
    if not is_uri(resource.uri):
        raise BadResult(f"{resource.uri[:80]!r} is no URI")
    assumed = "text/plain"
    if isinstance(resource, t.BlobResourceContents):
        _require_base64(resource.blob)
        assumed = "application/octet-stream"
    if resource.mime_type is t.UNSET:
        return msgspec.structs.replace(resource, mime_type=assumed)
    _require_type(resource.mime_type)
    return resource


def _require_type(mime_type: str) -> None:
    if not _MIME_TYPE.fullmatch(mime_type):
        raise BadResult(f"{mime_type[:80]!r} is no MIME type, such as image/png")


def _pair(item: object) -> tuple[Any, object]:
    if not isinstance(item, tuple):
        return "user", item
    pair = cast("tuple[object, ...]", item)
    if len(pair) != 2 or pair[0] not in _ROLES:
        raise BadResult(f"expected a pair of role ({' or '.join(_ROLES)}) and content")
    return pair[0], pair[1]


# ---- resources


def resource_contents(
    value: object, uri: str, mime_type: str | None
) -> list[t.TextResourceContents | t.BlobResourceContents]:
    """The contents of the resource at `uri`; None has none.

    str is text, bytes are a blob, contents of `latest` pass, and a list of such is many. Anything
    else is JSON, and so is such a list if `mime_type` is of JSON. Raises BadResult.
    """
    if value is None:
        return []
    if value.__class__ is list and not _is_json_type(mime_type):
        items = cast("list[object]", value)
        if all(isinstance(item, (str, *_BINARY, *_CONTENTS)) for item in items):
            return [_contents(item, uri, mime_type) for item in items]
    return [_contents(value, uri, mime_type)]


def _is_json_type(mime_type: str | None) -> bool:
    essence = (mime_type or "").partition(";")[0].strip().lower()
    return essence == "application/json" or essence.endswith("+json")


def _contents(
    value: object, uri: str, mime_type: str | None
) -> t.TextResourceContents | t.BlobResourceContents:
    mime = t.UNSET if mime_type is None else mime_type
    if isinstance(value, _CONTENTS):
        if isinstance(value, t.BlobResourceContents):
            _require_base64(value.blob)
        return value
    if isinstance(value, _BINARY):
        blob = _base64(cast("bytes", value))
        return t.BlobResourceContents(uri=uri, blob=blob, mime_type=mime)
    if isinstance(value, str):
        return t.TextResourceContents(uri=uri, text=_text(value).text, mime_type=mime)
    mime = "application/json" if mime_type is None else mime_type
    return t.TextResourceContents(uri=uri, text=to_text(to_json(value)), mime_type=mime)
