"""A handler's signature is a schema for the peer, and a reader that takes exactly what fits."""

from __future__ import annotations

import enum
import functools
import inspect
import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypedDict,
    TypeVar,
)

import hypothesis
import jsonschema_rs
import pydantic
import pytest
import typing_extensions
from hypothesis import strategies as st
from msgspec import Meta, Struct

from mcp_runtime.json_schema.to_json import BadResult
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.functions.content import Image
from mcp_runtime.server.functions.input_schema import BadArguments
from mcp_runtime.server.functions.output_schema import StructuredOutput
from mcp_runtime.server.functions.parameters import Header
from mcp_runtime.server.functions.signature import (
    Signature,
    read,
    read_prompt,
    read_template,
)

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers

State = TypeVar("State")


class Context(Generic[State]):
    pass


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A place."""

    x: int
    y: int = 0


@dataclass
class Tree:
    name: str
    below: list[Tree] = field(default_factory=list["Tree"])


class Options(TypedDict):
    deep: bool
    note: NotRequired[Annotated[str, Meta(description="a word")]]


class Light(typing_extensions.TypedDict, total=False):
    level: Annotated[int, pydantic.Field(ge=0, le=254)]


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Shape(Struct, forbid_unknown_fields=True, tag=True):
    size: float


class Box(Struct, tag=True):
    pass


class Ball(Struct, tag=True):
    pass


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    count: int = pydantic.Field(ge=1, description="how many")
    when: datetime | None = None


@dataclass
class Span:
    """Looks at its own members."""

    start: int
    end: int = 9

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise ValueError("the start must lie before the end")
        if self.start < 0:
            raise TypeError("Invalid value of start: it is negative")


@pydantic.dataclasses.dataclass
class Checked:
    size: Annotated[int, pydantic.Field(le=3)]


Name = NewType("Name", str)


def of(function: Callable[..., Any]) -> Signature:
    """The signature; its schemas are valid, and refer to themselves only."""
    signature = read(function, context=Context)
    output = None if signature.output is None else signature.output.schema
    for schema in (signature.input_schema, output):
        if schema is not None:
            assert schema["type"] == "object"
            assert "$schema" not in schema
            jsonschema_rs.Draft202012Validator(schema)
            jsonschema_rs.meta.validate(schema)
    return signature


def taking(annotation: Any, default: Any = None, *, required: bool = True) -> Signature:
    def tool(**_: Any) -> None: ...

    made: Any = tool
    if required:

        def plain(value: Any) -> None: ...

        made = plain
    else:

        def defaulted(value: Any = default) -> None: ...

        made = defaulted
    made.__annotations__["value"] = annotation
    return of(made)


def returning(annotation: Any) -> Signature:
    def tool() -> Any: ...

    tool.__annotations__["return"] = annotation
    return of(tool)


def promised(annotation: Any) -> StructuredOutput:
    """What a tool with that return annotation promises."""
    output = returning(annotation).output
    assert output is not None
    return output


# ---- the schema of what is taken


def test_a_plain_signature_is_an_object_that_takes_no_more() -> None:
    def add(a: int, b: float = 1.5) -> int:
        """Adds.

        Both are numbers.
        """
        return a + int(b)

    signature = of(add)
    assert signature.info.name == "add"
    assert signature.info.doc.description == "Adds.\n\nBoth are numbers."
    assert signature.input_schema == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "number", "default": 1.5}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert not signature.info.is_async
    assert signature.info.context is None


@pytest.mark.requirement("tools.input-schema.no-parameters-closed")
@pytest.mark.requirement("tools.input-schema.valid-object")
def test_no_parameters_are_a_closed_object() -> None:
    async def now(ctx: Context[int]) -> None: ...

    signature = of(now)
    assert signature.input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert signature.info.context == "ctx"
    assert signature.info.is_async
    assert signature.read({}) == {}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Any, {}),
        (object, {"description": "Any JSON."}),
        (list[Any], {"type": "array", "items": {}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Literal[1, 2], {"enum": [1, 2], "type": "integer"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Literal["b", None, "a"], {"enum": ["b", None, "a"]}),
        (list[Literal["a"]], {"type": "array", "items": {"enum": ["a"], "type": "string"}}),
        (Name, {"type": "string"}),
        (dict[str, list[int]], None),
        (
            Annotated[int, Meta(ge=0, le=9, description="a digit")],
            {"type": "integer", "minimum": 0, "maximum": 9, "description": "a digit"},
        ),
        (Annotated[str, "a word"], {"type": "string", "description": "a word"}),
        (
            Annotated[int | str, "either"],
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "either"},
        ),
        (Annotated[int, pydantic.Field(gt=3)], {"type": "integer", "exclusiveMinimum": 3}),
        (pydantic.PositiveInt, {"type": "integer", "exclusiveMinimum": 0}),
    ],
)
def test_an_annotation_is_a_schema(annotation: Any, schema: dict[str, Any] | None) -> None:
    property_schema = taking(annotation).input_schema["properties"]["value"]
    assert property_schema == schema or (schema is None and property_schema["type"] == "object")


def test_classes_are_definitions_of_the_same_schema() -> None:
    def tool(
        tree: Tree, point: Point, options: Options, pair: Pair, shape: Shape, model: list[Model]
    ) -> None: ...

    schema = of(tool).input_schema
    assert {"Tree", "Point", "Options", "Pair", "Shape", "Model"} <= set(schema["$defs"])
    assert schema["properties"]["model"]["items"] == {"$ref": "#/$defs/Model"}
    assert schema["$defs"]["Model"]["properties"]["count"]["minimum"] == 1
    for ref in refs(schema):
        assert ref.startswith("#/$defs/")
        assert ref.rpartition("/")[2] in schema["$defs"]


def refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"]
        for each in schema.values():
            yield from refs(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from refs(each)


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (None, True),
        (Color.RED, True),
        ([1, [2]], True),
        (Point(1, 2), True),
        (math.inf, False),
        (object(), False),
    ],
)
def test_a_default_is_in_the_schema_if_json_can_say_it(default: object, shown: bool) -> None:
    signature = taking(Any, default, required=False)
    assert ("default" in signature.input_schema["properties"]["value"]) is shown
    assert signature.read({})["value"] == default


def test_what_only_its_class_may_set_is_no_member_of_a_parameter() -> None:
    @dataclass
    class User:
        name: str
        is_admin: bool = field(default=False, init=False)

    for annotation in (list[User], User | None):
        with pytest.raises(TypeError, match=r"value: .*User\.is_admin has init=False"):
            taking(annotation)

    def tool() -> User: ...

    output, user = of(tool).output, User("Ada")
    user.is_admin = True
    assert output is not None
    assert output.write(user) == {"name": "Ada", "is_admin": True}


def test_a_type_alias_that_holds_itself_is_refused() -> None:
    names: dict[str, Any] = {}
    if sys.version_info < (3, 12):
        names["alias"], said = typing_extensions.TypeAliasType("alias", int), "is not supported"
    else:
        exec("type alias = list[alias] | int", names)
        said = "holds itself, as only a class can"
    with pytest.raises(TypeError, match=f"value: .*alias.* {said}"):
        taking(names["alias"])

    def tool() -> None: ...

    tool.__annotations__["return"] = names["alias"]
    with pytest.raises(TypeError, match=said):
        read(tool, context=Context)


def test_a_call_that_changes_its_default_changes_no_other_call() -> None:
    held = [1]
    signature = taking(list[int], held, required=False)
    signature.read({})["value"].append(2)
    assert signature.read({})["value"] == held == [1]
    same = object()
    assert taking(Any, same, required=False).read({})["value"] is same


def test_an_enum_names_the_type_of_its_values() -> None:
    schema = taking(Color).input_schema
    color = {"title": "Color", "enum": ["red", "blue"], "type": "string"}
    assert schema["properties"]["value"] == color


class Painted(pydantic.BaseModel):
    color: Color = Color.RED
    few: Annotated[Color, pydantic.Field(json_schema_extra={"enum": ["red"]})]


@dataclass
class Brush:
    """Holds an enum and itself."""

    color: Color
    next: Brush | None = None


def test_an_enum_stands_where_it_is_used_since_clients_lose_definitions() -> None:
    def tool(color: Color, brush: Brush, others: list[Color | None]) -> dict[str, Color]: ...

    signature = of(tool)
    schema, output = signature.input_schema, signature.output
    color = {"title": "Color", "enum": ["red", "blue"], "type": "string"}
    assert schema["properties"]["color"] == color
    assert schema["properties"]["others"]["items"]["anyOf"][0] == color
    assert schema["$defs"]["Brush"]["properties"]["color"] == color
    assert set(refs(schema)) == {"#/$defs/Brush"}
    assert schema["$defs"].keys() == {"Brush"}
    assert output is not None
    assert list(refs(output.schema)) == []
    assert "$defs" not in output.schema


def test_what_stands_beside_a_reference_to_an_enum_is_kept() -> None:
    schema = taking(list[Painted]).input_schema
    painted = schema["$defs"]["Painted"]["properties"]
    assert painted["color"] == {"title": "Color", "enum": ["red", "blue"], "type": "string"} | {
        "default": "red"
    }
    assert painted["few"] == {"$ref": "#/$defs/Color", "enum": ["red"]}
    assert schema["$defs"].keys() == {"Color", "Painted"}


def test_choices_are_in_the_order_of_their_declaration() -> None:
    sizes = Literal["small", "medium", "large"]
    schema = taking(dict[str, list[sizes] | Color]).input_schema["properties"]["value"]
    choices = schema["additionalProperties"]["anyOf"][0]["items"]["enum"]
    assert choices == ["small", "medium", "large"]


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (int, None),
        (list[int], None),
        (Annotated[int, "how many"], None),
        (Annotated[int, pydantic.Field(ge=1)], None),
        (int, pydantic.Field(None, ge=1)),
        (Annotated[int, Meta(ge=1)], None),
        (Annotated[int, pydantic.AfterValidator(lambda value: value + 1), "how many"], None),
    ],
)
def test_a_parameter_with_the_default_none_takes_null(annotation: Any, default: Any) -> None:
    signature = taking(annotation, default, required=False)
    types = [one["type"] for one in signature.input_schema["properties"]["value"]["anyOf"]]
    assert types == ["array" if annotation == list[int] else "integer", "null"]
    assert signature.read({}) == signature.read({"value": None}) == {"value": None}
    with pytest.raises(BadArguments):
        signature.read({"value": "x"})


@pytest.mark.parametrize("note", [Meta(ge=1), pydantic.Field(ge=1)])
def test_the_bounds_of_a_parameter_with_the_default_none_hold(note: Any) -> None:
    signature = taking(Annotated[int, note], None, required=False)
    assert signature.input_schema["properties"]["value"]["anyOf"][0]["minimum"] == 1
    with pytest.raises(BadArguments):
        signature.read({"value": 0})


def test_a_parameter_that_a_header_mirrors_may_have_the_default_none() -> None:
    signature = taking(Annotated[str, Header("Region")], None, required=False)
    assert signature.input_schema["properties"]["value"]["type"] == "string"


def test_a_field_of_pydantic_in_annotated_has_the_default_too() -> None:
    note = pydantic.Field(default=5, ge=1, description="how many")
    signature = taking(Annotated[int, note])
    assert "required" not in signature.input_schema
    assert signature.input_schema["properties"]["value"]["default"] == 5
    assert (signature.read({}), signature.read({"value": 2})) == ({"value": 5}, {"value": 2})
    with pytest.raises(BadArguments, match="greater than or equal to 1"):
        signature.read({"value": 0})
    assert taking(Annotated[int, note], 7, required=False).read({}) == {"value": 7}
    assert taking(Annotated[int, pydantic.Field(default=3), note]).read({}) == {"value": 5}


def test_members_of_a_typed_dict_of_typing_extensions_are_bounded_by_pydantic() -> None:
    """Pydantic takes no other TypedDict before Python 3.12."""
    signature = taking(Light)
    schema = signature.input_schema["properties"]["value"]
    assert schema["properties"]["level"]["maximum"] == 254
    assert signature.read({"value": {"level": 3}}) == {"value": {"level": 3}}
    with pytest.raises(BadArguments, match="less than or equal to 254"):
        signature.read({"value": {"level": 255}})


def test_descriptions_come_from_the_annotation_then_from_the_docstring() -> None:
    def google(a: int, b: Annotated[int, "from here"], c: int = 0, d: int = 0) -> None:
        """Does it.

        Args:
            a: the first,
                over two lines
            b (int): not from here
            c: the third: with a colon

        Returns:
            d: nothing
        """

    def fields(a: int, b: int) -> None:
        """Does it.

        :param a: the first,
            over two lines
        :param int b: the second
        :returns: nothing
        """

    assert described(of(google)) == {
        "a": "the first, over two lines",
        "b": "from here",
        "c": "the third: with a colon",
        "d": None,
    }
    assert described(of(fields)) == {"a": "the first, over two lines", "b": "the second"}
    assert of(google).info.doc.description == of(fields).info.doc.description == "Does it."


def test_what_a_docstring_says_below_its_sections_is_not_lost() -> None:
    def listed(code: str, size: int = 0) -> str:
        """Runs code.

        Parameters:
        - code: what to run,
          step by step
        - `size` (int): how much

        Returns a text.

        Returns:
            A text.

        Examples:
            listed("1")
        Note: call it once.
        """
        return code

    signature = of(listed)
    assert described(signature) == {"code": "what to run, step by step", "size": "how much"}
    assert signature.info.doc.description == (
        'Runs code.\n\nReturns a text.\n\nExamples:\n    listed("1")\nNote: call it once.'
    )


def test_a_list_in_the_words_of_a_parameter_is_no_list_of_parameters() -> None:
    def paced(mode: str, fast: bool = False) -> str:
        """Runs.

        Args:
            mode: one of
            - fast: quick
            - slow: careful
            fast: whether to hurry
        """
        return mode

    words = "one of - fast: quick - slow: careful"
    assert described(of(paced)) == {"mode": words, "fast": "whether to hurry"}


def described(signature: Signature) -> dict[str, str | None]:
    properties = signature.input_schema["properties"]
    return {name: schema.get("description") for name, schema in properties.items()}


def test_names_that_are_local_to_a_function_are_known() -> None:
    @dataclass
    class Local:
        x: int

    def tool(value: Local) -> Local:
        return value

    assert of(tool).read({"value": {"x": 1}}) == {"value": Local(1)}


def test_methods_partials_and_callable_objects_are_read_too() -> None:
    class Adder:
        """Adds one."""

        def method(self, a: int) -> int:
            """Adds."""
            return a + 1

        async def __call__(self, a: int, ctx: Context[int] | None = None) -> int:
            return a + 1

    def both(a: int, b: int) -> int:
        """Adds both."""
        return a + b

    assert of(Adder().method).info.name == "method"
    assert list(of(Adder().method).input_schema["properties"]) == ["a"]
    called = of(Adder())
    assert (called.info.name, called.info.is_async, called.info.context) == ("Adder", True, "ctx")
    partial = of(functools.partial(both, b=3))
    assert (partial.info.name, partial.info.doc.description) == ("both", "Adds both.")
    assert partial.read({"a": 1}) == {"a": 1, "b": 3}


def test_an_object_around_a_function_is_read_as_the_function() -> None:
    class Retry:
        """Tries again."""

        def __init__(self, function: Callable[..., Any]) -> None:
            functools.update_wrapper(self, function)

        def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    async def fetch(url: str, ctx: Context[int]) -> int:
        """Fetches."""
        return len(url)

    info = of(Retry(fetch)).info
    assert (info.name, info.doc.description, info.context) == ("fetch", "Fetches.", "ctx")
    assert [each.annotation for each in info.parameters] == [str]
    assert (info.returns, info.is_async) == (int, False)


def test_the_types_of_a_signature_that_was_made_count() -> None:
    def made(**arguments: Any) -> Any:
        return arguments

    def declare(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Any:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(name, kind, annotation=annotation, default=default)

    parameters = [declare("count", int), declare("ctx", Context[int]), declare("x", "text", 1)]
    function: Any = made
    function.__signature__ = inspect.Signature(parameters, return_annotation=list[int])
    signature = of(function)
    assert signature.input_schema["properties"] == {
        "count": {"type": "integer"},
        "x": {"default": 1},
    }
    assert (signature.info.context, signature.info.returns) == ("ctx", list[int])


def test_a_made_signature_keeps_types_that_are_only_named() -> None:
    def whole(places: Any, count: int, hidden: str) -> None: ...

    whole.__annotations__["places"] = list["Point"]

    @functools.wraps(whole)
    def part(**arguments: Any) -> None: ...

    part.__annotations__ = whole.__annotations__  # Python 3.14 wraps what makes them, not them
    signature = inspect.signature(whole)
    kept = [signature.parameters["places"], signature.parameters["count"].replace(annotation=str)]
    made: Any = part
    made.__signature__ = signature.replace(parameters=kept)
    info = of(made).info
    assert [each.annotation for each in info.parameters] == [list[Point], str]


def test_an_object_describes_itself_where_its_call_does_not() -> None:
    class Quiet:
        """Adds one."""

        def __call__(self, a: int) -> int:
            return a + 1

    assert of(Quiet()).info.doc.description == "Adds one."


# ---- refused when it is decorated


def yields() -> Iterator[int]:
    yield 1


async def yields_later() -> AsyncIterator[int]:
    yield 1


def two_contexts(one: Context[int], other: Context[int]) -> None: ...
def any_number(*values: int) -> None: ...
def any_name(**values: int) -> None: ...


@dataclass
class HasUnknown:
    value: OnlyForCheckers | None = None


def in_member(value: HasUnknown) -> None: ...
def in_result() -> HasUnknown: ...
def without_name(value: int, /) -> None: ...
def no_json(value: Callable[[], int]) -> None: ...
def no_json_result() -> Context[int]: ...
def for_checkers(value: OnlyForCheckers) -> None: ...
def mixed(value: list[Model | Shape]) -> None: ...
def number(value: Annotated[float, Header("A")]) -> None: ...
def several(value: Annotated[list[str], Header("A")]) -> None: ...
def perhaps(value: Annotated[str | None, Header("A")] = None) -> None: ...
def inside(value: list[Annotated[str, Header("A")]]) -> None: ...
def twice(a: Annotated[str, Header("A-b")], b: Annotated[str, Header("a-B")]) -> None: ...


@pytest.mark.requirement("tools.x-mcp-header.primitive-types")
@pytest.mark.requirement("tools.x-mcp-header.statically-reachable")
@pytest.mark.requirement("tools.x-mcp-header.unique")
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (yields, "yields"),
        (yields_later, "yields"),
        (two_contexts, "one and other both take the Context"),
        (any_number, "parameter values: takes any number"),
        (any_name, "parameter values: takes values of any name"),
        (without_name, "parameter value: is positional only"),
        (no_json, "parameter value: "),
        (no_json_result, "annotate it with a type that has"),
        (for_checkers, "OnlyForCheckers"),
        (in_member, "parameter value: HasUnknown has a member of the type OnlyForCheckers"),
        (in_result, "HasUnknown has a member of the type OnlyForCheckers"),
        (mixed, "parameter value: pydantic"),
        (number, "parameter value: cannot have a Header"),
        (several, "parameter value: cannot have a Header"),
        (perhaps, "parameter value: cannot have a Header"),
        (inside, "parameter value: has a Header inside"),
        (twice, "parameter b: Header a-B is there twice"),
    ],
)
def test_what_cannot_be_called_by_name_is_refused(function: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said) as refused:
        read(function, context=Context)
    assert str(refused.value).startswith(f"{function.__name__}()")


def test_a_method_without_its_object_is_refused_with_the_remedy() -> None:
    class Weather:
        def forecast(self, city: str) -> str:
            return city

        @classmethod
        def cities(cls) -> str:
            return cls.__name__

    with pytest.raises(TypeError, match=r"register its method, such as thing\.forecast"):
        read(Weather.forecast, context=Context)
    assert list(of(Weather().forecast).input_schema["properties"]) == ["city"]
    assert of(Weather.cities).input_schema["properties"] == {}


@pytest.mark.parametrize(
    "annotation",
    [bytes, bytearray, memoryview, bytes | None, Image | bytes, list[str | Image | bytes]],
)
def test_a_result_of_bytes_is_refused_with_the_remedy_when_it_is_registered(
    annotation: Any,
) -> None:
    def photo() -> Any: ...

    photo.__annotations__["return"] = annotation
    for reads in (read, read_prompt):
        with pytest.raises(TypeError, match=r"photo\(\) returns bytes: .* return Image\("):
            reads(photo, context=Context)


def test_bytes_inside_a_structure_are_base64() -> None:
    output = returning(list[bytes]).output
    assert output is not None
    assert output.write([b"a"]) == {"result": ["YQ=="]}


@pytest.mark.parametrize("thing", [int, Point, 3])
def test_what_is_no_function_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match="is not a function"):
        read(thing, context=Context)


# ---- headers


@pytest.mark.requirement("tools.x-mcp-header.token-syntax")
@pytest.mark.requirement("tools.x-mcp-header.no-control-characters")
@pytest.mark.requirement("tools.x-mcp-header.not-empty")
@pytest.mark.parametrize("name", ["", "a b", "a:b", "é", "a\r\nb", "a\n", "a/b", "(a)"])
def test_the_name_of_a_header_is_a_token(name: str) -> None:
    with pytest.raises(ValueError, match="expected letters"):
        Header(name)


@pytest.mark.requirement("tools.x-mcp-header.safe-integers")
def test_a_header_is_told_in_the_schema_and_bounds_integers() -> None:
    def tool(
        region: Annotated[str, Header("Region")],
        color: Annotated[Color, Header("Color")],
        kind: Annotated[Literal["a", "b"], Header("Kind"), "which"],
        is_on: Annotated[bool, Header("On")],
        count: Annotated[int, Header("Count"), Meta(ge=0)] = 0,
    ) -> None: ...

    signature = of(tool)
    properties = signature.input_schema["properties"]
    headers = [(each["type"], each["x-mcp-header"]) for each in properties.values()]
    assert headers == [
        ("string", "Region"),
        ("string", "Color"),
        ("string", "Kind"),
        ("boolean", "On"),
        ("integer", "Count"),
    ]
    assert "$defs" not in signature.input_schema
    checked = taking(Annotated[int, pydantic.Field(gt=0), Header("Count")])
    for count in (2**53, 0):
        with pytest.raises(BadArguments, match=r"\$\.value: Input should be "):
            checked.read({"value": count})
    given = {"region": "r", "color": "red", "kind": "a", "is_on": True}
    assert signature.read(given | {"count": 2**53 - 1})["count"] == 2**53 - 1
    for count in (2**53, -1):
        with pytest.raises(BadArguments, match=r"\$\.count: expected integer"):
            signature.read(given | {"count": count})


# ---- what is taken


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (Color, "red", Color.RED),
        (Point, {"x": 1}, Point(1)),
        (Options, {"deep": True}, {"deep": True}),
        (Pair, [1], Pair(1)),
        (Shape, {"type": "Shape", "size": 1}, Shape(1.0)),
        (
            Model,
            {"count": 2, "when": "2026-01-01T00:00:00Z"},
            Model(count=2, when=datetime(2026, 1, 1, tzinfo=UTC)),
        ),
        (list[Model], [{"count": 2}], [Model(count=2)]),
        (Checked, {"size": 3}, Checked(3)),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (Point | Options, {"deep": True}, {"deep": True}),
        (Point | Model, {"x": 2}, Point(2)),
        (Color | str, "green", "green"),
        (Any, {"a": [None]}, {"a": [None]}),
        (int | None, None, None),
        (Path, "a/b", Path("a/b")),
        (list[PurePosixPath | None], ["a", None], [PurePosixPath("a"), None]),
    ],
)
def test_what_fits_is_taken(annotation: Any, given: Any, taken: Any) -> None:
    argument = taking(annotation).read({"value": given})["value"]
    assert argument == taken
    assert type(argument) is type(taken)


@pytest.mark.parametrize(
    ("annotation", "given", "said"),
    [
        (int, "1", '$.value: expected integer, found "1"'),
        (int, True, "$.value: expected integer, found true"),
        (int, 1.5, "$.value: expected integer, found 1.5"),
        (int, None, "$.value: expected integer, found null"),
        (bool, 1, "$.value: expected boolean, found 1"),
        (dict[str, Path], {"a": 3}, "$.value.a: expected string, found 3"),
        (str, 1, "$.value: expected string, found 1"),
        (float, 10**400, "$.value: expected a number in range, found 1000"),
        (list[int], {}, "$.value: expected array, found an object"),
        (
            list[dict[str, Point]],
            [{"a": {"x": 1}, "b": {"x": []}}],
            "$.value[0].b.x: expected integer, found an array",
        ),
        (dict[int, str], {"a": ""}, "$.value: a key: expected integer, found "),
        (Color, "green", '$.value: expected one of "red", "blue", found "green"'),
        (list[Literal[1, 2]], [1, 3], "$.value[1]: expected one of 1, 2, found 3"),
        (Point, {}, '$.value: expected the member "x", found none'),
        (Shape, {"type": "Shape", "size": 1, "a": 2}, '$.value: unknown member "a"; expected '),
        (Shape, {"type": "Cube"}, '$.value.type: expected one of "Shape", found "Cube"'),
        (list[Ball | Box], [{"type": "Cube"}], '$.value[0].type: expected one of "Ball", "Box", '),
        (Annotated[int, Meta(ge=3)], 2, "$.value: expected integer >= 3, found 2"),
        (
            Annotated[str, Meta(max_length=3)],
            "long",
            '$.value: expected string of length <= 3, found "long"',
        ),
        (
            Annotated[int, pydantic.Field(ge=3)],
            2,
            "$.value: Input should be greater than or equal to 3, found 2",
        ),
        (Model, {"count": "2"}, '$.value.count: Input should be a valid integer, found "2"'),
        (list[Model], [{"count": 1}, {}], "$.value[1].count: Field required, found an object"),
        (Point | Options, {"x": "1"}, '$.value.x: expected integer, found "1"'),
        (datetime, "x", '$.value: expected RFC3339 encoded datetime, found "x"'),
        (list[Span], [{"start": 10}], "$.value[0]: the start must lie before the end"),
        (dict[str, Span], {"a": {"start": -1}}, "$.value.a: Invalid value of start: it is neg"),
        (Span, {"start": "1"}, '$.value.start: expected integer, found "1"'),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(annotation: Any, given: Any, said: str) -> None:
    with pytest.raises(BadArguments) as bad:
        taking(annotation).read({"value": given})
    assert str(bad.value).startswith(said)


TYPES: Any = (
    int, float, bool, str, Any, list[int], dict[str, bool], int | None, int | str, Point, Tree,
    Options, Pair, Shape, Color, Literal["a", 1], list[Point] | None, Point | Options, Color | str,
    Model, list[Model], Annotated[int, Meta(ge=0, lt=3)], Annotated[str, Meta(max_length=2)],
    pydantic.PositiveInt, tuple[int, str], Annotated[list[str], Meta(min_length=1)],
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from([0.5, -1.5])
NAMES = st.sampled_from(["x", "y", "name", "below", "deep", "note", "type", "size", "count", "z"])
TEXTS = st.sampled_from(["", "a", "abc", "red", "blue", "1", "true", "Shape"])
JSON = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=6,
)


@functools.cache
def judges(index: int) -> tuple[Signature, Any]:
    signature = taking(TYPES[index])
    return signature, jsonschema_rs.Draft202012Validator(signature.input_schema)


@pytest.mark.drawn
@pytest.mark.parametrize("index", range(len(TYPES)), ids=[str(each) for each in TYPES])
@hypothesis.given(value=JSON)
def test_the_reader_takes_what_the_schema_takes(index: int, value: Any) -> None:
    signature, validator = judges(index)
    if TYPES[index] is Shape and isinstance(value, dict):
        value = {"type": "Shape", **value}  # msgspec takes a single tagged struct without its tag
    try:
        signature.read({"value": value})
        is_taken = True
    except BadArguments:
        is_taken = False
    assert is_taken == validator.is_valid({"value": value})


def test_missing_and_unknown_arguments_are_told() -> None:
    def tool(a: int, b: int = 0) -> None: ...

    with pytest.raises(BadArguments, match=r'^\$: expected the argument "a", found none$'):
        of(tool).read({})
    with pytest.raises(BadArguments, match=r'^\$: unknown argument "c"; expected "a", "b"$'):
        of(tool).read({"a": 1, "c": 2})


def test_a_tool_without_parameters_says_that_it_takes_none() -> None:
    def tool() -> None: ...

    with pytest.raises(BadArguments, match=r'^\$: unknown argument "c"; expected no argument$'):
        of(tool).read({"c": 2})


def test_hostile_arguments_are_bad_arguments_and_their_message_is_short() -> None:
    endless: Any = {"name": "n", "below": []}
    endless["below"].append(endless)
    with pytest.raises(BadArguments, match="nested too deeply"):
        taking(Tree).read({"value": endless})
    long = "x\n" * 10**5
    hostile: list[tuple[Any, Any]] = [
        (int, {"value": long}),
        (int, {"value": 1, long: 2}),
        (int, {"value": "\ud800"}),
        (dict[str, int], {"value": {long: "1"}}),
        (dict[str, int], {"value": {"\ud800": "1"}}),
        (dict[str, Model], {"value": {long: {"count": long}}}),
        (Literal["a"], {"value": long}),
        (Options, {"value": {"deep": long}}),
    ]
    for annotation, given in hostile:
        with pytest.raises(BadArguments) as bad:
            taking(annotation).read(given)
        assert "\n" not in str(bad.value)
        assert len(str(bad.value)) < 300
        str(bad.value).encode()


def test_the_key_at_fault_is_found_among_many() -> None:
    signature = taking(dict[str, dict[str, list[int]]])
    given: dict[str, Any] = {f"k{i}": {"a": [], "b c": [1]} for i in range(1000)}
    given["k700"]["b c"] = [1, "2"]
    with pytest.raises(
        BadArguments, match=r'^\$\.value\.k700\["b c"\]\[1\]: expected integer, found "2"$'
    ):
        signature.read({"value": given})


def test_a_default_of_pydantic_is_made_for_each_call() -> None:
    def tool(
        a: int = pydantic.Field(ge=1, description="how many"),
        b: list[int] = pydantic.Field(default_factory=list),  # noqa: B008 - as users write it
    ) -> None: ...

    signature = of(tool)
    assert signature.input_schema["required"] == ["a"]
    assert described(signature) == {"a": "how many", "b": None}
    first, second = signature.read({"a": 1}), signature.read({"a": 1})
    assert first == second == {"a": 1, "b": []}
    assert first["b"] is not second["b"]
    with pytest.raises(BadArguments, match=r"\$\.a: "):
        signature.read({"a": 0})


def test_pydantic_is_imported_only_where_a_type_comes_from_it() -> None:
    program = """
import sys
from dataclasses import dataclass
from typing import Annotated
from msgspec import Meta
from mcp_runtime.server.functions.signature import read
from mcp_runtime.server.functions.output_schema import tool_result

@dataclass
class Point:
    x: Annotated[int, Meta(ge=0)]

def tool(point: Point, words: list[str] | None = None) -> Point:
    return point

signature = read(tool, context=type("Context", (), {}))
tool_result(tool(**signature.read({"point": {"x": 1}})), signature.output)
assert not [name for name in sys.modules if name.partition(".")[0].startswith("pydantic")]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# ---- what is promised


@pytest.mark.parametrize(
    "annotation",
    [
        None,
        Any,
        str,
        str | None,
        Image,
        list[Image],
        list[str | Image],
        Sequence[t.TextContent | t.ImageContent],
        tuple[Image, str],
        t.ContentBlock,
        list[t.ContentBlock],
        t.TextContent | Point,
        t.CallToolResult,
        t.CallToolResult | t.InputRequiredResult,
        t.InputRequiredResult | str,
    ],
)
def test_what_is_no_structure_has_no_output_schema(annotation: Any) -> None:
    assert returning(annotation).output is None


@pytest.mark.requirement("tools.output-schema.object-root")
@pytest.mark.requirement("tools.output-schema.server-conforms")
@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (int, 3, {"result": 3}),
        (float, 3, {"result": 3}),
        (bool, True, {"result": True}),
        (list[int], [1], {"result": [1]}),
        (list[str], ["a"], {"result": ["a"]}),
        (tuple[int, str], (1, "a"), {"result": [1, "a"]}),
        (set[int], {1}, {"result": [1]}),
        (int | None, None, {"result": None}),
        (Point | None, Point(1), {"result": {"x": 1, "y": 0}}),
        (Color, Color.RED, {"result": "red"}),
        (datetime, datetime(2026, 1, 1, tzinfo=UTC), {"result": "2026-01-01T00:00:00Z"}),
        (Point, Point(1), {"x": 1, "y": 0}),
        (Tree, Tree("a", [Tree("b")]), {"name": "a", "below": [{"name": "b", "below": []}]}),
        (Options, {"deep": True}, {"deep": True}),
        (Shape, Shape(1.5), {"type": "Shape", "size": 1.5}),
        (Pair, Pair(1), {"result": [1, "r"]}),
        (dict[str, Any], {"a": [1]}, {"a": [1]}),
        (dict[int, int], {1: 2}, {"1": 2}),
        (Point | Options, {"deep": False}, {"deep": False}),
        (Point | t.InputRequiredResult, Point(1), {"x": 1, "y": 0}),
        (Annotated[t.CallToolResult, Point], Point(1), {"x": 1, "y": 0}),
        (Model, Model(count=1), {"count": 1, "when": None}),
        (list[Model], [Model(count=1)], {"result": [{"count": 1, "when": None}]}),
        (Model | Point, Point(1), {"x": 1, "y": 0}),
        (Checked, Checked(3), {"size": 3}),
    ],
)
def test_structured_content_fits_the_output_schema(
    annotation: Any, value: Any, structured: Any
) -> None:
    output = promised(annotation)
    content = output.write(value)
    assert content == structured
    jsonschema_rs.Draft202012Validator(output.schema).validate(content)
    json.dumps(content, allow_nan=False)
    output.check(content)


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (int, "3", r'\$: expected integer, found "3"'),
        (int, None, r"\$: expected integer, found null"),
        (Point, {"y": 1}, r'\$: expected the member "x"'),
        (list[Point], [Point(1), Point("2")], r'\$\[1\]\.x: expected integer, found "2"'),
        (Model, {"count": "1"}, r'\$\.count: .*, found "1"'),
        (Model, Model.model_construct(count="many"), r"many"),
        (float, math.nan, r"\$: expected a finite number"),
        (dict[str, float], {"a": math.inf}, r"\$\.a: expected a finite number"),
        (dict[str, Any], {"a": object()}, r"\$\.a: expected JSON, found object"),
        (Annotated[float, pydantic.Field()], math.nan, "finite"),
    ],
)
def test_what_a_handler_does_not_promise_is_a_bad_result(
    annotation: Any, value: Any, said: str
) -> None:
    with pytest.raises(BadResult, match=said):
        promised(annotation).write(value)


@pytest.mark.parametrize(
    ("annotation", "given", "read"),
    [
        (int, 5.0, 5),
        (int, 1e20, 10**20),
        (list[int], [1.0, 2], [1, 2]),
        (Point, {"x": 1.0}, Point(1)),
        (Model, {"count": 2.0}, Model(count=2)),
        (int | str, 5.0, 5),
    ],
)
def test_a_number_without_a_fraction_is_an_integer_as_in_json_schema(
    annotation: Any, given: Any, read: Any
) -> None:
    signature = taking(annotation)
    jsonschema_rs.Draft202012Validator(signature.input_schema).validate({"value": given})
    value = signature.read({"value": given})["value"]
    assert (value, value.__class__) == (read, read.__class__)


@pytest.mark.parametrize(("annotation", "given"), [(float, 5.0), (float | str, 5.0), (Any, 5.0)])
def test_a_number_that_fits_as_it_is_stays_as_it_is(annotation: Any, given: float) -> None:
    assert taking(annotation).read({"value": given})["value"].__class__ is float


def test_structured_content_made_by_hand_is_checked() -> None:
    wrapped, plain = promised(int), promised(Point)
    wrapped.check({"result": 1})
    plain.check({"x": 1})
    for output, wrong in ((wrapped, 1), (wrapped, {"result": "1"}), (plain, {}), (plain, 3)):
        with pytest.raises(BadResult):
            output.check(wrong)


@pytest.mark.drawn
@pytest.mark.parametrize(
    "annotation", [int, list[int], Point, Tree, Options, Point | Options, Pair]
)
@hypothesis.given(value=JSON | st.builds(lambda value: {"result": value}, JSON))
def test_the_check_takes_what_the_output_schema_takes(annotation: Any, value: Any) -> None:
    output = cached_promise(annotation)
    try:
        output.check(value)
        is_taken = True
    except BadResult:
        is_taken = False
    assert is_taken == jsonschema_rs.is_valid(output.schema, value)


cached_promise = functools.cache(promised)


# ---- prompts


def test_a_prompt_takes_text() -> None:
    async def review(
        ctx: Context[int], code: str, style: Annotated[str | None, "how"] = None, more="m"
    ) -> str:
        """Reviews code.

        Args:
            code: what to review
        """
        return code

    signature = read_prompt(review, context=Context)
    assert signature.info.name == "review"
    assert signature.info.doc.description == "Reviews code."
    properties, required = signature.input_schema["properties"], signature.input_schema["required"]
    assert {name: each.get("description") for name, each in properties.items()} == {
        "code": "what to review",
        "style": "how",
        "more": None,
    }
    assert required == ["code"]
    assert (signature.info.context, signature.info.is_async) == ("ctx", True)
    assert signature.read({"code": "c"}) == {"code": "c", "style": None, "more": "m"}
    bad: list[Mapping[str, Any]] = [{}, {"code": 1}, {"code": "c", "other": ""}]
    for given in bad:
        with pytest.raises(BadArguments):
            signature.read(given)


class Style(Enum):
    BRIEF = "brief"
    LONG = "long"


def test_a_prompt_reads_its_types_from_text() -> None:
    def review(
        lines: int,
        share: float,
        strict: bool,
        style: Style,
        tone: Literal["kind", "dry"] | None = None,
        level: Literal[1, 2] = 1,
    ) -> str: ...

    signature = read_prompt(review, context=Context)
    given = {"lines": "3", "share": "0.5", "strict": "true", "style": "long", "level": "2"}
    assert signature.read(given) == {
        "lines": 3,
        "share": 0.5,
        "strict": True,
        "style": Style.LONG,
        "tone": None,
        "level": 2,
    }
    assert signature.choices == {
        "strict": ("true", "false"),
        "style": ("brief", "long"),
        "tone": ("kind", "dry"),
        "level": ("1", "2"),
    }
    for name, bad in (("lines", "x"), ("style", "short"), ("level", "3"), ("share", "nan")):
        with pytest.raises(BadArguments, match=rf"\$\.{name}"):
            signature.read({**given, name: bad})


def test_a_prompt_whose_type_no_text_can_hold_is_refused() -> None:
    def review(lines: list[int]) -> str: ...

    with pytest.raises(TypeError, match=r"review\(\), parameter lines: cannot be read from text"):
        read_prompt(review, context=Context)


# ---- templates


def test_the_variables_of_a_template_are_read_from_text() -> None:
    def lines(
        path: str,
        start: int,
        ratio: float,
        *,
        is_raw: bool,
        color: Color,
        level: Literal[1, 2],
        end: int | None = None,
        names: tuple[str, ...] = (),
    ) -> str: ...

    names = ["path", "start", "ratio", "is_raw", "color", "level"]
    signature = read_template(lines, context=Context, variables=names)
    given: dict[str, Any] = {
        "path": "1",
        "start": "-3",
        "ratio": "1.5",
        "is_raw": "true",
        "color": "red",
        "level": "2",
    }
    assert signature.read(given) == {
        "path": "1",
        "start": -3,
        "ratio": 1.5,
        "is_raw": True,
        "color": Color.RED,
        "level": 2,
        "end": None,
        "names": (),
    }
    for name, wrong in [
        ("start", "x"),
        ("start", ""),
        ("start", "9" * 5000),
        ("ratio", "nan"),
        ("ratio", "-inf"),
        ("is_raw", "yes"),
        ("color", "green"),
        ("level", "3"),
    ]:
        with pytest.raises(BadArguments, match=rf"^\$\.{name}: expected"):
            signature.read(given | {name: wrong})


def test_a_template_and_its_handler_agree_on_variables() -> None:
    def handler(path: str) -> str: ...
    def structured(path: Point) -> str: ...
    def several(path: list[str]) -> str: ...

    with pytest.raises(TypeError, match="path: is not a variable of the template"):
        read_template(handler, context=Context, variables=[])
    with pytest.raises(TypeError, match="does not take the template's variable other"):
        read_template(handler, context=Context, variables=["path", "other"])
    with pytest.raises(TypeError, match="path: cannot be read from text"):
        read_template(structured, context=Context, variables=["path"])
    with pytest.raises(TypeError, match="path: cannot be read from text"):
        read_template(several, context=Context, variables=["path"])


# from Python 3.14, annotations are evaluated late without being texts
@pytest.mark.parametrize(
    "first_line", ["from __future__ import annotations", *[""] * (sys.version_info >= (3, 14))]
)
def test_late_annotations_that_name_nothing_are_refused_by_that_name(first_line: str) -> None:
    names: dict[str, Any] = {}
    exec(f"{first_line}\ndef tool(value: Nowhere) -> int: ...\n", names)
    with pytest.raises(TypeError, match=r"^tool\(\): its annotation names Nowhere, which is not"):
        read(names["tool"], context=Context)
