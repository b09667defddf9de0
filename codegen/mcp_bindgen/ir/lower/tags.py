"""Machine tags of doc comments: their bounds, and the kind of value each applies to.

Tags mean the same as in the JSON Schema generators which read them: `@asType integer`, `@TJS-type
integer` and `@type integer` are equal, `@items.NAME` applies to the items of an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp_bindgen.errors import SchemaError
from mcp_bindgen.ir.lower.facts import FLAG_TAGS, TEXT_TAGS, tag_value
from mcp_bindgen.ir.model import Arr, Bounded, Kind, Limits, Type, Uni
from mcp_bindgen.ir.values.pattern_cost import AS_TIMELY, timely
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.source import syntax

__all__ = ["Tags", "is_known"]

_LIMITS: Final[dict[str, tuple[Kind, str]]] = {
    "minimum": ("number", "minimum"),
    "maximum": ("number", "maximum"),
    "exclusiveMinimum": ("number", "exclusive_minimum"),
    "exclusiveMaximum": ("number", "exclusive_maximum"),
    "multipleOf": ("number", "multiple_of"),
    "minItems": ("array", "min_items"),
    "maxItems": ("array", "max_items"),
    "uniqueItems": ("array", "unique_items"),
    "minLength": ("string", "min_length"),
    "maxLength": ("string", "max_length"),
    "pattern": ("string", "pattern"),
}
_TYPES: Final = frozenset({"TJS-type", "asType", "type"})
_KINDS: Final[dict[str, Kind]] = {
    "object": "object",
    "array": "array",
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}
_SIZES: Final = frozenset({"minItems", "maxItems", "minLength", "maxLength"})
_INFORM: Final = frozenset(
    [
        *("description", "title", "summary", "remarks", "example", "examples", "see", "link"),
        *("param", "returns", "throws", "template", "typeParam", "since", "version", "author"),
        *("todo", "public", "alpha", "beta", "experimental", "readonly", "packageDocumentation"),
    ]
)
_BINDING: Final = "|".join((*_LIMITS, "asType", "TJS-type", "additionalProperties", "deprecated"))
_INSIDE: Final = re.compile(rf"```.*?```|\s(@(?:items\.)?(?:{_BINDING}))\b")
"""A binding tag which does not begin a line; fences are skipped."""
_QUOTED: Final = re.compile("`[^`]*`")
"""Quoted text which TypeScript skips in a tag; in a description it reads a tag there."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """The meaning of a tag: the limit `name` for values of `kind`; without a name, only the
    kind.
    """

    tag: str
    kind: Kind
    name: str = ""
    value: Any = None


def is_known(tag: syntax.Tag) -> bool:
    """Return whether a tag has a meaning here, or in tools which show comments."""
    if tag.name == "items":
        return tag.rest.startswith(".") and is_known(_of_items(tag))
    bounding = tag.name in _LIMITS or tag.name == "additionalProperties"
    return bounding or tag.name in (_TYPES | _INFORM | FLAG_TAGS | TEXT_TAGS)


def _of_items(tag: syntax.Tag) -> syntax.Tag:
    """`@items.minimum 1` as the tag `@minimum 1` of the items."""
    name, _, rest = tag.rest.removeprefix(".").partition(" ")
    return syntax.Tag(name, rest.strip())


def _bounds(tags: Sequence[syntax.Tag]) -> Iterator[_Bound]:
    """The bounds of the tags, in order. Raises ValueError, with words, for a malformed tag."""
    for tag in tags:
        if tag.name in _LIMITS:
            kind, name = _LIMITS[tag.name]
            yield _Bound(tag.name, kind, name, _value(tag))
        elif tag.name in _TYPES:
            word = tag.rest.strip("{}")
            if word not in _KINDS:
                raise ValueError(f"`@{tag.name} {tag.rest}` does not name a type of JSON")
            integer = word == "integer"
            yield _Bound(tag.name, _KINDS[word], "integer" if integer else "", integer)


def _value(tag: syntax.Tag) -> Any:
    """The value of a limit."""
    if tag.name == "pattern":
        try:
            python_pattern(tag.rest)
        except ValueError as error:
            raise ValueError(f"`@pattern {tag.rest}` cannot be read: {error}") from None
        return tag.rest
    if tag.name == "uniqueItems":
        return _flag(tag)
    value = tag_value(tag)
    if value is None or (tag.name == "multipleOf" and value <= 0):
        raise ValueError(f"`@{tag.name} {tag.rest}` has no number that it can be")
    if tag.name in _SIZES and (isinstance(value, float) or value < 0):
        raise ValueError(f"`@{tag.name} {tag.rest}` is not a whole number of at least 0")
    return value


def _flag(tag: syntax.Tag) -> bool:
    if tag.rest not in ("", "true", "false"):
        raise ValueError(f"`@{tag.name} {tag.rest}` is neither true nor false")
    return tag.rest != "false"


class Tags:
    """Binds the tags of doc comments to types; a tag which cannot be bound is an error at its
    place.

    `require` checks at the end, with all declarations known, that types have values of a bound's
    kind.
    """

    def __init__(
        self, error: Callable[[int, str, str], SchemaError], *, lenient: bool = False
    ) -> None:
        self._error = error
        self._lenient = lenient
        self.slips: list[tuple[int, SchemaError]] = []
        """If lenient: the place and the error of each tag that was left unbound."""
        self._bound: list[tuple[int, _Bound, Type]] = []

    def with_bounds(self, type: Type, doc: syntax.Doc | None, at: int) -> Type:
        """`type` within the bounds of its comment, bounds of items included."""
        try:
            tags = self._tags(doc, at)
            inner = [_of_items(tag) for tag in tags if tag.name == "items" and is_known(tag)]
            within = self._items(type, inner, at) if inner else type
            return self._within(within, tags, at) if tags else within
        except SchemaError as error:
            self._slip(at, error)
            return type

    def _slip(self, at: int, error: SchemaError) -> None:
        """Raise the error, unless it is only to be noted."""
        if not self._lenient:
            raise error
        self.slips.append((at, error))

    def _tags(self, doc: syntax.Doc | None, at: int) -> Sequence[syntax.Tag]:
        """The binding tags; refuse a tag within a line, since TypeScript reads it and we do not."""
        if doc is None:
            return ()
        for text in (doc.description, *(_QUOTED.sub("", tag.rest) for tag in doc.tags)):
            for inside in filter(None, _INSIDE.findall(text)):
                message = f"`{inside}` stands inside a line"
                remedy = "Begin a line of the comment with it, or put a backtick right before it."
                raise self._error(at, message, remedy)
        return doc.tags

    def _within(self, type: Type, tags: Sequence[syntax.Tag], at: int) -> Type:
        stated = self._bounds_of(tags, at)
        if not stated:
            return type
        self._bound += [(at, bound, type) for bound in stated]
        limits = Limits(**{bound.name: bound.value for bound in stated if bound.name})
        try:
            limits = timely(limits)
        except ValueError as error:
            message = f"`@pattern {limits.pattern}` may take for ever: {error}"
            raise self._error(at, message, AS_TIMELY) from None
        return type if limits == Limits() else Bounded(type, limits)

    def _bounds_of(self, tags: Sequence[syntax.Tag], at: int) -> list[_Bound]:
        try:
            return list(_bounds(tags))
        except ValueError as error:
            raise self._error(at, str(error), "Mend the tag, or take it out.") from None

    def _items(self, type: Type, tags: Sequence[syntax.Tag], at: int) -> Type:
        if isinstance(type, Arr):
            return Arr(self._within(type.of, tags, at))
        if isinstance(type, Uni) and any(isinstance(arm, Arr) for arm in type.arms):
            arms = (self._items(a, tags, at) if isinstance(a, Arr) else a for a in type.arms)
            return Uni(tuple(arms))
        message = f"`@items.{tags[0].name}` on a type that is not an array"
        raise self._error(at, message, "Put it where the array is written, or take it out.")

    def refuse(self, doc: syntax.Doc | None, at: int, what: str) -> None:
        """Refuse the bounds of a comment on a declaration which cannot have bounds."""
        try:
            for bound in self._bounds_of(self._tags(doc, at), at):
                if bound.kind != "object" or bound.name:
                    raise self._misplaced_tags(bound, at, what)
        except SchemaError as error:
            self._slip(at, error)

    def require(self, kinds: Callable[[Type], frozenset[Kind]]) -> None:
        """Refuse a bound on a type without values of its kind."""
        for at, bound, type in self._bound:
            if bound.kind not in kinds(type):
                self._slip(at, self._misplaced_tags(bound, at, "a type without such values"))

    def _misplaced_tags(self, bound: _Bound, at: int, what: str) -> SchemaError:
        message = f"`@{bound.tag}` applies to values of type {bound.kind}, but stands on {what}"
        return self._error(at, message, "Put it on such a type, or take it out.")

    # ---- members that are not listed

    def with_rest(self, shape: syntax.Inline, doc: syntax.Doc | None, at: int) -> syntax.Inline:
        """A shape with `@additionalProperties` applied to its unlisted members."""
        tag = next((t for t in doc.tags if t.name == "additionalProperties"), None) if doc else None
        if tag is None:
            return shape
        if shape.index:
            message = "`@additionalProperties` beside an index signature"
            raise self._error(at, message, "Take the tag out.")
        try:
            of = syntax.Keyword("unknown" if _flag(tag) else "never", at)
        except ValueError as error:
            raise self._error(at, str(error), "Write true or false.") from None
        key = syntax.Keyword("string", at)
        index = syntax.Index("key", key, of, False, None, at)
        return syntax.Inline(shape.members, (index,), shape.at)
