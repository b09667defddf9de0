"""A JSON file whose values know where they stand: parsed, with the byte offset of each."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from mcp_bindgen.errors import InputError
from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.source import Source
from mcp_bindgen.source.text import printable

__all__ = ["Document", "JsonPath", "Node", "read_documents", "steps"]

JsonPath: TypeAlias = tuple[str | int, ...]

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_SPACE: Final = re.compile(r"\s*")
_LONGEST: Final = 60


def steps(path: JsonPath) -> str:
    """A path without the number of its document, such as `$.tools[0]`."""
    each = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:])
    return f"${printable(''.join(each))}"


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its text, and the byte offset of each value by number of the document and path."""

    source: Source
    offsets: dict[JsonPath, int]

    def wrong(self, path: JsonPath, expected: str, value: object) -> NoReturn:
        """Raise InputError for a value at a place."""
        text = json.dumps(value)
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        raise self.error(path, f"expected {expected}, found {shown}")

    def error(self, path: JsonPath, message: str, remedy: str = "Mend the file.") -> InputError:
        place = self.source.place(self.offsets.get(path, 0))
        return InputError(f"{place}: {steps(path)}: {message}", remedy=remedy)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document and its path; the path begins with the document's number.

    `part` names a value inside the node's text, for messages.
    """

    document: Document
    value: Any
    path: JsonPath
    part: str = ""

    @property
    def key(self) -> JsonPath:
        """Equal for the same value, or part of it, alone."""
        return (*self.path, self.part)

    @property
    def members(self) -> dict[str, Any]:
        """The members of an object; empty for other values."""
        return object_of(self.value) or {}

    @property
    def items(self) -> list[Any]:
        """The items of an array; empty for other values."""
        return list_of(self.value) or []

    @property
    def at(self) -> int:
        return self.document.offsets.get(self.path, 0)

    def below(self, *inner: str | int) -> Node:
        value = self.value
        for step in inner:
            value = value[step]
        return Node(self.document, value, (*self.path, *inner))

    def require(self, holds: Callable[[Any], bool], expected: str) -> Node:
        """The node itself. Raises InputError where its value is not as expected."""
        if not holds(self.value):
            self.document.wrong(self.path, expected, self.value)
        return self

    def error(self, message: str, remedy: str = "Mend the file.") -> InputError:
        return self.document.error(self.path, message, remedy)


def read_documents(data: bytes, path: str) -> list[Node]:
    """Read the JSON values of a file, one after the other.

    Raises InputError if the text is not JSON, SchemaError if it is too large or too deep.
    """
    source = Source(data, path)
    text = source.data.decode()
    values: list[Any] = []
    end = _SPACE.match(text, 0)
    while end is not None and end.end() < len(text):
        try:
            value, stop = _DECODER.raw_decode(text, end.end())
        except json.JSONDecodeError as error:
            at = len(text[: error.pos].encode())
            raise InputError(
                f"{source.place(at)}: is not JSON: {error.msg}", remedy="Mend the file."
            ) from None
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{source.path}: is not JSON that we read: {error}", remedy="Mend the file."
            ) from None
        values.append(value)
        end = _SPACE.match(text, stop)
    document = Document(source, _offsets(source.data))
    return [Node(document, value, (number,)) for number, value in enumerate(values)]


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:_LONGEST]} is beyond a double")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) > sys.float_info.max:
        raise ValueError(f"{text[:_LONGEST]}… is beyond a double")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


_DECODER: Final = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_constant)


def _offsets(data: bytes) -> dict[JsonPath, int]:
    """The byte offset of each value in a sequence of valid JSON documents."""
    offsets: dict[JsonPath, int] = {}
    path: list[str | int | None] = [-1]  # of the value to come; None where a key comes first
    for token in _TOKEN.finditer(data):
        match token[0][:1]:
            case b"}" | b"]":
                path.pop()
            case b",":
                last = path[-1]
                path[-1] = last + 1 if isinstance(last, int) else None
            case b":":
                pass
            case first:
                if path[-1] is None:
                    path[-1] = json.loads(token[0])
                    continue
                if len(path) == 1 and isinstance(path[0], int):
                    path[0] += 1
                offsets[tuple(step for step in path if step is not None)] = token.start()
                if first in (b"{", b"["):
                    path.append(None if first == b"{" else 0)
    return offsets
