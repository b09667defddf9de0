"""Values as Python has them: made, taken apart, copied, printed, left alone by what writes them."""

from __future__ import annotations

import copy
import json
import keyword
import pickle
from collections.abc import Mapping
from typing import Any, Final

import pytest

from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.names import RESERVED_MEMBERS
from mcp_bindgen.ir.values.accepts import accepts
from mcp_wire._wire.faults import EncodeError
from tests.support.instances import JSON, Generator, Seeded
from tests.support.judges import FLAVOURS, SCHEMAS, Flavour, canonical, flavour_of, schema_of
from tests.support.seeds import seed

REVISION: Final = "2025-11-25"


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return flavour_of(REVISION, request.param)


@pytest.fixture(params=[(r, f) for r in SCHEMAS for f in FLAVOURS], ids="-".join)
def each(request: pytest.FixtureRequest) -> tuple[str, Flavour]:
    """Every flavour of every revision."""
    revision, name = request.param
    return revision, flavour_of(revision, name)


def read(flavour: Flavour, name: str, value: JSON) -> Any:
    return flavour.module.decode(flavour.type(name), json.dumps(value).encode())


def written(flavour: Flavour, value: Any) -> JSON:
    return json.loads(flavour.encode(value))


# ---- made and taken apart


@pytest.mark.drawn
def test_what_was_read_can_be_made_anew_by_keyword(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    schema = schema_of(revision)
    generator = Generator(schema, Seeded(seed(revision)))
    for struct in schema.own_structs:
        for _ in range(3):
            value = generator.valid(struct.name).value
            made = read(flavour, struct.name, value)
            names = [f.name for f in struct.fields if f.const is None]
            members = {n: v for n in names if (v := getattr(made, n)) is not flavour.module.UNSET}
            again = flavour.type(struct.name)(**members, extra_=made.extra_)
            assert again == made, value
            assert canonical(written(flavour, again)) == canonical(value)


def test_members_have_their_python_names(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    for struct in schema_of(revision).own_structs:
        for field in struct.fields:
            assert field.name.isidentifier()
            assert not keyword.iskeyword(field.name)
            assert field.name not in RESERVED_MEMBERS
        annotated = flavour.type(struct.name).__annotations__
        assert {field.name for field in struct.fields} <= set(annotated), struct.name


def test_a_python_name_on_the_wire_is_an_unknown_member(flavour: Flavour) -> None:
    value: JSON = {"uri": "", "name": "", "mime_type": "a", "meta": 1, "extra_": {"extra_": 2}}
    made = read(flavour, "Resource", value)
    assert made.mime_type is flavour.module.UNSET
    assert made.meta is flavour.module.UNSET
    assert dict(made.extra_) == {"mime_type": "a", "meta": 1, "extra_": {"extra_": 2}}
    assert written(flavour, made) == value


@pytest.mark.parametrize("name", FLAVOURS)
def test_prefixes_of_names_fall_away(name: str) -> None:
    flavour = flavour_of("2026-07-28", name)
    value: JSON = {
        "io.modelcontextprotocol/protocolVersion": "a",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "info",
        "log_level": 1,
    }
    made = read(flavour, "RequestMetaObject", value)
    assert (made.protocol_version, made.log_level) == ("a", "info")
    assert dict(made.extra_) == {"log_level": 1}
    assert written(flavour, made) == value


def test_reserved_names_get_an_underscore(flavour: Flavour) -> None:
    made = read(flavour, "ClientCapabilitiesTasks", {"list": {}})
    assert made.list_ == {}
    assert flavour.type("ClientCapabilitiesTasks")(list_={}) == made
    schema: JSON = {"type": "object", "$schema": "a"}
    assert read(flavour, "ToolInputSchema", schema).schema_ == "a"
    assert written(flavour, read(flavour, "ToolInputSchema", schema)) == schema


def test_no_argument_is_positional(flavour: Flavour) -> None:
    with pytest.raises(TypeError):
        flavour.type("Root")("a")


@pytest.mark.parametrize("wrong", ["mimeType", "_meta", "Uri", "extra", "__class__", "self", "cls"])
def test_no_other_name_is_an_argument(flavour: Flavour, wrong: str) -> None:
    with pytest.raises(TypeError):
        flavour.type("Resource")(uri="a", name="b", **{wrong: "c"})


@pytest.mark.parametrize("name", ["dataclass", "pydantic"])
def test_a_wrong_name_is_refused_with_the_right_ones(name: str) -> None:
    with pytest.raises(TypeError, match="it takes data, mime_type, annotations, meta, extra_"):
        flavour_of(REVISION, name).type("ImageContent")(data="", mimeType="a/b")


@pytest.mark.parametrize(
    ("name", "more", "constant", "value"),
    [
        ("TextContent", {"text": "a"}, "type", "text"),
        ("TextContent", {"text": "a"}, "type", "image"),
        ("PingRequest", {"id": 1}, "jsonrpc", "2.0"),
        ("PingRequest", {"id": 1}, "method", "ping"),
        ("PromptReference", {"name": "a"}, "type", "ref/prompt"),
        ("BooleanSchema", {}, "type", "boolean"),
    ],
)
def test_a_member_that_the_class_sets_is_named_where_it_is_passed(
    flavour: Flavour, name: str, more: dict[str, Any], constant: str, value: str
) -> None:
    with pytest.raises(TypeError, match=rf"(^|\W){constant}(\W|$)") as raised:
        flavour.type(name)(**more, **{constant: value})
    if flavour.name == "msgspec":
        assert f"{name}() sets {constant} by itself, to" in str(raised.value)
        assert str(raised.value).endswith(": leave it out")


def test_no_member_can_be_added(flavour: Flavour) -> None:
    made = flavour.type("TextContent")(text="a", extra_={"x": 1})
    for name in ("type", "annotations", "extra_", "no_such_member"):
        with pytest.raises((AttributeError, TypeError, ValueError)):
            setattr(made, name, "b")
    assert written(flavour, made) == {"type": "text", "text": "a", "x": 1}


def test_values_do_not_share_their_unknown_members(flavour: Flavour) -> None:
    root = flavour.type("Root")
    one, other = root(uri="a"), root(uri="a")
    try:
        one.extra_["x"] = 1
    except TypeError:
        assert not one.extra_
    assert isinstance(other.extra_, Mapping)
    assert not other.extra_
    assert not root(uri="b").extra_


def test_unknown_members_that_are_changed_are_written_so(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    schema = schema_of(revision)
    seen = 0
    for struct in schema.own_structs:
        value: JSON = {**{field.wire: field.const for field in struct.consts}, "x": 1}
        if accepts(schema, Ref(struct.name), value):
            made = read(flavour, struct.name, value)
            made.extra_["y"] = 2
            assert written(flavour, made) == {**value, "y": 2}, struct.name
            seen += 1
    assert seen > (10 if schema.extension is None else 0)


# ---- compared, copied, printed


def test_values_of_two_classes_are_never_equal(flavour: Flavour) -> None:
    image = flavour.type("ImageContent")(data="a", mime_type="b")
    audio = flavour.type("AudioContent")(data="a", mime_type="b")
    assert image != audio
    assert flavour.type("ToolInputSchema")() != flavour.type("ToolOutputSchema")()


def test_equal_values_are_one_key(flavour: Flavour) -> None:
    text = flavour.type("TextContent")
    assert len({text(text="a"), text(text="a"), text(text="b")}) == 2


def test_values_can_be_copied_and_pickled(flavour: Flavour) -> None:
    value: JSON = {"content": [{"type": "text", "text": "a", "x": 1}], "y": {"z": [1]}}
    made = read(flavour, "CallToolResult", value)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert again == made
        assert type(again) is type(made)
        assert written(flavour, again) == value
        assert again.is_error is flavour.module.UNSET


@pytest.mark.drawn
def test_a_value_of_any_class_can_be_copied_and_pickled(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    schema = schema_of(revision)
    generator = Generator(schema, Seeded(seed(revision)))
    for struct in (struct.name for struct in schema.own_structs):
        value = generator.valid(struct).value
        read_twice = (read(flavour, struct, value), flavour.from_wire(struct, value).value)
        for made in read_twice:
            for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
                assert type(again) is type(made)
                assert canonical(written(flavour, again)) == canonical(value)
                assert again == made


def test_what_a_dataclass_presets_of_what_its_base_requires_is_written() -> None:
    flavour = flavour_of(REVISION, "dataclass")
    greeting = type("Greeting", (flavour.type("TextContent"),), {"text": "hello"})
    loud = type("Loud", (greeting,), {})
    for cls in (greeting, loud):
        assert written(flavour, cls()) == {"type": "text", "text": "hello"}
        assert written(flavour, cls(text="bye")) == {"type": "text", "text": "bye"}


def test_a_subclass_is_written_as_its_base_wherever_it_stands(flavour: Flavour) -> None:
    def own(name: str) -> Any:
        return type(f"Own{name}", (flavour.type(name),), {})

    words = own("TextResourceContents")(uri="b", text="c")
    items = [own("TextContent")(text="a"), flavour.type("EmbeddedResource")(resource=words)]
    made = own("CallToolResult")(content=items)
    wanted: JSON = {
        "content": [
            {"type": "text", "text": "a"},
            {"type": "resource", "resource": {"uri": "b", "text": "c"}},
        ]
    }
    assert flavour.to_wire(made) == wanted
    assert written(flavour, made) == wanted


@pytest.mark.parametrize("name", ["dataclass", "msgspec"])
def test_what_is_of_no_class_of_ours_is_named(name: str) -> None:
    flavour = flavour_of(REVISION, name)
    strange: list[Any] = [object(), [object()], {"a": object()}]
    result = flavour.type("CallToolResult")(content=[])
    result.content.append(object())
    for value in (*strange, result):
        with pytest.raises(EncodeError) as caught:
            flavour.to_wire(value)
        assert caught.value.found == "object"


class Faulty(dict[str, Any]):
    """A mapping whose members cannot be listed."""

    def items(self) -> Any:
        raise KeyError(*self["args"])


@pytest.mark.parametrize("name", ["dataclass", "msgspec"])
@pytest.mark.parametrize("args", [(), ("a",), (int,), (Faulty,), ("a", int)], ids=repr)
def test_a_key_that_a_mapping_of_somebody_else_lacks_is_told(
    name: str, args: tuple[object, ...]
) -> None:
    flavour = flavour_of(REVISION, name)
    made = flavour.type("TextContent")(text="", extra_=Faulty(args=args))
    with pytest.raises(KeyError) as caught:
        flavour.to_wire(made)
    assert caught.value.args == args


@pytest.mark.drawn
def test_what_is_printed_is_the_expression_that_makes_it(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    schema = schema_of(revision)
    generator = Generator(schema, Seeded(seed(revision)))
    core = revision if schema.extension is None else schema.extension.core.revision
    names = {**vars(flavour_of(core, flavour.name).module), **vars(flavour.module)}
    for struct in (struct.name for struct in schema.own_structs):
        made = read(flavour, struct, generator.valid(struct).value)
        shown = repr(made)
        assert shown.startswith(f"{struct}(")
        assert "UNSET" not in shown.replace("'UNSET'", "")
        assert eval(shown, dict(names)) == made


def test_writing_leaves_a_value_as_it_is(flavour: Flavour) -> None:
    made = read(flavour, "Resource", {"uri": "a", "name": "b", "x": {"y": 1}, "_meta": {"z": 1}})
    shown, text = repr(made), flavour.encode(made)
    wire = flavour.to_wire(made)
    wire["uri"], wire["new"] = "changed", 1
    assert repr(made) == shown
    assert flavour.encode(made) == text


# ---- the module


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, bytes.decode])
def test_any_form_of_text_is_read(flavour: Flavour, kind: Any) -> None:
    text = b'{"uri":"a","x":1}'
    wanted = flavour.type("Root")(uri="a", extra_={"x": 1})
    assert flavour.module.decode(flavour.type("Root"), kind(text)) == wanted
    with pytest.raises(flavour.fault):
        flavour.module.decode(flavour.type("Root"), kind(b'{"uri":1}'))


@pytest.mark.parametrize("strange", [int, dict, ..., "TextContent", None, list[str]], ids=str)
@pytest.mark.parametrize("text", ["{}", "1", "no JSON"])
def test_a_type_of_somebody_else_is_a_type_error(flavour: Flavour, strange: Any, text: str) -> None:
    with pytest.raises(TypeError):
        flavour.module.decode(strange, text)
    with pytest.raises(TypeError):
        flavour.module.from_wire(strange, {})


def test_a_module_says_what_is_public(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    public = set(flavour.module.__all__)
    wanted = {declaration.name for declaration in schema_of(revision).own}
    assert wanted | {"UNSET", "DecodeError", "decode", "encode", "from_wire", "to_wire"} <= public
    assert issubclass(flavour.module.EncodeError, ValueError)
    assert ("MemberError" in public) is (flavour.name != "pydantic")
    assert all(hasattr(flavour.module, name) for name in public)


def test_constants_of_the_schema_have_their_values(each: tuple[str, Flavour]) -> None:
    revision, flavour = each
    for const in schema_of(revision).consts.values():
        assert getattr(flavour.module, const.name) == const.value
