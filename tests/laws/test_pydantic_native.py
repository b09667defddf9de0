"""What pydantic itself reads, writes and describes is what the four functions do.

Where it cannot be taught, a row says so, docs/BINDINGS.md lists it, and the row is used.
"""

from __future__ import annotations

import copy
import inspect
import json
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from types import new_class
from typing import Annotated, Any, Final, Literal, get_origin

import jsonschema_rs
import pytest
from pydantic import MISSING, BaseModel, TypeAdapter, ValidationError, model_validator

from mcp_bindgen.ir.model import Ref, Schema, Uni
from mcp_bindgen.ir.values.accepts import accepts
from mcp_wire._types_pydantic import Bounds, Number
from mcp_wire._wire.faults import EncodeError
from tests.support.instances import Case, Generator, Seeded, cases, more
from tests.support.judges import SCHEMAS, Flavour, canonical, flavour_of, own_types, schema_of
from tests.support.seeds import seed

LONG: Final = 20_000
"""Instances of one revision in `make long`; there are five."""

MANY: Final = 10
"""Disputes after which a run stops."""


class Holder(BaseModel):
    """A lax model of a user, around ours; the type of `held` is set for each of ours."""

    held: Any


class Native:
    """What pydantic makes of each type of one revision."""

    def __init__(self, revision: str) -> None:
        self.schema: Schema = schema_of(revision)
        self.flavour: Flavour = flavour_of(revision, "pydantic")
        types = {name: self.flavour.type(name) for name in own_types(self.schema)}
        self.adapters = {name: TypeAdapter[Any](of) for name, of in types.items()}
        self.holders = {name: _holder(name, of) for name, of in types.items()}
        documents = {name: adapter.json_schema() for name, adapter in self.adapters.items()}
        self.documents = documents
        self.validators = {
            name: jsonschema_rs.Draft202012Validator(document, validate_formats=False)
            for name, document in documents.items()
        }

    def disputes(self, case: Case) -> Iterator[str]:
        """What pydantic does otherwise than the four functions."""
        true = accepts(self.schema, Ref(case.type), case.value)
        if self.validators[case.type].is_valid(case.value) != true:
            yield f"its JSON Schema says {not true}"
        for way, read in self.readers(case).items():
            try:
                made = read()
            except ValidationError:
                if true:
                    yield f"{way} refuses it"
                continue
            if not true:
                yield f"{way} accepts it"
            else:
                yield from self.differences(case, way, made)

    def readers(self, case: Case) -> dict[str, Callable[[], Any]]:
        adapter, holder = self.adapters[case.type], self.holders[case.type]
        text, of = json.dumps(case.value), self.flavour.type(case.type)
        ways: dict[str, Callable[[], Any]] = {
            "TypeAdapter.validate_json": lambda: adapter.validate_json(text),
            "TypeAdapter.validate_python": lambda: adapter.validate_python(case.value),
            "a user's model": lambda: holder.model_validate_json(f'{{"held": {text}}}').held,
        }
        if case.type in self.schema.structs:
            ways["model_validate_json"] = lambda: of.model_validate_json(text)
            ways["model_validate"] = lambda: of.model_validate(case.value)
        return ways

    def differences(self, case: Case, way: str, made: Any) -> Iterator[str]:
        decoded = self.flavour.module.decode(self.flavour.type(case.type), json.dumps(case.value))
        if made != decoded or type(made) is not type(decoded):
            yield f"{way} makes {made!r}, and decode {decoded!r}"
        wanted, encoded = canonical(case.value), self.flavour.encode(made)
        for how, write in self.writers(case, made).items():
            if canonical(written := write()) != wanted:
                yield f"{way}, then {how}, writes {written!r}; encode writes {encoded!r}"

    def writers(self, case: Case, made: Any) -> dict[str, Callable[[], Any]]:
        adapter, holder = self.adapters[case.type], self.holders[case.type]
        ways: dict[str, Callable[[], Any]] = {
            "TypeAdapter.dump_json": lambda: json.loads(adapter.dump_json(made)),
            "TypeAdapter.dump_python": lambda: adapter.dump_python(made, mode="json"),
            "a user's model_dump": lambda: holder(held=made).model_dump(mode="json")["held"],
        }
        if case.type in self.schema.structs:
            ways["model_dump_json"] = lambda: json.loads(made.model_dump_json())
            ways["model_dump"] = lambda: made.model_dump(mode="json")
            ways["model_dump of Python values"] = lambda: made.model_dump()
        return ways


def _holder(name: str, of: Any) -> Any:
    return type(f"Holds{name}", (Holder,), {"__annotations__": {"held": of}})


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("revision", SCHEMAS)
def test_pydantic_does_what_the_four_functions_do(revision: str) -> None:
    """Of what reaches each option, arm, literal, bound and fault: up to 5 300 instances."""
    _hold(revision)


@pytest.mark.long
@pytest.mark.parametrize("revision", SCHEMAS)
def test_pydantic_does_so_for_many_more(revision: str) -> None:
    _hold(revision, LONG)


def _hold(revision: str, count: int | None = None) -> None:
    """Judges what reaches everything, or `count` instances; fails with small disputes."""
    native = Native(revision)
    generator = Generator(native.schema, Seeded(seed(revision)))
    names = own_types(native.schema)
    instances = chain.from_iterable(cases(generator, name) for name in names)
    if count is not None:
        instances = islice(chain(instances, more(generator, names)), count)
    disputes: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in instances:
            for dispute in native.disputes(case):
                example = f"{case.type} {json.dumps(case.value)[:600]}\n  {dispute[:900]}"
                disputes.setdefault(f"{case.type}: {dispute[:30]}", example)
            if len(disputes) >= MANY:
                break
    assert not disputes, "\n\n".join(disputes.values())


# ---- what pydantic cannot be taught

OLD: Final = "2025-11-25"
DEEP: Final = '{"content":[],"x":' + "[" * 150 + "]" * 150 + "}"

Outcome = tuple[bool, bool]
"""Whether ours takes it, and whether pydantic itself does."""

READ_BEYOND: Final[dict[str, tuple[str, str, Outcome]]] = {
    "nesting over 128": ("CallToolResult", DEEP, (False, True)),
    "NaN": ("CallToolResult", '{"content":[],"x":NaN}', (False, True)),
    "infinities": ("CallToolResult", '{"content":[],"x":[-Infinity]}', (False, True)),
    "numbers beyond a double": (
        "CallToolResult",
        '{"content":[],"_meta":{"a":1e999}}',
        (False, True),
    ),
    "equal keys": ("ElicitResult", '{"action":"accept","content":{"a":{},"a":1}}', (True, False)),
}
"""Text that `decode` and `model_validate_json` disagree about."""

GIVEN_BEYOND: Final[dict[str, tuple[str, Any, Outcome]]] = {
    "sets, models": ("CallToolResult", {"content": [], "x": {1}}, (False, True)),
    "UNSET": ("CallToolResult", {"content": [], "x": MISSING}, (False, True)),
    "bytes": ("Cursor", b"page", (False, True)),
}
"""Python values that `from_wire` and pydantic itself disagree about."""

WRITTEN_BEYOND: Final[dict[str, Any]] = {
    "NaN": math.nan,
    "infinities": math.inf,
    "integers over 4 300 digits": 10**4_300,
}
"""Values inside any JSON that `encode` refuses and `model_dump_json` writes."""


@pytest.mark.parametrize("row", READ_BEYOND)
def test_what_pydantic_reads_otherwise_is_documented(row: str, root: Path) -> None:
    name, text, outcome = READ_BEYOND[row]
    flavour = flavour_of(OLD, "pydantic")
    native = _is_taken(lambda: flavour.type(name).model_validate_json(text))
    assert (flavour.decode(name, text).accepted, native) == outcome
    _documented(root, row)


@pytest.mark.parametrize("row", GIVEN_BEYOND)
def test_python_values_that_pydantic_takes_are_documented(row: str, root: Path) -> None:
    name, value, outcome = GIVEN_BEYOND[row]
    flavour = flavour_of(OLD, "pydantic")
    native = _is_taken(lambda: TypeAdapter[Any](flavour.type(name)).validate_python(value))
    assert (flavour.from_wire(name, value).accepted, native) == outcome
    _documented(root, row)


@pytest.mark.parametrize("row", WRITTEN_BEYOND)
def test_what_pydantic_writes_otherwise_is_documented(row: str, root: Path) -> None:
    flavour = flavour_of(OLD, "pydantic")
    made = flavour.type("CallToolResult")(content=[], structured_content={"x": WRITTEN_BEYOND[row]})
    assert made.model_dump_json().startswith('{"content":[],"structuredContent":{"x":')
    with pytest.raises(EncodeError):
        flavour.encode(made)
    _documented(root, row)


def _is_taken(read: Callable[[], object]) -> bool:
    try:
        read()
    except ValidationError:
        return False
    return True


def _documented(root: Path, row: str) -> None:
    page = (root / "docs" / "BINDINGS.md").read_text("utf-8")
    section = page.partition("### Where pydantic's own functions are laxer")[2].partition("\n## ")[
        0
    ]
    assert row in section


# ---- what a user of pydantic does with a model


def _module() -> Any:
    return flavour_of(OLD, "pydantic").module


def test_a_model_tells_isinstance_pickle_and_copies_what_it_is() -> None:
    m = _module()
    text = m.TextContent(text="a")
    assert isinstance(text, m.ContentBlock)
    assert not isinstance(m.Tool(name="a", input_schema=m.ToolInputSchema()), m.ContentBlock)
    assert isinstance(1, m.RequestId)
    assert not isinstance(None, m.RequestId)
    for made in (text, m.ContentBlock, m.UNSET):
        assert pickle.loads(pickle.dumps(made)) == made
        assert copy.deepcopy(made) == made
    assert text.annotations is copy.deepcopy(text).annotations is m.UNSET
    assert repr(m.Tool.model_construct(name="a")) == "Tool(name='a')"


@pytest.mark.parametrize("revision", SCHEMAS)
def test_every_union_is_asked_of_an_instance(revision: str) -> None:
    module = flavour_of(revision, "pydantic").module
    schema = schema_of(revision)
    unions = [d.name for d in schema.own_types if isinstance(getattr(d, "type", None), Uni)]
    assert unions or revision.startswith("server-card")
    generator = Generator(schema, Seeded(seed(revision)))
    for name in unions:
        value = generator.valid(name).value
        of = getattr(module, name)
        if get_origin(of) is not Literal:
            assert isinstance(module.from_wire(of, value), of), name
            assert not isinstance(object(), of)


def test_constants_stand_on_the_class_and_on_its_subclasses() -> None:
    m = _module()
    mine: Any = type("Mine", (m.TextContent,), {"__annotations__": {"note": str}})
    assert m.TextContent.type == mine.type == "text"
    assert mine(text="a", note="b").model_dump_json() == '{"type":"text","text":"a","note":"b"}'
    with pytest.raises(ValidationError):
        mine.model_validate({"text": "a", "note": "b"})
    tool: Any = type("MyTool", (m.Tool,), {})  # whose annotations name what is in our module
    assert tool(name="a", input_schema=m.ToolInputSchema()).input_schema.type == "object"


def test_a_subclass_stands_in_another_module_than_what_its_members_name() -> None:
    program = (
        "from mcp_wire.v2025_11_25.models_pydantic import Tool\n"
        "class Mine(Tool):\n"
        "    note: str\n"
        "made = Mine.model_validate({'name': '', 'note': '', 'inputSchema': {'type': 'object'}})\n"
        "assert Mine(name='', note='', input_schema=made.input_schema) == made"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_signature_shows_what_the_constructor_takes() -> None:
    parameters = inspect.signature(_module().TextContent).parameters
    assert list(parameters) == ["text", "annotations", "meta", "extra_"]
    required = [name for name, each in parameters.items() if each.default is each.empty]
    assert required == ["text"]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"content": [{"type": "text", "text": "a"}]}, ("content", 0)),
        ({"content": [MISSING]}, ("content", 0)),
        ({"content": [], "is_error": 1}, ("is_error",)),
        ({"content": [], "meta": []}, ("meta",)),
        ({"content": ()}, ("content",)),
        ({"content": MISSING}, ("content",)),
        ({"content": [], "extra_": {"x": MISSING}}, ("extra_",)),
    ],
)
def test_a_wrong_value_is_refused_where_it_stands(
    members: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        _module().CallToolResult(**members)
    assert [error["loc"] for error in caught.value.errors()] == [path]


def test_a_model_stands_where_one_belongs_inside_lists_and_maps() -> None:
    m = _module()
    tools = m.ListToolsResult(tools=[m.Tool(name="a", input_schema=m.ToolInputSchema())])
    assert tools.model_dump() == {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
    with pytest.raises(ValidationError, match="instance of ToolInputSchema"):
        m.Tool(name="a", input_schema={"type": "object"})


def test_what_a_subclass_adds_holds_for_its_constructor() -> None:
    m = _module()

    class Plain(BaseModel):
        size: int

    def grown(self: Any) -> Any:
        assert self.note != "refused"
        assert self.extra_ == {"note_": 1}
        return self

    annotations = {"note": str, "plain": Plain, "more": Any}
    checked = model_validator(mode="after")(grown)
    members = {"__annotations__": annotations, "more": None, "checked": checked}
    mine: Any = type("Mine", (m.TextContent,), members)
    made = mine(text="a", note="b", plain={"size": 1}, extra_={"note_": 1})
    assert made.plain.size == 1
    assert m.CallToolResult(content=[made]).content == [made]
    with pytest.raises(ValidationError, match="Assertion failed"):
        mine(text="a", note="refused", plain={"size": 1}, extra_={"note_": 1})


@pytest.mark.parametrize("absence", ["UNSET", "MISSING"])
def test_unset_is_no_value_and_may_be_given_for_a_member_that_may_be_absent(absence: str) -> None:
    m = _module()
    unset = {"UNSET": m.UNSET, "MISSING": MISSING}[absence]
    absent = m.CallToolResult(content=[], is_error=unset, structured_content=unset)
    assert absent == m.CallToolResult(content=[])
    assert absent.model_fields_set == {"content"}
    with pytest.raises(ValidationError, match="Field required"):
        m.LoggingMessageNotificationParams(level="error", data=unset)
    with pytest.raises(ValidationError, match="UNSET"):
        m.CallToolResult(content=[], extra_={"x": unset})


def test_an_absent_member_is_false_wherever_it_is_read_and_never_written() -> None:
    m = _module()
    mine: Any = new_class("Mine", (m.CallToolResult,), {"frozen": False})
    read = m.CallToolResult.model_validate({"content": []})
    copied = m.CallToolResult(content=[], is_error=True).model_copy(update={"is_error": m.UNSET})
    made = m.CallToolResult.model_construct(content=[], is_error=m.UNSET)
    changed = mine(content=[], is_error=True)
    changed.is_error = m.UNSET
    for absent in (read, copied, made, changed, pickle.loads(pickle.dumps(read))):
        assert absent.is_error is m.UNSET
        assert not absent.is_error
        assert dict(absent)["is_error"] is m.UNSET
        assert "UNSET" not in repr(absent)
        for written in (absent.model_dump(), m.to_wire(absent), json.loads(m.encode(absent))):
            assert written == {"content": []}
    assert inspect.signature(m.CallToolResult).parameters["is_error"].default is m.UNSET
    assert not hasattr(m.CallToolResult, "is_error")


def test_a_subclass_may_give_an_optional_member_a_default() -> None:
    m = _module()
    members = {"__annotations__": {"is_error": bool}, "is_error": True}
    mine: Any = type("Mine", (m.CallToolResult,), members)
    assert mine(content=[]).is_error is True
    assert mine.model_validate({"content": []}).is_error is True


def test_no_schema_shows_the_sentinel() -> None:
    documents = Native(OLD).documents
    assert not [name for name, each in documents.items() if "MISSING" in json.dumps(each)]
    assert not [name for name, each in documents.items() if "UNSET" in json.dumps(each)]
    assert "default" not in json.dumps(documents["TextContent"])


@pytest.mark.parametrize(
    ("inner", "outer", "within", "beyond"),
    [
        ({}, {"minimum": 0, "maximum": 1}, [0, 1, 0.0, 1.0, 0.5], [-1, 2, -0.1, 1.1, True, "0"]),
        ({}, {"exclusiveMinimum": 0, "exclusiveMaximum": 2}, [1, 0.1, 1.9], [0, 2, 0.0, 2.0]),
        ({}, {"minimum": 0.5}, [1, 0.5], [0, 0.4]),
        ({}, {"minimum": 2, "multipleOf": 2}, [2, 4.0], [0, 3, 2.5]),
        ({}, {"maximum": 2**53 + 1}, [2**53 + 1, 2.0**53], [2**53 + 2]),
        ({"minimum": 5}, {"minimum": 0, "maximum": 9}, [5, 9.0], [4, 4.9, 10]),
    ],
    ids=str,
)
def test_a_number_keeps_all_its_limits(inner: Any, outer: Any, within: Any, beyond: Any) -> None:
    limited: Any = Annotated[Annotated[Number, Bounds(**inner)], Bounds(**outer)]
    adapter = TypeAdapter[Any](limited)
    schema = jsonschema_rs.Draft202012Validator(adapter.json_schema())
    assert [adapter.validate_json(json.dumps(x)) for x in within] == within
    assert all(map(schema.is_valid, within))
    for x in beyond:
        assert not schema.is_valid(x)
        with pytest.raises(ValidationError):
            adapter.validate_python(x)


def test_the_disputes_are_seen() -> None:
    native = Native(OLD)
    other = native.adapters["ImageContent"]
    native.adapters["TextContent"] = other
    native.validators["TextContent"] = native.validators["ImageContent"]
    disputes = [*native.disputes(Case("TextContent", {"type": "text", "text": "a"}))]
    assert {"its JSON Schema says False", "TypeAdapter.validate_json refuses it"} <= set(disputes)
