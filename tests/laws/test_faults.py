"""Where a fault is, what was expected, what was found: everyone says it in the same words."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from mcp_wire._wire.faults import EncodeError
from mcp_wire._wire.values import UNSET
from tests.support.instances import JSON
from tests.support.judges import FLAVOURS, canonical, flavour_of

REVISION: Final = "2025-11-25"


def fault(name: str, value: JSON, revision: str = REVISION) -> tuple[str, str, str]:
    """What everyone says: path, expected, found."""
    answers: dict[str, tuple[str, str, str]] = {}
    for flavour in (flavour_of(revision, name) for name in FLAVOURS):
        verdicts = (flavour.decode(name, json.dumps(value)), flavour.from_wire(name, value))
        for gear, verdict in zip(("decode", "from_wire"), verdicts, strict=True):
            assert not verdict.accepted, f"{flavour.name}.{gear}"
            answers[f"{flavour.name}.{gear}"] = (verdict.path, verdict.expected, verdict.found)
    assert len(set(answers.values())) == 1, answers
    return next(iter(answers.values()))


def kept(name: str, value: JSON, revision: str = REVISION) -> None:
    """Everyone reads it and writes it as it was."""
    for flavour in (flavour_of(revision, name) for name in FLAVOURS):
        for verdict in (flavour.decode(name, json.dumps(value)), flavour.from_wire(name, value)):
            assert verdict.accepted, f"{flavour.name} {verdict}"
            assert canonical(json.loads(flavour.encode(verdict.value))) == canonical(value)


FAULTS: Final[dict[str, tuple[str, JSON, tuple[str, str, str]]]] = {
    "root": ("Root", 1, ("$", "object", "1")),
    "member": ("Root", {"uri": True}, ("$.uri", "string", "true")),
    "missing": ("Root", {}, ("$.uri", "string", "nothing")),
    "null": ("Root", {"uri": "", "name": None}, ("$.name", "string", "null")),
    "element": ("Icon", {"src": "", "sizes": ["", 0.5]}, ("$.sizes[1]", "string", "0.5")),
    "name with a space": (
        "GetPromptRequestParams",
        {"name": "", "arguments": {"a b": None}},
        ('$.arguments["a b"]', "string", "null"),
    ),
    "name that is empty": (
        "GetPromptRequestParams",
        {"name": "", "arguments": {"": []}},
        ('$.arguments[""]', "string", "array"),
    ),
    "name with quotes": (
        "GetPromptRequestParams",
        {"name": "", "arguments": {'"\n': {}}},
        (r'$.arguments["\"\n"]', "string", "object"),
    ),
    "name that looks like an index": (
        "GetPromptRequestParams",
        {"name": "", "arguments": {"0": 1}},
        ('$.arguments["0"]', "string", "1"),
    ),
    "union of kinds": (
        "PingRequest",
        {"jsonrpc": "2.0", "id": [], "method": "ping"},
        ("$.id", "string | number", "array"),
    ),
    "closed literal": (
        "CallToolResult",
        {"content": [{"type": "text", "text": "", "annotations": {"audience": ["user", "b"]}}]},
        ("$.content[0].annotations.audience[1]", '"user" | "assistant"', '"b"'),
    ),
    "constant": ("TextContent", {"type": "texts", "text": ""}, ("$.type", '"text"', '"texts"')),
    "constant missing": ("TextContent", {"text": ""}, ("$.type", '"text"', "nothing")),
    "optional literal": (
        "ElicitRequestFormParams",
        {"message": "", "mode": "url", "requestedSchema": {"type": "object", "properties": {}}},
        ("$.mode", '"form"', '"url"'),
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_names_path_expected_and_found(case: str) -> None:
    name, value, shown = FAULTS[case]
    assert fault(name, value) == shown


def test_a_quoted_wire_name_is_quoted_in_the_path() -> None:
    value: JSON = {
        "io.modelcontextprotocol/protocolVersion": "a",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "loud",
    }
    path, _, shown = fault("RequestMetaObject", value, "2026-07-28")
    assert (path, shown) == ('$["io.modelcontextprotocol/logLevel"]', '"loud"')


LARGE: Final[tuple[JSON, ...]] = (
    ["x"] * 10_000,
    {"x": "y" * 10_000},
    "x" * 10_000,
    10**400,
    -(10**4_000),
)


@pytest.mark.parametrize("bad", LARGE, ids=range(5))
def test_what_is_found_is_told_shortly(bad: JSON) -> None:
    _, _, shown = fault("ToolAnnotations", {"readOnlyHint": bad})
    assert len(shown) < 100


def refusal(name: str, value: Any, revision: str = REVISION) -> tuple[str, str, str]:
    """What every flavour says about Python values that are no JSON."""
    verdicts = {
        flavour: flavour_of(revision, flavour).from_wire(name, value) for flavour in FLAVOURS
    }
    said = {(v.accepted, v.path, v.expected, v.found) for v in verdicts.values()}
    assert len(said) == 1, verdicts
    accepted, *fault = said.pop()
    assert not accepted
    return fault[0], fault[1], fault[2]


TEXT: Final[dict[str, Any]] = {"type": "text", "text": ""}
LONG: Final = 10**4_300
"""The least integer that has too many digits."""

NO_JSON: Final[tuple[Any, ...]] = (
    *(LONG, -LONG, 10**5_000, float("nan"), float("-inf")),
    *("\ud800", "\udfff", "caf\xe9\ud83d", "\ude00\ud83d", "\U0001f600\udc00"),
    *(b"a", object(), (1,), {1}, 1j, UNSET),
)
"""What cannot be parsed from text: too long, no number, half a character, of no JSON type."""

TYPED: Final[dict[str, tuple[str, Callable[[Any], Any], str]]] = {
    "boolean": ("ToolAnnotations", lambda x: {"readOnlyHint": x}, "$.readOnlyHint"),
    "string": ("Root", lambda x: {"uri": x}, "$.uri"),
    "optional string": ("Root", lambda x: {"uri": "", "name": x}, "$.name"),
    "number": (
        "ProgressNotificationParams",
        lambda x: {"progressToken": 1, "progress": x},
        "$.progress",
    ),
    "number with bounds": ("Annotations", lambda x: {"priority": x}, "$.priority"),
    "string or number": (
        "PingRequest",
        lambda x: {"jsonrpc": "2.0", "id": x, "method": "ping"},
        "$.id",
    ),
    "literal": ("Annotations", lambda x: {"audience": ["user", x]}, "$.audience[1]"),
    "constant": ("TextContent", lambda x: {"type": x, "text": ""}, "$.type"),
    "item of strings": ("Icon", lambda x: {"src": "", "sizes": ["\xe9", x]}, "$.sizes[1]"),
    "value of a map": (
        "GetPromptRequestParams",
        lambda x: {"name": "", "arguments": {"a": "\xe9", "b": x}},
        "$.arguments.b",
    ),
    "member in a union": (
        "CallToolResult",
        lambda x: {"content": [TEXT, {"type": "text", "text": x}]},
        "$.content[1].text",
    ),
    "arm of several kinds": (
        "ElicitResult",
        lambda x: {"action": "accept", "content": {"a": ["\xe9"], "b": x}},
        "$.content.b",
    ),
}
"""Where a declared member may stand: a type, a value around it, and the place."""


@pytest.mark.parametrize("where", TYPED)
@pytest.mark.parametrize("bad", NO_JSON, ids=range(len(NO_JSON)))
def test_parsed_json_that_is_none_is_a_fault_too(where: str, bad: Any) -> None:
    name, around, path = TYPED[where]
    fault = refusal(name, around(bad))
    assert fault[0] == path
    assert len(" ".join(fault)) < 200


def test_a_string_that_may_be_any_is_read_as_strictly() -> None:
    wanted = '"complete" | "input_required" | string'
    for bad, named in (("\ud800", "a lone surrogate"), (LONG, "an integer over 4300 digits")):
        said = refusal("EmptyResult", {"resultType": bad}, "2026-07-28")
        assert said == ("$.resultType", wanted, named)


ANYWHERE: Final[dict[str, tuple[str, Callable[[Any], Any], str]]] = {
    "unknown member": ("TextContent", lambda x: {**TEXT, "x": x}, "$.x"),
    "inside an unknown member": ("TextContent", lambda x: {**TEXT, "x": [0, {"y": x}]}, "$.x[1].y"),
    "any JSON": (
        "LoggingMessageNotificationParams",
        lambda x: {"level": "info", "data": x},
        "$.data",
    ),
    "object of any JSON": (
        "TextContent",
        lambda x: {**TEXT, "_meta": {"a b": x}},
        '$._meta["a b"]',
    ),
    "open object": (
        "Tool",
        lambda x: {"name": "", "inputSchema": {"type": "object", "x": x}},
        "$.inputSchema.x",
    ),
    "object of objects": (
        "ToolInputSchema",
        lambda x: {"type": "object", "properties": {"a": {"b": x}}},
        "$.properties.a.b",
    ),
    "in a union": (
        "CallToolResult",
        lambda x: {"content": [TEXT, {**TEXT, "x": x}]},
        "$.content[1].x",
    ),
}
"""Where any JSON may stand: a type, a value around it, and the place."""


@pytest.mark.parametrize("where", ANYWHERE)
@pytest.mark.parametrize("bad", NO_JSON, ids=range(len(NO_JSON)))
def test_any_json_is_json(where: str, bad: Any) -> None:
    name, around, path = ANYWHERE[where]
    assert refusal(name, around(bad))[:2] in {(path, "a JSON value"), (path, "a value")}


@pytest.mark.parametrize(
    "where", ["string", "string or number", "value of a map", "unknown member"]
)
@pytest.mark.parametrize(
    ("bad", "text"),
    [("\ud800", rb'"\ud800"'), (LONG, b"1" + b"0" * 4_300)],
    ids=["surrogate", "integer"],
)
def test_what_is_found_is_named_as_in_text(where: str, bad: Any, text: bytes) -> None:
    name, around, _ = (TYPED | ANYWHERE)[where]
    _, _, shown = refusal(name, around(bad))
    for flavour in (flavour_of(REVISION, each) for each in FLAVOURS):
        data = json.dumps(around("here")).encode().replace(b'"here"', text)
        assert flavour.decode(name, data).found == shown


INTEGERS: Final[tuple[JSON, ...]] = (LONG - 1, 1 - LONG, 10**400)
STRINGS: Final[tuple[JSON, ...]] = ("\U0001f600", "caf\xe9", "\ufffd", "\ud7ff\ue000")
TAKEN: Final[dict[str, tuple[JSON, ...]]] = {
    "number": INTEGERS,
    "string or number": INTEGERS + STRINGS,
    "arm of several kinds": INTEGERS + STRINGS,
    **dict.fromkeys(("string", "optional string", "item of strings"), STRINGS),
    **dict.fromkeys(("value of a map", "member in a union"), STRINGS),
    **dict.fromkeys(ANYWHERE, INTEGERS + STRINGS),
}


@pytest.mark.parametrize("where", TAKEN)
def test_the_longest_integers_and_whole_characters_are_json(where: str) -> None:
    name, around, _ = (TYPED | ANYWHERE)[where]
    for good in TAKEN[where]:
        kept(name, around(good))


@pytest.mark.parametrize("where", ANYWHERE)
@pytest.mark.parametrize("key", [1, None, True, b"a", ("a",), "\ud800"], ids=repr)
def test_names_in_any_json_are_text(where: str, key: Any) -> None:
    name, around, path = ANYWHERE[where]
    assert refusal(name, around({key: 1}))[:2] == (path, "a name that is text")


@pytest.mark.parametrize("name", ["TextContent", "GetPromptRequestParams", "ToolInputSchema"])
def test_names_of_members_are_text(name: str) -> None:
    value: dict[Any, Any] = {**TEXT, "name": "", "type": "text", 1: 2}
    if name == "ToolInputSchema":
        value = {"type": "object", 1: 2}
    assert refusal(name, value) == ("$", "a name that is text", "1")


@pytest.mark.parametrize("name", FLAVOURS)
def test_a_name_that_only_equals_a_declared_one_is_that_member(name: str) -> None:
    class Text(str):
        __slots__ = ()

    made = flavour_of(REVISION, name).from_wire("Root", {Text("uri"): "a"})
    assert made.accepted, made
    assert made.value.uri == "a"
    assert refusal("Root", {"uri": "a", Text("x"): 1})[:2] == ("$", "a name that is text")


@pytest.mark.parametrize(("key", "named"), [(1, "1"), ("\ud800", "a lone surrogate")])
def test_names_in_a_map_are_text(key: Any, named: str) -> None:
    value: dict[str, Any] = {"name": "", "arguments": {"a": "", key: ""}}
    assert refusal("GetPromptRequestParams", value) == ("$.arguments", "a name that is text", named)


DEEP: Final = ("$", "JSON nested up to 128", "deeper nesting")


@pytest.mark.parametrize("where", ANYWHERE)
@pytest.mark.parametrize("levels", [128, 1_000, 100_000])
def test_parsed_json_has_the_depth_of_text(where: str, levels: int) -> None:
    name, around, path = ANYWHERE[where]
    room = 128 - len(re.findall(r"\.|\[", path))
    kept(name, around(nested(room)))
    assert refusal(name, around(nested(room + 1))) == DEEP
    assert refusal(name, around(nested(levels))) == DEEP


def nested(levels: int) -> Any:
    value: Any = 0
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def test_what_holds_itself_is_too_deep() -> None:
    knot: dict[str, Any] = dict(TEXT)
    knot["x"] = [knot]
    assert refusal("TextContent", knot) == DEEP


@pytest.mark.parametrize("name", FLAVOURS)
def test_what_is_nested_without_end_is_not_written(name: str) -> None:
    flavour = flavour_of(REVISION, name)
    endless: list[Any] = []
    endless.append(endless)
    for write in (flavour.module.encode, flavour.module.to_wire):
        with pytest.raises(EncodeError) as caught:
            write(endless)
        assert caught.value.found == "deeper nesting"


@pytest.mark.parametrize("name", FLAVOURS)
def test_a_fault_is_a_value_error_that_can_be_pickled(name: str) -> None:
    flavour = flavour_of(REVISION, name)
    with pytest.raises(ValueError, match="uri") as caught:
        flavour.module.decode(flavour.type("Root"), b"{}")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.path == "$.uri"


# ---- nothing is coerced


@pytest.mark.parametrize("bad", [True, False, "1", "", None, [], [1], {}])
def test_nothing_but_a_number_is_a_number(bad: JSON) -> None:
    path, expected, _ = fault("Annotations", {"priority": bad})
    assert path == "$.priority"
    assert expected.startswith("number")
    assert (
        fault("ProgressNotificationParams", {"progressToken": 1, "progress": bad})[0]
        == "$.progress"
    )


@pytest.mark.parametrize("bad", [0, 1, 0.5, True, None, [], {}])
def test_nothing_but_text_is_a_string(bad: JSON) -> None:
    assert fault("TextContent", {"type": "text", "text": bad})[:2] == ("$.text", "string")


@pytest.mark.parametrize("bad", [0, 1, 1.0, "true", "", None, []])
def test_nothing_but_true_and_false_is_a_boolean(bad: JSON) -> None:
    assert fault("ToolAnnotations", {"readOnlyHint": bad})[:2] == ("$.readOnlyHint", "boolean")


@pytest.mark.parametrize("bad", [[], [["name", "a"], ["version", "1"]], "a", 1, None, True])
def test_nothing_but_an_object_is_an_object(bad: JSON) -> None:
    assert fault("Implementation", bad)[0] == "$"
    assert fault("TextContent", {"type": "text", "text": "", "_meta": bad})[0] == "$._meta"
    assert fault("ClientCapabilities", {"roots": bad})[0] == "$.roots"


@pytest.mark.parametrize("bad", [{}, {"0": "a"}, "a", 1, None])
def test_nothing_but_an_array_is_an_array(bad: JSON) -> None:
    assert fault("ListToolsResult", {"tools": bad})[0] == "$.tools"


@pytest.mark.parametrize(
    "bad", ["Light", "", "light ", "light\0", "lig", None, 1, True, [], {}, ["light"]]
)
def test_a_closed_literal_is_closed(bad: JSON) -> None:
    assert fault("Icon", {"src": "a", "theme": bad})[:2] == ("$.theme", '"light" | "dark"')


@pytest.mark.parametrize("bad", ["texts", "", "TEXT", None, 1, True, [], {}, ["text"]])
def test_a_constant_is_checked_wherever_it_stands(bad: JSON) -> None:
    value: JSON = {"type": bad, "text": "a"}
    assert fault("TextContent", value)[:2] == ("$.type", '"text"')
    assert fault("ContentBlock", value)[0] == "$.type"
    assert fault("CallToolResult", {"content": [value]})[0] == "$.content[0].type"


@pytest.mark.parametrize("bad", [-32041, "-32042", None, True, -32042.5, [], {}])
def test_a_constant_number_is_checked(bad: JSON) -> None:
    error: JSON = {"code": -32042, "message": "", "data": {"elicitations": []}}
    kept("URLElicitationRequiredErrorError", error)
    shown = fault("URLElicitationRequiredErrorError", {**error, "code": bad})
    assert shown[:2] == ("$.code", "-32042")


@pytest.mark.parametrize("text", ["-32042", "-32042.0", "-3.2042e4"])
def test_a_constant_number_is_a_number_however_it_is_written(text: str) -> None:
    value = f'{{"code":{text},"message":"","data":{{"elicitations":[]}}}}'
    for flavour in (flavour_of(REVISION, name) for name in FLAVOURS):
        for read in (
            flavour.decode,
            lambda name, text, f=flavour: f.from_wire(name, json.loads(text)),
        ):
            made = read("URLElicitationRequiredErrorError", value).value
            assert made.code.__class__ is int
            assert b'"code":-32042,' in flavour.encode(made)


@pytest.mark.parametrize("bad", [-1, 2, 1.0000000000000002, -5e-324, 10**400, -(10**400), 1e308])
def test_beyond_the_bounds_is_refused(bad: float) -> None:
    assert fault("Annotations", {"priority": bad})[0] == "$.priority"


def test_an_array_has_its_bound() -> None:
    kept("CompleteResultCompletion", {"values": ["a"] * 100}, "2026-07-28")
    path, _, _ = fault("CompleteResultCompletion", {"values": ["a"] * 101}, "2026-07-28")
    assert path == "$.values"
    kept("CompleteResultCompletion", {"values": ["a"] * 101}, "2025-11-25")


def test_a_format_only_informs() -> None:
    kept("Root", {"uri": "no URI at all"})
    kept("ImageContent", {"type": "image", "data": "no base64!", "mimeType": ""})


# ---- unions

TASK: Final[JSON] = {
    "taskId": "a",
    "status": "working",
    "createdAt": "",
    "lastUpdatedAt": "",
    "ttl": None,
}
RESULTS: Final[dict[str, tuple[str, JSON]]] = {
    "nothing": ("Result", {}),
    "content": ("CallToolResult", {"content": []}),
    "tools": ("ListToolsResult", {"tools": []}),
    "a task": ("GetTaskResult", TASK),
    "a server": (
        "InitializeResult",
        {"protocolVersion": "", "capabilities": {}, "serverInfo": {"name": "", "version": ""}},
    ),
    "what no specific arm takes": ("Result", {"content": "no array", "tools": {}}),
    "two results at once": ("CallToolResult", {"content": [], "tools": "no array"}),
}


@pytest.mark.parametrize("case", RESULTS)
def test_a_result_gets_the_first_class_that_accepts(case: str) -> None:
    name, value = RESULTS[case]
    kept("ServerResult", value)
    for flavour in (flavour_of(REVISION, which) for which in FLAVOURS):
        for made in (
            flavour.decode("ServerResult", json.dumps(value)),
            flavour.from_wire("ServerResult", value),
        ):
            assert type(made.value).__name__ == name, flavour.name


@pytest.mark.parametrize("bad", [None, {}, [1], [None], ["a", 1]])
def test_a_union_of_kinds_takes_each_and_nothing_else(bad: JSON) -> None:
    content: JSON = {"a": "b", "c": 1, "d": 1.5, "e": True, "f": ["g"], "h": []}
    kept("ElicitResult", {"action": "accept", "content": content})
    path = fault("ElicitResult", {"action": "accept", "content": {**content, "a b": bad}})[0]
    assert path.startswith('$.content["a b"]')


def test_one_block_or_many_are_content() -> None:
    block: JSON = {"type": "text", "text": "a"}
    for content in (block, [block], []):
        kept("SamplingMessage", {"role": "user", "content": content})
    assert (
        fault("SamplingMessage", {"role": "user", "content": [block, {}]})[0] == "$.content[1].type"
    )
