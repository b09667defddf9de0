"""Converts return values of handlers to content blocks, prompt messages and resource contents."""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, ClassVar, Final, TypeAlias, cast, get_args

import msgspec
from msgspec import Struct

from mcp_runtime.core.terms.meta_names import require_meta
from mcp_runtime.json_schema.to_json import (
    PLAIN,
    BadResult,
    Step,
    children,
    place,
    to_json,
    to_text,
)
from mcp_runtime.revisions import DecodeError
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.uri_template import is_uri

Meta: TypeAlias = dict[str, Any] | t.Unset


# ---- bytes as content; for all other content there are the models of `types`


class _Media(Struct, frozen=True):
    _model: ClassVar[Callable[..., t.ImageContent | t.AudioContent]]

    data: bytes
    mime_type: str
    annotations: t.Annotations | t.Unset = t.UNSET
    meta: Meta = t.UNSET

    def __post_init__(self) -> None:
        _require_fit(self.mime_type, self.meta)

    def block(self) -> t.ContentBlock:
        return self._model(
            data=_base64(self.data),
            mime_type=self.mime_type,
            annotations=self.annotations,
            meta=self.meta,
        )


class Image(_Media, frozen=True):
    """A picture: the bytes of its file, and a type such as `image/png`. Raises ValueError."""

    _model = t.ImageContent


class Audio(_Media, frozen=True):
    """Sound: the bytes of its file, and a type such as `audio/wav`. Raises ValueError."""

    _model = t.AudioContent


class Embedded(Struct, frozen=True):
    """A resource as a whole: text as str, anything else as bytes. Raises ValueError."""

    uri: str
    data: str | bytes
    mime_type: str | None = None
    annotations: t.Annotations | t.Unset = t.UNSET
    meta: Meta = t.UNSET

    def __post_init__(self) -> None:
        _require_fit(self.mime_type, self.meta)
        if not is_uri(self.uri):
            raise ValueError(f"{self.uri[:80]!r} is not a URI")

    def block(self) -> t.EmbeddedResource:
        resource = _contents(self.data, self.uri, self.mime_type)
        return t.EmbeddedResource(resource=resource, annotations=self.annotations, meta=self.meta)


_BLOCKS: Final[tuple[type, ...]] = get_args(t.ContentBlock)
_WRAPPED: Final = (Image, Audio, Embedded)
_CONTENTS: Final = (t.TextResourceContents, t.BlobResourceContents)
BINARY: Final = (bytes, bytearray, memoryview)
_ROLES: Final[tuple[str, ...]] = get_args(t.Role)
_MESSAGE: Final = {"role", "content"}

BYTES: Final = (
    "bytes do not say what they are: return Image(data, mime_type), Audio(data, mime_type)"
    " or Embedded(uri, data, mime_type)"
)
"""Why a tool may not return bytes."""
CONTENT: Final[tuple[type, ...]] = (*_BLOCKS, *_WRAPPED)
"""The classes whose instances are content as they are."""


_MIME_TYPE: Final = re.compile(r"[\w!#$&^+.-]{1,127}/[\w!#$&^+.-]{1,127}(?:[ \t]*;.*)?", re.ASCII)


def _require_fit(mime_type: str | None, meta: Meta) -> None:
    """Raise ValueError for a malformed MIME type, or for names `_meta` cannot have."""
    if mime_type is not None:
        _require_type(mime_type, ValueError)
    if meta is not t.UNSET:
        require_meta(meta)


def _require_type(mime_type: str, error: type[Exception] = BadResult) -> None:
    if not _MIME_TYPE.fullmatch(mime_type):
        raise error(f"{mime_type[:80]!r} is not a MIME type, such as image/png")


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def _require_base64(data: str) -> None:
    """Raise BadResult unless `data` is base64."""
    try:
        a2b_base64(data, strict_mode=True)
    except (Base64Error, ValueError):
        raise BadResult("expected base64: Image, Audio and Embedded take bytes") from None


# ---- blocks


def blocks(value: object) -> list[t.ContentBlock]:
    """Convert a value to content blocks: none for None, one of text for a string, one per item of a
    list of content.

    Content passes unchanged; any other value is one block of JSON text. Raises BadResult for bytes,
    whose type is unknown, for values without a JSON form, and for content nested in anything but a
    list.
    """
    try:
        return _blocks(value)
    except RecursionError:
        raise BadResult("$: expected content, found a list that is nested too deeply") from None


def _blocks(value: object) -> list[t.ContentBlock]:
    if value is None:
        return []
    if isinstance(value, str) and value.__class__ is str:
        return [_text(value)]
    if value.__class__ in (list, tuple) and _is_content_list(items := cast("list[object]", value)):
        return [block for item in items for block in _blocks(item)]
    return [_block(value)]


def _is_content_list(items: list[object]) -> bool:
    """Return True if a list is one of content, rather than a value of its own."""
    return all(isinstance(item, str) for item in items) or is_content(items)


def is_wire_model(cls: Any) -> bool:
    """Return True if a class is a model of `types`, which holds content as its part of the
    protocol.
    """
    return getattr(cls, "__module__", None) == t.__name__


def is_content(value: object) -> bool:
    """Return True if a value is content, or a list in which content stands."""
    rest, seen = [value], set[int]()  # of lists, which may hold themselves
    while rest:
        each = rest.pop()
        if isinstance(each, CONTENT):
            return True
        if each.__class__ in (list, tuple) and id(each) not in seen:
            seen.add(id(each))
            rest += cast("list[object]", each)
    return False


def require_no_content(value: object, steps: tuple[Step, ...] = ()) -> None:
    """Raise BadResult if the value is content, or contains content at any depth."""
    if value.__class__ in PLAIN:
        return
    if isinstance(value, CONTENT):
        name = type(value).__name__
        raise BadResult(
            f"{place(steps)}: expected JSON, found {name}: content is returned alone, or in a list,"
            " from a function whose annotation says so or says nothing"
        )
    for step, each in () if is_wire_model(type(value)) else children(value):
        require_no_content(each, (*steps, step))


def _text(text: str) -> t.TextContent:
    return t.TextContent(text=_plain(text))


def _plain(text: str) -> str:
    """Convert a subclass of `str` to `str`. Raises BadResult if the text is not Unicode."""
    if not text.isascii():
        to_text(str.__str__(text))
    return str.__str__(text)


def _block(value: object) -> t.ContentBlock:
    if isinstance(value, _BLOCKS):
        return cast("t.ContentBlock", value)
    if isinstance(value, _WRAPPED):
        return value.block()
    if isinstance(value, BINARY):
        raise BadResult(BYTES)
    json = _json(value)
    return _text(json if isinstance(json, str) else to_text(json))


def _json(value: object) -> Any:
    """Convert a value to JSON. Raises BadResult if it has no JSON form, or contains content, which
    would lose its meaning.
    """
    with suppress(RecursionError):  # of which `to_json` says more
        require_no_content(value)
    return to_json(value)


# ---- prompts


def prompt_messages(value: object) -> list[t.PromptMessage]:
    """Return the messages of a prompt; without a role, a message is the user's.

    A prompt returns one message or a list of them. Each is a PromptMessage, a pair of role and
    content, a dict of these two, or content as `blocks` takes it, of which each block is a message.
    Raises BadResult.
    """
    if isinstance(value, list):
        return [message for item in cast("list[object]", value) for message in _messages(item)]
    return _messages(value)


def _messages(item: object) -> list[t.PromptMessage]:
    if isinstance(item, t.PromptMessage):
        return [msgspec.structs.replace(item, content=_check_block(item.content))]
    role, content = _pair(item)
    return [t.PromptMessage(role=role, content=_check_block(block)) for block in blocks(content)]


def _check_block(block: t.ContentBlock) -> t.ContentBlock:
    """A block of a prompt, its types, data and URIs checked. Raises BadResult.

    Source: 2025-11-25 server/prompts, "PromptMessage".
    """
    if isinstance(block, t.ImageContent | t.AudioContent):
        _require_type(block.mime_type)
        _require_base64(block.data)
    if isinstance(block, t.EmbeddedResource):
        return msgspec.structs.replace(block, resource=_checked_resource(block.resource))
    return block


_ASSUMED: Final[dict[type, str]] = {
    t.TextResourceContents: "text/plain",
    t.BlobResourceContents: "application/octet-stream",
}
"""The MIME type of contents that name none."""


def _checked_resource(
    resource: t.TextResourceContents | t.BlobResourceContents,
) -> t.TextResourceContents | t.BlobResourceContents:
    if type(resource) is t.BlobResourceContents:
        _require_base64(resource.blob)
    assumed = _ASSUMED.get(type(resource))
    if assumed is None:  # contents of a kind that is not known here
        return resource
    if not is_uri(resource.uri):
        raise BadResult(f"{resource.uri[:80]!r} is not a URI")
    if resource.mime_type is t.UNSET:
        return msgspec.structs.replace(resource, mime_type=assumed)
    _require_type(resource.mime_type)
    return resource


def _pair(item: object) -> tuple[Any, object]:
    value = _from_dict(cast("dict[str, object]", item)) if isinstance(item, dict) else item
    if not isinstance(value, tuple):
        return "user", value
    pair = cast("tuple[object, ...]", value)
    if len(pair) != 2 or pair[0] not in _ROLES:
        raise BadResult(f"expected a pair of role ({' or '.join(_ROLES)}) and content")
    return pair[0], pair[1]


def _from_dict(message: dict[str, object]) -> object:
    """Return role and content of a dict with exactly these members, else the dict. Raises
    BadResult.
    """
    if message.keys() != _MESSAGE:
        return message
    content = message["content"]
    try:
        block = t.from_wire(t.ContentBlock, content) if isinstance(content, dict) else content
        return message["role"], block
    except DecodeError as error:
        raise BadResult(f"the content of a message: {error}") from None


# ---- resources


def resource_contents(
    value: object, uri: str, mime_type: str | None
) -> list[t.TextResourceContents | t.BlobResourceContents]:
    """Convert the function's return value to the contents of the resource at `uri`; None gives an
    empty list.

    str is text; bytes, Image and Audio are a blob; Embedded and contents of `types` pass; a list of
    these gives several contents. Any other value is JSON, and so is such a list if `mime_type` is a
    JSON type. Raises BadResult.
    """
    if value is None:
        return []
    if value.__class__ is list and not _is_json_type(mime_type):
        items = cast("list[object]", value)
        if all(isinstance(item, (str, *BINARY, *_CONTENTS, *_WRAPPED)) for item in items):
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
    if isinstance(value, BINARY):
        blob = _base64(cast("bytes", value))
        return t.BlobResourceContents(uri=uri, blob=blob, mime_type=mime)
    if isinstance(value, str):
        return t.TextResourceContents(uri=uri, text=_text(value).text, mime_type=mime)
    if isinstance(value, _Media):
        return _contents(value.data, uri, value.mime_type)
    if isinstance(value, Embedded):
        return value.block().resource
    mime = "application/json" if mime_type is None else mime_type
    return t.TextResourceContents(uri=uri, text=to_text(_json(value)), mime_type=mime)


# ---- completions


def suggestions(value: object) -> list[str]:
    """Convert the function's return value to the values of a completion; None gives an empty list.

    Raises BadResult unless the value is a list of texts.
    """
    if value is None:
        return []
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise BadResult(f"a completion returns a list of texts, found {type(value).__qualname__}")
    return [_suggestion(index, each) for index, each in enumerate(cast("Iterable[object]", value))]


def _suggestion(index: int, value: object) -> str:
    if not isinstance(value, str):
        raise BadResult(f"$[{index}]: expected a text, found {type(value).__qualname__}")
    return _plain(value)
