"""The laws of the models, one by one, in every flavour; test_differential has all at once."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from mcp_bindgen.ir import unions
from mcp_bindgen.ir.model import Arr, Ref, Struct, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.walk import strip_bounds
from tests.support.judges import FLAVOURS, REVISIONS, Flavour, canonical, flavour_of, schema_of

OLD: Final = "2025-11-25"
NEW: Final = "2026-07-28"

TASK: Final[Mapping[str, Any]] = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2025-11-25T00:00:00Z",
    "lastUpdatedAt": "2025-11-25T00:00:00Z",
    "ttl": None,
}
TEXT: Final[Mapping[str, Any]] = {"type": "text", "text": "a"}


@pytest.fixture(params=FLAVOURS)
def old(request: pytest.FixtureRequest) -> Flavour:
    return flavour_of(OLD, request.param)


@pytest.fixture(params=FLAVOURS)
def new(request: pytest.FixtureRequest) -> Flavour:
    return flavour_of(NEW, request.param)


def calls_of(flavour: Flavour) -> Any:
    return importlib.import_module(flavour.module.__name__.replace("models_", "calls_"))


def read(flavour: Flavour, name: str, value: Any) -> Any:
    """A value that both gears read alike."""
    made = flavour.module.decode(flavour.type(name), json.dumps(value))
    assert flavour.module.from_wire(flavour.type(name), value) == made
    return made


def written(flavour: Flavour, value: Any) -> Any:
    """What both writers write alike."""
    parsed = json.loads(flavour.encode(value))
    assert canonical(flavour.to_wire(value)) == canonical(parsed)
    return parsed


def faults(name: str, value: Any) -> set[tuple[str, str, str]]:
    """Path, expected and found, of every flavour in both gears; all must refuse."""
    places: set[tuple[str, str, str]] = set()
    for flavour in (flavour_of(OLD, which) for which in FLAVOURS):
        for verdict in (flavour.decode(name, json.dumps(value)), flavour.from_wire(name, value)):
            assert not verdict.accepted, flavour.name
            places.add((verdict.path, verdict.expected, verdict.found))
    return places


# ---- three states


def test_absent_is_unset_and_not_written(old: Flavour) -> None:
    made = read(old, "TextContent", TEXT)
    assert made.annotations is old.module.UNSET
    assert made.meta is old.module.UNSET
    assert not made.annotations
    assert written(old, made) == TEXT
    by_hand = old.type("TextContent")(text="a", annotations=old.module.UNSET)
    assert by_hand == made
    assert written(old, by_hand) == TEXT


def test_null_is_refused_where_the_type_has_none(old: Flavour) -> None:
    for member in ("annotations", "_meta", "text"):
        verdict = old.decode("TextContent", json.dumps({**TEXT, member: None}))
        assert (verdict.path, verdict.found) == (f"$.{member}", "null")


def test_a_required_nullable_is_always_written(old: Flavour) -> None:
    made = read(old, "Task", TASK)
    assert made.ttl is None
    assert written(old, made) == TASK
    assert written(old, read(old, "Task", {**TASK, "ttl": 5})) == {**TASK, "ttl": 5}
    without = {key: item for key, item in TASK.items() if key != "ttl"}
    assert old.decode("Task", json.dumps(without)).path == "$.ttl"
    by_hand = old.type("Task")(
        task_id="t",
        status="working",
        created_at=TASK["createdAt"],
        last_updated_at=TASK["lastUpdatedAt"],
        ttl=None,
    )
    assert by_hand == made
    assert written(old, by_hand) == TASK


def test_null_as_a_value_of_anything_is_kept(old: Flavour) -> None:
    note = {"level": "info", "data": None}
    made = read(old, "LoggingMessageNotificationParams", note)
    assert made.data is None
    assert written(old, made) == note


# ---- unknown members


def test_unknown_members_survive_as_extra(old: Flavour) -> None:
    value = {**TEXT, "x": [1, None, {"y": 1.0}], "annotations": {"z": None}, "meta": 1}
    made = read(old, "TextContent", value)
    assert made.extra_ == {"x": [1, None, {"y": 1.0}], "meta": 1}
    assert made.annotations.extra_ == {"z": None}
    assert made.meta is old.module.UNSET
    assert canonical(written(old, made)) == canonical(value)


def test_extra_is_an_empty_mapping_where_there_is_none(old: Flavour) -> None:
    for made in (read(old, "TextContent", TEXT), old.type("TextContent")(text="a")):
        extra: Any = made.extra_
        assert isinstance(extra, Mapping)
        assert dict(extra) == {} == extra


def test_extra_is_a_keyword(old: Flavour) -> None:
    made = old.type("TextContent")(text="a", extra_={"x": {"y": None}})
    assert made.extra_ == {"x": {"y": None}}
    assert written(old, made) == {**TEXT, "x": {"y": None}}
    assert made == read(old, "TextContent", {**TEXT, "x": {"y": None}})


@pytest.mark.parametrize("name", ["type", "text", "_meta", "annotations"])
def test_extra_cannot_hold_a_declared_member(old: Flavour, name: str) -> None:
    encode_error = importlib.import_module("mcp_wire._wire.faults").EncodeError
    with pytest.raises((TypeError, encode_error)):
        old.encode(old.type("TextContent")(text="a", extra_={name: "b"}))


# ---- constants


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", FLAVOURS)
def test_constants_are_set_by_the_class(revision: str, name: str) -> None:
    flavour = flavour_of(revision, name)
    seen = 0
    for struct in schema_of(revision).structs.values():
        for member in struct.consts:
            of = flavour.type(struct.name)
            if name != "pydantic":  # there an instance has it, which `test_differential` reads
                assert getattr(of, member.name) == member.const
            with pytest.raises(TypeError):
                of(**{member.name: member.const})
            seen += 1
    assert seen > 10


def test_constants_are_written_and_demanded(old: Flavour) -> None:
    made = old.type("TextContent")(text="a")
    assert made.type == "text"
    assert written(old, made) == TEXT
    for bad in ({"text": "a"}, {"text": "a", "type": "image"}, {"text": "a", "type": None}):
        assert old.decode("TextContent", json.dumps(bad)).path == "$.type"
        assert old.from_wire("TextContent", bad).path == "$.type"


# ---- classes


def test_unknown_keyword_arguments_are_errors(old: Flavour) -> None:
    for members in ({"nonsense": 1}, {"_meta": {}}, {"meta_": {}}):
        with pytest.raises(TypeError):
            old.type("TextContent")(text="a", **members)


def test_missing_arguments_are_errors(old: Flavour) -> None:
    import pydantic

    error = pydantic.ValidationError if old.name == "pydantic" else TypeError
    with pytest.raises(error):
        old.type("TextContent")()


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", FLAVOURS)
def test_what_is_required_cannot_be_unset(revision: str, name: str) -> None:
    """Not even by itself: it is refused where the value is made, as if it were not given."""
    flavour = flavour_of(revision, name)
    seen = 0
    for struct in schema_of(revision).structs.values():
        needed = [f for f in struct.fields if f.required and f.const is None]
        if needed:
            with pytest.raises((TypeError, ValueError)):
                flavour.type(struct.name)(**{f.name: flavour.module.UNSET for f in needed})
            seen += 1
    assert seen > 10


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", FLAVOURS)
def test_every_class_wants_exactly_its_required_members(revision: str, name: str) -> None:
    """Made without anything, a class fails if and only if the schema requires members."""
    flavour = flavour_of(revision, name)
    for struct in schema_of(revision).structs.values():
        needed = [f for f in struct.fields if f.required and f.const is None]
        of = flavour.type(struct.name)
        if needed:
            with pytest.raises((TypeError, ValueError)):
                of()
        else:
            consts = {f.wire: f.const for f in struct.consts}
            assert written(flavour, of()) == consts


def test_values_are_frozen(old: Flavour) -> None:
    made = old.type("TextContent")(text="a")
    opened = read(old, "CallToolRequest", _CALL)
    for value, member in ((made, "text"), (made, "meta"), (opened, "id"), (opened, "extra_")):
        with pytest.raises((AttributeError, ValueError)):
            setattr(value, member, "b")
        with pytest.raises((AttributeError, ValueError, TypeError)):
            delattr(value, member)
    assert made.text == "a"


def test_values_are_compared_by_class_and_members(old: Flavour) -> None:
    text = old.type("TextContent")
    assert text(text="a") == text(text="a")
    assert text(text="a") != text(text="b")
    assert text(text="a") != text(text="a", extra_={"x": 1})
    assert text(text="a") != text(text="a", meta={})
    assert text(text="a") != TEXT
    assert read(old, "CallToolRequest", _CALL) == read(old, "CallToolRequest", _CALL)
    assert read(old, "PingRequest", _PING) != read(old, "PingRequest", {**_PING, "id": 2})


_CALL: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "n"}}
_PING: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_values_are_printed_with_what_is_set(old: Flavour) -> None:
    text = old.type("TextContent")
    assert repr(text(text="a")) == "TextContent(text='a')"
    assert repr(text(text="a", meta={}, extra_={"x": 1})) in {
        "TextContent(text='a', meta={}, extra_={'x': 1})",
        "TextContent(extra_={'x': 1}, text='a', meta={})",
    }
    assert repr(read(old, "PingRequest", _PING)) == "PingRequest(id=1)"
    assert "ttl=None" in repr(read(old, "Task", TASK))


# ---- values


def test_literals_are_closed_unless_the_schema_opens_them(old: Flavour) -> None:
    base = {"role": "assistant", "content": TEXT, "model": "m"}
    for reason in ("endTurn", "maxTokens", "a reason of its own"):
        value = {**base, "stopReason": reason}
        assert written(old, read(old, "CreateMessageResult", value)) == value
    closed = old.decode("CreateMessageResult", json.dumps({**base, "role": "robot"}))
    assert closed.path == "$.role"
    assert closed.found == '"robot"'
    assert not old.decode("CreateMessageResult", json.dumps({**base, "stopReason": 1})).accepted


@pytest.mark.parametrize("priority", [0, 1, 0.0, 1.0, 0.5, 5e-324])
def test_bounds_are_inclusive(old: Flavour, priority: float) -> None:
    made = read(old, "Annotations", {"priority": priority})
    assert canonical(written(old, made)) == canonical({"priority": priority})


@pytest.mark.parametrize("priority", [-1, 2, -5e-324, 1.0000000000000002, 10**30])
def test_beyond_bounds_is_refused(priority: float) -> None:
    for flavour in (flavour_of(OLD, name) for name in FLAVOURS):
        assert (
            flavour.decode("Annotations", json.dumps({"priority": priority})).path == "$.priority"
        )
        assert flavour.from_wire("Annotations", {"priority": priority}).path == "$.priority"


WRONG: Final[dict[str, tuple[str, Any, str]]] = {
    "true is no number": ("Annotations", {"priority": True}, "$.priority"),
    "text is no number": ("Annotations", {"priority": "1"}, "$.priority"),
    "a number is no text": ("TextContent", {**TEXT, "text": 1}, "$.text"),
    "1 is not true": ("CallToolResult", {"content": [], "isError": 1}, "$.isError"),
    "text is not true": ("CallToolResult", {"content": [], "isError": "true"}, "$.isError"),
    "an object is no array": ("CallToolResult", {"content": {}}, "$.content"),
    "an array is no object": ("TextContent", {**TEXT, "_meta": []}, "$._meta"),
    "pairs are no object": ("TextContent", {**TEXT, "_meta": [["a", 1]]}, "$._meta"),
    "missing": ("CallToolResult", {}, "$.content"),
    "null for an object": ("CallToolResult", None, "$"),
    "in an array": (
        "CallToolResult",
        {"content": [TEXT, {**TEXT, "text": 1}]},
        "$.content[1].text",
    ),
    "no discriminator": ("CallToolResult", {"content": [{"text": "a"}]}, "$.content[0]"),
    "unknown discriminator": ("CallToolResult", {"content": [{"type": "x"}]}, "$.content[0]"),
    "in a map": (
        "ElicitResult",
        {"action": "accept", "content": {"a b": None}},
        '$.content["a b"]',
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_nothing_is_coerced_and_faults_are_told_alike(case: str) -> None:
    name, value, path = WRONG[case]
    problems = faults(name, value)
    assert len(problems) == 1, problems
    problem = next(iter(problems))
    assert problem[0].startswith(path)
    assert all(problem)


@pytest.mark.parametrize("number", [1, 1.0, 2**53 + 1, 10**30, -0.0, 1e22])
def test_numbers_keep_their_kind(old: Flavour, number: float) -> None:
    request = {"jsonrpc": "2.0", "id": number, "method": "ping"}
    made = read(old, "PingRequest", request)
    assert type(made.id) is type(number)
    assert canonical(written(old, made)) == canonical(request)


def test_a_member_of_unknown_type_must_be_there(old: Flavour) -> None:
    verdict = old.decode("LoggingMessageNotificationParams", '{"level": "info"}')
    assert verdict.path == "$.data"
    assert old.from_wire("LoggingMessageNotificationParams", {"level": "info"}).path == "$.data"


def test_the_class_of_a_union_is_its_first_arm_that_accepts(old: Flavour) -> None:
    def contents(**members: str) -> str:
        value = {"contents": [{"uri": "a:b", **members}]}
        return type(read(old, "ReadResourceResult", value).contents[0]).__name__

    assert contents(text="a") == "TextResourceContents"
    assert contents(blob="a") == "BlobResourceContents"
    both = {"uri": "a:b", "text": "a", "blob": "b"}
    of = schema_of(OLD).structs["ReadResourceResult"].field("contents")
    assert of is not None
    assert isinstance(of.type, Arr)
    assert contents(text="a", blob="b") == _first_of(of.type.of, both)

    def enum(value: Any) -> str:
        return type(read(old, "EnumSchema", value)).__name__

    titled = [{"const": "a", "title": "A"}]
    plain = {"type": "string", "enum": ["a"]}
    # The first arm adds one optional member to a later one, and is meant where that is there.
    named = {**plain, "enumNames": ["A"]}
    assert enum(named) == _first_of(Ref("EnumSchema"), named) == "LegacyTitledEnumSchema"
    assert enum(plain) == "UntitledSingleSelectEnumSchema"
    assert enum({"type": "string", "oneOf": titled}) == "TitledSingleSelectEnumSchema"
    several = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    assert enum(several) == "UntitledMultiSelectEnumSchema"
    assert enum({"type": "array", "items": {"anyOf": titled}}) == "TitledMultiSelectEnumSchema"


def _first_of(union: Type, value: Any) -> str:
    """The class that comes first among the arms that accept a value."""
    schema = schema_of(OLD)
    opened = strip_bounds(schema, union)
    assert isinstance(opened, Uni)
    first = next(arm for arm in unions.arms(schema, opened) if accepts(schema, arm, value))
    assert isinstance(first, Ref)
    return first.name


# ---- words


def test_deprecations_are_told_with_their_revision(new: Flavour) -> None:
    deprecated = [s for s in schema_of(NEW).structs.values() if s.deprecated is not None]
    assert deprecated
    for struct in deprecated:
        words = " ".join((new.type(struct.name).__doc__ or "").split())
        assert f"Deprecated since {NEW}" in words, struct.name


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", FLAVOURS)
def test_comments_are_docstrings(revision: str, name: str) -> None:
    flavour = flavour_of(revision, name)
    documented = [s for s in schema_of(revision).structs.values() if s.doc]
    assert documented
    for struct in documented:
        assert _first_words(struct) in " ".join((flavour.type(struct.name).__doc__ or "").split())


def _first_words(struct: Struct) -> str:
    return " ".join(struct.doc.split()[:4])


def test_methods_say_that_they_are_deprecated(new: Flavour) -> None:
    calls = calls_of(new)
    marked: set[str] = {
        name
        for facade in (calls.ClientCalls, calls.ServerCalls, calls.ClientHandlers)
        for name in dir(facade)
        if hasattr(getattr(facade, name), "__deprecated__")
    }
    assert {"logging_message", "create_message", "list_roots"} <= marked
    assert "call_tool" not in marked


# ---- methods


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("name", FLAVOURS)
def test_every_method_has_its_types(revision: str, name: str) -> None:
    flavour = flavour_of(revision, name)
    calls = calls_of(flavour)
    methods = schema_of(revision).methods
    assert set(calls.RESULTS) == {m.name for m in methods if m.result is not None}
    assert set(calls.PARAMS) == {m.name for m in methods if m.params is not None}
    params = calls.decode_params("prompts/get", json.dumps(_prompt(revision)))
    assert params == flavour.module.decode(
        calls.PARAMS["prompts/get"], json.dumps(_prompt(revision))
    )
    assert json.loads(calls.encode(params)) == _prompt(revision)
    for decode in (calls.decode_params, calls.decode_result):
        with pytest.raises(KeyError):
            decode("no/such", "{}")
        with pytest.raises(flavour.fault):
            decode("prompts/get", "[]")


def _prompt(revision: str) -> Any:
    value: dict[str, Any] = {"name": "p", "arguments": {"a": "b"}}
    if revision == NEW:
        value["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return value


def test_a_facade_speaks_through_its_transport(old: Flavour) -> None:
    calls, module = calls_of(old), old.module
    answers = {"tools/call": {"content": [TEXT], "x": 1}}
    sent: list[tuple[str, Any]] = []

    class Calls(calls.ClientCalls):
        async def request(self, method: str, params: object) -> object:
            sent.append((method, json.loads(calls.encode(params))))
            return calls.decode_result(method, json.dumps(answers[method]))

        async def notify(self, method: str, params: object) -> None:
            sent.append((method, params))

    async def talk() -> Any:
        client = Calls()
        await client.initialized()
        return await client.call_tool(module.CallToolRequestParams(name="n", arguments={"a": 1}))

    result = asyncio.run(talk())
    assert isinstance(result, module.CallToolResult)
    assert result.content[0].text == "a"
    assert written(old, result) == answers["tools/call"]
    assert sent == [
        ("notifications/initialized", None),
        ("tools/call", {"name": "n", "arguments": {"a": 1}}),
    ]
    with pytest.raises(TypeError):
        calls.ClientCalls()
