"""What handlers return is content, messages and contents of the newest revision, or an error."""

from __future__ import annotations

import base64
import enum
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import pydantic
import pytest
from msgspec import UNSET, Struct, UnsetType

from mcp_runtime.json_schema.to_json import BadResult, to_json
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.functions.content import (
    Audio,
    Embedded,
    Image,
    blocks,
    prompt_messages,
    resource_contents,
    suggestions,
)
from mcp_runtime.server.functions.output_schema import StructuredOutput, tool_result
from mcp_runtime.server.functions.signature import read

PNG = b"\x89PNG\xff"
PNG_64 = base64.b64encode(PNG).decode()
URI = "file:///a"
TEXT = t.TextContent(text="t")
LINK = t.ResourceLink(uri=URI, name="a")


class Word(enum.StrEnum):
    A = "a"


@dataclass
class Point:
    x: float
    y: tuple[int, ...] = ()


class Shape(Struct):
    size: int
    note: str | UnsetType = UNSET


class Pair(NamedTuple):
    left: str
    right: str


class Model(pydantic.BaseModel):
    address: pydantic.HttpUrl
    count: int = pydantic.Field(default=1, serialization_alias="howMany")


class Measured(pydantic.BaseModel):
    size: float


class Text(str):
    __slots__ = ()


class Meters(float):
    """As `numpy.float64` is one."""


class Count(int):
    pass


class Held(enum.Enum):
    RAW = b"\xff"
    PAIR = (1, Meters(2.5))
    NOTHING = object()


class Opaque:
    pass


def text(*texts: str) -> list[t.ContentBlock]:
    return [t.TextContent(text=each) for each in texts]


def sent(content: list[t.ContentBlock]) -> list[Any]:
    """The blocks as they come back from the wire."""
    result = t.CallToolResult(content=content, result_type="complete")
    again = t.decode(t.CallToolResult, t.encode(result))
    assert again == result
    return list(again.content)


# ---- JSON


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (None, None),
        (True, True),
        (2**70, 2**70),
        ("é", "é"),
        (b"\xff", "/w=="),
        (Text("a"), "a"),
        (Word.A, "a"),
        (Meters(1.5), 1.5),
        ([Count(3)], [3]),
        ({"held": [Held.RAW, Held.PAIR]}, {"held": ["/w==", [1, 2.5]]}),
        (Point(1, (2,)), {"x": 1, "y": [2]}),
        (Shape(1), {"size": 1}),
        (Pair("a", "b"), ["a", "b"]),
        ({1: {2.5: (3,)}}, {"1": {"2.5": [3]}}),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        (date(2026, 1, 1), "2026-01-01"),
        (Decimal("1.50"), "1.50"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("/a/b"), "/a/b"),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        (OrderedDict(a=1), {"a": 1}),
        (
            [Model(address=pydantic.HttpUrl("http://a.b/"))],
            [{"address": "http://a.b/", "howMany": 1}],
        ),
        (TEXT, {"type": "text", "text": "t"}),
        ({"block": TEXT}, {"block": {"type": "text", "text": "t"}}),
        (t.ResultMetaObject(extra_={"a": 1}), {"a": 1}),
    ],
)
def test_a_value_is_json(value: Any, json: Any) -> None:
    converted = to_json(value)
    assert converted == json
    assert type(converted) is type(json)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, r"^\$: expected a finite number, found nan"),
        (-math.inf, r"^\$: expected a finite number, found -inf"),
        ({"a": [1, math.inf]}, r"^\$\.a\[1\]: expected a finite number"),
        (Point(math.nan), r"^\$\.x: expected a finite number"),
        ((1, (math.nan,)), r"^\$\[1\]\[0\]: expected a finite number"),
        (Opaque(), r"^\$: expected JSON, found Opaque"),
        ({"a": Opaque()}, r"^\$\.a: expected JSON, found Opaque"),
        ({"a": [Held.NOTHING]}, r"^\$\.a\[0\]: expected JSON, found Held"),
        ({"a": Meters(math.inf)}, r"^\$\.a: expected a finite number"),
        ({(1, 2): 3}, "expected JSON, found dict"),
        (nested(100_000), "nested too deeply"),
        (1j, "complex"),
        (Measured(size=math.nan), r"^\$\.size: expected a finite number"),
    ],
)
def test_what_json_cannot_say_is_a_bad_result(value: Any, said: str) -> None:
    with pytest.raises(BadResult, match=said):
        to_json(value)


# ---- blocks


def circle(*items: Any) -> list[Any]:
    """A list that also holds itself."""
    listed: list[Any] = [*items]
    listed.append(listed)
    return listed


@pytest.mark.parametrize("value", [circle(), circle("a", TEXT), circle({}), nested(100_000)])
@pytest.mark.parametrize("make", [blocks, prompt_messages, lambda value: tool_result(value, None)])
def test_lists_that_never_end_are_a_bad_result(make: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(BadResult, match="nested too deeply"):
        make(value)


@pytest.mark.parametrize("value", [circle(), circle(TEXT), nested(100_000)])
def test_lists_of_anything_that_never_end_are_a_bad_result(value: Any) -> None:
    with pytest.raises(BadResult, match="nested too deeply"):
        tool_result(value, of(list))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ("", text("")),
        ("é", text("é")),
        (Text("a"), text("a")),
        (Word.A, text("a")),
        (3, text("3")),
        (True, text("true")),
        ({"a": (1, None)}, text('{"a":[1,null]}')),
        ([1, 2], text("[1,2]")),
        ([], []),
        (["a", "b"], text("a", "b")),
        (("a", None, TEXT, {"b": 1}), text("a", "t", '{"b":1}')),
        (Pair("a", "b"), text('["a","b"]')),
        (Point(1), text('{"x":1,"y":[]}')),
        (date(2026, 1, 1), text("2026-01-01")),
        (TEXT, [TEXT]),
        ([LINK, "a"], [LINK, *text("a")]),
        (Image(PNG, "image/png"), [t.ImageContent(data=PNG_64, mime_type="image/png")]),
        (
            [Audio(PNG, "audio/wav", t.Annotations(priority=1), {"k": 1})],
            [
                t.AudioContent(
                    data=PNG_64,
                    mime_type="audio/wav",
                    annotations=t.Annotations(priority=1),
                    meta={"k": 1},
                )
            ],
        ),
        (
            Embedded(URI, "text", "text/plain"),
            [
                t.EmbeddedResource(
                    resource=t.TextResourceContents(uri=URI, text="text", mime_type="text/plain")
                )
            ],
        ),
        (
            Embedded(URI, PNG),
            [t.EmbeddedResource(resource=t.BlobResourceContents(uri=URI, blob=PNG_64))],
        ),
    ],
)
def test_a_value_is_blocks(value: Any, expected: list[t.ContentBlock]) -> None:
    assert blocks(value) == expected
    assert sent(expected) == expected


@pytest.mark.parametrize("value", [b"a", bytearray(b"a"), memoryview(b"a"), [b"a", "b", TEXT]])
def test_bytes_say_not_what_they_are(value: Any) -> None:
    with pytest.raises(BadResult, match=r"return Image\(data, mime_type\)"):
        blocks(value)


@pytest.mark.parametrize("value", ["\ud800", ["a\ud800"], {"a": "\ud800"}, Embedded(URI, "\ud800")])
def test_a_lone_surrogate_is_no_text(value: Any) -> None:
    with pytest.raises(BadResult, match="lone surrogate"):
        blocks(value)


def test_an_integer_without_end_is_no_text() -> None:
    with pytest.raises(BadResult, match=r"\$\.a: expected at most 4300 digits"):
        blocks({"a": 10**5000})


# ---- tools


def of(annotation: Any) -> StructuredOutput | None:
    def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    return read(tool, context=Opaque).output


@pytest.mark.requirement("tools.structured-content.text-mirror")
@pytest.mark.requirement("tools.structured-content.object")
def test_structured_content_is_mirrored_in_text() -> None:
    result = tool_result(Point(1), of(Point))
    assert result == t.CallToolResult(
        content=text('{"x":1,"y":[]}'),
        structured_content={"x": 1, "y": []},
        result_type="complete",
    )
    result = tool_result(3, of(int))
    assert isinstance(result, t.CallToolResult)
    assert result.structured_content == {"result": 3}
    assert result.content == text('{"result":3}')


def test_what_promises_no_structure_is_content_alone() -> None:
    result = tool_result("a", of(str))
    assert result == t.CallToolResult(content=text("a"), result_type="complete")


@pytest.mark.requirement("tools.output-schema.server-conforms")
def test_a_result_passes_if_it_keeps_the_promise() -> None:
    def result(**members: Any) -> t.CallToolResult:
        return t.CallToolResult(content=[], result_type="complete", **members)

    asks = t.InputRequiredResult(request_state="s")
    failed = result(is_error=True)
    good = result(structured_content={"result": 3})
    assert tool_result(asks, of(int)) is asks
    assert tool_result(failed, of(int)) is failed
    assert tool_result(good, of(int)) == good
    assert tool_result(good, of(str)) == good
    made = tool_result(result(structured_content=Point(1)), of(Point))
    assert made == result(structured_content={"x": 1, "y": []})
    with pytest.raises(BadResult, match="found none"):
        tool_result(result(), of(int))
    with pytest.raises(BadResult, match="expected integer"):
        tool_result(result(structured_content={"result": "3"}), of(int))
    held = {"a": 1.0}
    changed = result(structured_content=held)
    held["a"] = math.nan
    with pytest.raises(BadResult, match=r"\$\.a: expected a finite number"):
        tool_result(changed, of(str))


# ---- prompts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", [("user", "a")]),
        (["a", "b"], [("user", "a"), ("user", "b")]),
        (("assistant", "a"), [("assistant", "a")]),
        (
            [("user", "a"), ("assistant", ["b", "c"])],
            [("user", "a"), ("assistant", "b"), ("assistant", "c")],
        ),
        (t.PromptMessage(role="assistant", content=TEXT), [("assistant", "t")]),
        (
            [t.PromptMessage(role="assistant", content=TEXT), TEXT],
            [("assistant", "t"), ("user", "t")],
        ),
        ([{"role": "assistant", "content": "a"}], [("assistant", "a")]),
        ({"role": "user", "content": {"type": "text", "text": "a"}}, [("user", "a")]),
        ({"role": "user"}, [("user", '{"role":"user"}')]),
        (None, []),
    ],
)
def test_a_value_is_messages(value: Any, expected: list[tuple[Any, str]]) -> None:
    assert prompt_messages(value) == [
        t.PromptMessage(role=role, content=t.TextContent(text=each)) for role, each in expected
    ]


def test_an_image_is_a_message_of_the_user() -> None:
    assert prompt_messages([Image(PNG, "image/png")]) == [
        t.PromptMessage(role="user", content=t.ImageContent(data=PNG_64, mime_type="image/png"))
    ]


@pytest.mark.parametrize(
    "value",
    [
        ("system", "a"),
        ("user",),
        [("user", "a", "b")],
        [(1, "a")],
        {"role": "system", "content": "a"},
    ],
)
def test_a_pair_has_a_role_and_content(value: Any) -> None:
    with pytest.raises(BadResult, match="role"):
        prompt_messages(value)


def test_a_message_as_a_dict_has_content_of_the_protocol() -> None:
    with pytest.raises(BadResult, match="the content of a message: "):
        prompt_messages([{"role": "user", "content": {"type": "text"}}])


# ---- resources

Contents = Callable[..., Any]


def a_text(text: str, mime_type: Any = UNSET) -> t.TextResourceContents:
    return t.TextResourceContents(uri=URI, text=text, mime_type=mime_type)


def a_blob(mime_type: Any = UNSET) -> t.BlobResourceContents:
    return t.BlobResourceContents(uri=URI, blob=PNG_64, mime_type=mime_type)


OTHER = t.TextResourceContents(uri="file:///b", text="b")


@pytest.mark.parametrize(
    ("value", "mime_type", "expected"),
    [
        (None, None, []),
        ("a", None, [a_text("a")]),
        ("a", "text/html", [a_text("a", "text/html")]),
        ('{"a": 1}', "application/json", [a_text('{"a": 1}', "application/json")]),
        (PNG, "image/png", [a_blob("image/png")]),
        (bytearray(PNG), None, [a_blob()]),
        (OTHER, "text/html", [OTHER]),
        ([OTHER, "a", PNG], None, [OTHER, a_text("a"), a_blob()]),
        (["a"], "application/json", [a_text('["a"]', "application/json")]),
        (["a"], "application/ld+JSON; q=1", [a_text('["a"]', "application/ld+JSON; q=1")]),
        ([1], None, [a_text("[1]", "application/json")]),
        (Point(1), None, [a_text('{"x":1,"y":[]}', "application/json")]),
        ({"a": 1}, "text/x-mine", [a_text('{"a":1}', "text/x-mine")]),
        ([], None, []),
    ],
)
def test_a_value_is_contents(value: Any, mime_type: str | None, expected: list[Any]) -> None:
    assert resource_contents(value, URI, mime_type) == expected


@pytest.mark.parametrize("value", [Opaque(), {"a": math.nan}, "\ud800"])
def test_what_no_resource_can_hold_is_a_bad_result(value: Any) -> None:
    with pytest.raises(BadResult):
        resource_contents(value, URI, None)


# ---- completions


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        (["a", Word.A, Text("b")], ["a", "a", "b"]),
        ({"x": 1}, ["x"]),
        (iter("ab"), ["a", "b"]),
    ],
)
def test_texts_are_suggestions(value: Any, expected: list[str]) -> None:
    made = suggestions(value)
    assert made == expected
    assert {type(each) for each in made} <= {str}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a", "a completion returns a list of texts, found str"),
        (b"a", "a completion returns a list of texts, found bytes"),
        (3, "a completion returns a list of texts, found int"),
        (["a", 3], r"^\$\[1\]: expected a text, found int"),
        (["cut \ud83d"], "expected text, found a lone surrogate"),
    ],
)
def test_what_is_no_list_of_texts_is_a_bad_result(value: Any, said: str) -> None:
    with pytest.raises(BadResult, match=said):
        suggestions(value)
