"""Two tool surfaces: what is found, whom it breaks, and that the witnesses are witnesses.

Every witness is judged by a validator that knows nothing of the types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report.report import Report, document
from mcp_bindgen.errors import InputError, LimitExceeded
from mcp_bindgen.limits import MAX_TOOLS
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read

STRING = {"type": "string"}
NUMBER = {"type": "number"}


def tool(name: str = "t", input: Any = None, output: Any = None, **more: Any) -> dict[str, Any]:
    given = {"name": name, "inputSchema": {"type": "object"} if input is None else input}
    return given | ({} if output is None else {"outputSchema": output}) | more


def object_of(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def closed(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    return object_of(required, **properties) | {"additionalProperties": False}


def report(old: Any, new: Any) -> Report:
    texts = [json.dumps(side).encode() for side in (old, new)]
    return compare(read(texts[0], "old.json"), read(texts[1], "new.json"))


def diff(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Finding]:
    """The findings by rule and path; each witness is proved."""
    findings = report([old], [new]).findings
    for finding in findings:
        prove(finding, old, new)
    return {f"{f.rule.id} {f.change.path}": f for f in findings}


def prove(finding: Finding, old: dict[str, Any], new: dict[str, Any]) -> None:
    """One side's validator takes each witness, the other's does not."""
    for witness in finding.witnesses:
        writer, reader = (old, new) if witness.writer == "old" else (new, old)
        if witness.part == "result":
            value, member = witness.message["result"].get("structuredContent"), "outputSchema"
            if member not in writer or member not in reader:
                continue
        else:
            value, member = witness.message["params"]["arguments"], "inputSchema"
        assert jsonschema_rs.is_valid(writer[member], value), (value, writer[member])
        assert not jsonschema_rs.is_valid(reader[member], value), (value, reader[member])


def inputs(old: Any, new: Any) -> dict[str, Finding]:
    return diff(tool(input=old), tool(input=new))


def outputs(old: Any, new: Any) -> dict[str, Finding]:
    return diff(tool(output=old), tool(output=new))


def verdicts(finding: Finding) -> tuple[str, str, str]:
    return finding.client, finding.server, finding.bindings


# ---- tools


def test_equal_surfaces_have_no_findings() -> None:
    tools = [tool(input=closed(["a"], a=STRING)), tool("u", output=object_of(b=NUMBER))]
    reordered = [json.loads(json.dumps(tools[1])), json.loads(json.dumps(tools[0]))]
    assert report(tools, reordered).findings == ()


def test_a_tool_that_is_gone_breaks_its_callers() -> None:
    findings = report([tool(), tool("u")], [tool()]).findings
    assert [(f.rule.id, f.change.path) for f in findings] == [("TOOL_REMOVED", "u")]
    assert verdicts(findings[0]) == ("breaks", "holds", "breaks")
    assert findings[0].witnesses[0].message["params"] == {"name": "u", "arguments": {}}


def test_a_tool_that_is_new_is_not_known_to_an_old_server() -> None:
    findings = report([tool()], [tool(), tool("u")]).findings
    assert [(f.rule.id, f.change.path) for f in findings] == [("TOOL_ADDED", "u")]
    assert verdicts(findings[0]) == ("holds", "if used", "holds")


@pytest.mark.parametrize(
    ("old", "new", "expected", "said"),
    [
        (
            object_of(),
            object_of(["a"], a=STRING),
            "MEMBER_ADDED_REQUIRED t.input.a",
            "breaks holds breaks",
        ),
        (object_of(), object_of(a=STRING), "MEMBER_ADDED_OPTIONAL t.input.a", "holds holds holds"),
        (
            object_of(a=STRING),
            object_of(),
            "MEMBER_REMOVED_OPTIONAL t.input.a",
            "holds holds breaks",
        ),
        (
            object_of(["a"], a=STRING),
            object_of(),
            "MEMBER_REMOVED_REQUIRED t.input.a",
            "holds breaks breaks",
        ),
        (
            object_of(a=STRING),
            object_of(["a"], a=STRING),
            "MEMBER_BECAME_REQUIRED t.input.a",
            "breaks holds breaks",
        ),
        (
            object_of(["a"], a=STRING),
            object_of(a=STRING),
            "MEMBER_BECAME_OPTIONAL t.input.a",
            "holds breaks holds",
        ),
        (closed(), closed(a=STRING), "MEMBER_ADDED_CLOSED t.input.a", "holds if used holds"),
        (closed(a=STRING), closed(), "MEMBER_REMOVED_CLOSED t.input.a", "if used holds breaks"),
        (
            closed(),
            closed(["a"], a=STRING),
            "MEMBER_ADDED_REQUIRED_CLOSED t.input.a",
            "breaks breaks breaks",
        ),
        (
            closed(["a"], a=STRING),
            closed(),
            "MEMBER_REMOVED_REQUIRED_CLOSED t.input.a",
            "breaks breaks breaks",
        ),
        (object_of(), closed(), "TYPE_NARROWED t.input{}", "if used holds if used"),
        (closed(), object_of(), "TYPE_BECAME_UNKNOWN t.input{}", "holds if used holds"),
        (
            object_of(["a"], a=STRING),
            object_of(["a"], a=NUMBER),
            "TYPE_REPLACED t.input.a",
            "breaks breaks breaks",
        ),
        (
            object_of(a=NUMBER),
            object_of(a={"type": "integer"}),
            "NUMBER_BECAME_INTEGER t.input.a",
            "if used holds holds",
        ),
        (
            object_of(a={"enum": ["x", "y"]}),
            object_of(a={"enum": ["x"]}),
            "LITERAL_REMOVED t.input.a",
            "if used holds if used",
        ),
        (
            object_of(a=STRING),
            object_of(a={"type": ["string", "null"]}),
            "MEMBER_BECAME_NULLABLE t.input.a",
            "holds if used holds",
        ),
        (
            object_of(a={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            object_of(a={"type": "integer"}),
            "MEMBER_NO_LONGER_NULLABLE t.input.a",
            "if used holds if used",
        ),
        (
            object_of(a={"type": "array", "items": object_of(x=STRING)}),
            object_of(a={"type": "array", "items": object_of(["x"], x=STRING)}),
            "MEMBER_BECAME_REQUIRED t.input.a[].x",
            "if used holds breaks",
        ),
        (
            object_of(a={**STRING, "maxLength": 9}),
            object_of(a={**STRING, "maxLength": 5}),
            "BOUNDS_TIGHTENED t.input.a",
            "if used holds holds",
        ),
        (
            object_of(a={"additionalProperties": STRING, "type": "object"}),
            object_of(a={"additionalProperties": NUMBER, "type": "object"}),
            "TYPE_REPLACED t.input.a{}",
            "if used if used breaks",
        ),
    ],
)
def test_an_input_travels_to_the_server(old: Any, new: Any, expected: str, said: str) -> None:
    findings = inputs(old, new)
    assert list(findings) == [expected]
    assert " ".join(verdicts(findings[expected])) == said
    claimed = {"holds"} != {findings[expected].client, findings[expected].server}
    assert bool(findings[expected].witnesses) == claimed


@pytest.mark.parametrize(
    ("old", "new", "expected", "said"),
    [
        (
            object_of(),
            object_of(["a"], a=STRING),
            "MEMBER_ADDED_REQUIRED t.output.a",
            "holds breaks holds",
        ),
        (
            object_of(["a"], a=STRING),
            object_of(),
            "MEMBER_REMOVED_REQUIRED t.output.a",
            "breaks holds breaks",
        ),
        (
            object_of(["a"], a=STRING),
            object_of(a=STRING),
            "MEMBER_BECAME_OPTIONAL t.output.a",
            "breaks holds breaks",
        ),
        (
            object_of(a=STRING),
            object_of(["a"], a=STRING),
            "MEMBER_BECAME_REQUIRED t.output.a",
            "holds breaks holds",
        ),
        (closed(), closed(a=STRING), "MEMBER_ADDED_CLOSED t.output.a", "if used holds holds"),
        (
            object_of(a={"enum": ["x"]}),
            object_of(a={"enum": ["x", "y"]}),
            "LITERAL_ADDED t.output.a",
            "if used holds if used",
        ),
    ],
)
def test_an_output_travels_to_the_client(old: Any, new: Any, expected: str, said: str) -> None:
    findings = outputs(old, new)
    assert list(findings) == [expected]
    assert " ".join(verdicts(findings[expected])) == said
    assert findings[expected].witnesses


def test_a_schema_may_be_of_no_object() -> None:
    strings, numbers = {"type": "array", "items": STRING}, {"type": "array", "items": NUMBER}
    assert list(inputs(strings, numbers)) == ["TYPE_REPLACED t.input[]"]
    assert list(outputs(STRING, NUMBER)) == ["TYPE_REPLACED t.output"]
    assert list(outputs({}, STRING)) == ["TYPE_NARROWED t.output"]


def test_the_witness_of_an_input_is_a_whole_call() -> None:
    findings = inputs(object_of(), object_of(["a"], a=STRING))
    (witness,) = findings["MEMBER_ADDED_REQUIRED t.input.a"].witnesses
    assert witness.message == {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "tools/call",
        "params": {"name": "t", "arguments": {}},
    }
    assert (witness.writer, witness.path) == ("old", "$.params.arguments.a")


def test_an_output_that_is_new_or_gone_is_told() -> None:
    plain, typed = tool(), tool(output=object_of(["a"], a=STRING))
    came = diff(plain, typed)
    assert list(came) == ["TOOL_OUTPUT_ADDED t.output"]
    assert verdicts(came["TOOL_OUTPUT_ADDED t.output"]) == ("holds", "breaks", "holds")
    gone = diff(typed, plain)
    assert list(gone) == ["TOOL_OUTPUT_REMOVED t.output"]
    assert verdicts(gone["TOOL_OUTPUT_REMOVED t.output"]) == ("breaks", "holds", "breaks")


def test_a_tool_that_is_perhaps_renamed_is_told_so() -> None:
    old = [tool("getSum"), tool("a_b"), tool("gone")]
    new = [tool("get-sum"), tool("aB"), tool("A.b"), tool("come")]
    notes = {f.change.path: f.change.note for f in report(old, new).findings if f.change.note}
    assert notes == {
        "getSum": "perhaps renamed: see get-sum",
        "get-sum": "perhaps renamed: see getSum",
    }


# ---- shapes


def test_where_a_shape_is_written_does_not_matter() -> None:
    shape = object_of(["x"], x=STRING)
    inline = object_of(a=shape, b=shape)
    named = object_of(a={"$ref": "#/$defs/S"}, b={"allOf": [{"$ref": "#/$defs/S"}]})
    parted = object_of(a={"allOf": [object_of(x=STRING), {"required": ["x"]}]}, b=shape)
    assert inputs(inline, named | {"$defs": {"S": shape}}) == {}
    assert inputs(named | {"$defs": {"S": shape}}, parted) == {}


def test_a_change_of_a_shared_shape_is_told_wherever_it_is_used() -> None:
    named = object_of(a={"$ref": "#/$defs/S"}, b={"type": "array", "items": {"$ref": "#/$defs/S"}})
    findings = inputs(
        named | {"$defs": {"S": object_of(x=STRING)}},
        named | {"$defs": {"S": object_of(["x"], x=STRING)}},
    )
    assert list(findings) == [
        "MEMBER_BECAME_REQUIRED t.input.a.x",
        "MEMBER_BECAME_REQUIRED t.input.b[].x",
    ]


def test_a_shape_that_stands_in_itself_is_compared_once() -> None:
    def tree(required: list[str]) -> Any:
        node = object_of(required, x=STRING, kids={"type": "array", "items": {"$ref": "#/$defs/N"}})
        return object_of(root={"$ref": "#/$defs/N"}) | {"$defs": {"N": node}}

    assert list(inputs(tree([]), tree(["x"]))) == ["MEMBER_BECAME_REQUIRED t.input.root.x"]


def test_alternatives_are_the_same_in_another_order() -> None:
    a, b = object_of(["k"], k={"const": "a"}, x=STRING), object_of(["k"], k={"const": "b"})
    assert inputs(object_of(s={"anyOf": [a, b]}), object_of(s={"oneOf": [b, a]})) == {}


def test_a_change_inside_an_alternative_is_told_at_its_member() -> None:
    def either(required: list[str]) -> Any:
        first = object_of(["k", *required], k={"const": "a"}, x=STRING, y=STRING)
        second = object_of(["k"], k={"const": "b"})
        return object_of(s={"anyOf": [second, first]})

    assert list(inputs(either([]), either(["x"]))) == ["MEMBER_BECAME_REQUIRED t.input.s.x"]


# ---- what no type says


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"pattern": "a+"}),
        ({"pattern": "a+"}, {"pattern": "b+"}),
        ({"not": {"type": "null"}}, {}),
        ({"not": {"$ref": "#/$defs/x"}}, {"not": {"$ref": "#/$defs/y"}}),
        ({"multipleOf": 2}, {"multipleOf": 3}),
        ({"uniqueItems": True}, {}),
        ({"nullable": True}, {}),
        ({"if": {"required": ["a"]}}, {}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "number"}]},
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        ),
        ({"enum": [["a"]]}, {"enum": [["b"]]}),
        ({"type": "array"}, {"type": "array", "items": {"pattern": "a"}}),
    ],
)
def test_a_keyword_that_is_not_read_is_never_passed_over(old: Any, new: Any) -> None:
    defs = {"$defs": {"x": {"const": 1}, "y": {"const": 2}}}
    findings = inputs(object_of(a=old) | defs, object_of(a=new) | defs)
    unread = [f for f in findings.values() if f.rule.id == "TOOL_SCHEMA_UNREAD"]
    assert len(unread) == 1
    assert unread[0].change.path.startswith("t.input.a")
    assert verdicts(unread[0]) == ("if used", "if used", "if used")
    assert (unread[0].witnesses, "not interpreted" in unread[0].unproved) == ((), True)


def test_what_an_unread_keyword_refers_to_counts() -> None:
    schema = object_of(a={"not": {"$ref": "#/$defs/x"}})
    findings = inputs(schema | {"$defs": {"x": STRING}}, schema | {"$defs": {"x": NUMBER}})
    assert list(findings) == ["TOOL_SCHEMA_UNREAD t.input.a"]


def test_a_recursion_that_leads_elsewhere_is_not_passed_over() -> None:
    def nested(ref: str) -> Any:
        inner = object_of(y={"$ref": ref, "x-note": 1}, z={"pattern": "b"})
        return object_of(z={"pattern": "a"}, in_=inner)

    findings = inputs(nested("#"), nested("#/properties/in_"))
    assert "TOOL_SCHEMA_UNREAD t.input.in_.y" in findings


def test_an_unread_keyword_inside_a_changed_alternative_stays_equal() -> None:
    def either(required: list[str]) -> Any:
        first = object_of(required, k={"const": "a"}, x={**STRING, "pattern": "p"}, y=STRING)
        return object_of(s={"anyOf": [first, object_of(["k"], k={"const": "b"})]})

    findings = inputs(either(["k"]), either(["k", "y"]))
    assert list(findings) == ["MEMBER_BECAME_REQUIRED t.input.s.y"]


def test_of_a_new_member_nothing_more_is_told() -> None:
    findings = inputs(object_of(), object_of(a={**STRING, "pattern": "p", "description": "d"}))
    assert list(findings) == ["MEMBER_ADDED_OPTIONAL t.input.a"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"title": "A"}, {"title": "B"}, "TOOL_TEXT_CHANGED t.title"),
        ({}, {"description": "B"}, "TOOL_TEXT_CHANGED t.description"),
        (
            {"annotations": {"readOnlyHint": True}},
            {"annotations": {"readOnlyHint": False}},
            "TOOL_ANNOTATION_CHANGED t.annotations.readOnlyHint",
        ),
        (
            {"annotations": {"title": "A"}},
            {},
            "TOOL_ANNOTATION_CHANGED t.annotations.title",
        ),
        ({"icons": []}, {}, "TOOL_META_CHANGED t.icons"),
        ({"_meta": {"a": 1}}, {"_meta": {"a": 2}}, "TOOL_META_CHANGED t._meta"),
    ],
)
def test_what_only_informs_is_docs(old: Any, new: Any, expected: str) -> None:
    findings = diff(tool(**old), tool(**new))
    assert list(findings) == [expected]
    assert findings[expected].severity == "docs"


def test_a_description_inside_a_schema_informs() -> None:
    findings = inputs(object_of(a=STRING), object_of(a={**STRING, "description": "An a."}))
    assert [(key, f.severity) for key, f in findings.items()] == [
        ("TOOL_TEXT_CHANGED t.input.a", "docs")
    ]


@pytest.mark.parametrize(("key", "value"), [("default", 1), ("format", "uri")])
def test_a_tag_of_a_member_informs(key: str, value: Any) -> None:
    findings = inputs(object_of(a={}), object_of(a={key: value}))
    assert [(k, f.severity) for k, f in findings.items()] == [("TAG_CHANGED t.input.a", "docs")]


def test_no_task_support_is_said_by_absence_too() -> None:
    assert diff(tool(), tool(execution={"taskSupport": "forbidden"})) == {}


def test_whether_a_call_is_a_task_is_dangerous() -> None:
    findings = diff(
        tool(execution={"taskSupport": "optional"}), tool(execution={"taskSupport": "required"})
    )
    (finding,) = findings.values()
    assert (finding.rule.id, finding.severity) == ("TOOL_EXECUTION_CHANGED", "dangerous")


# ---- files


@pytest.mark.parametrize(
    "wrapped",
    [
        {"tools": [tool("a"), tool("b")]},
        {"tools": [tool("a"), tool("b")], "nextCursor": None},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool("a"), tool("b")]}},
        [tool("a"), tool("b")],
        [{"tools": [tool("a")], "nextCursor": "x"}, {"tools": [tool("b")]}],
        [{"id": 1, "result": {"tools": [tool("a")]}}, {"id": 2, "result": {"tools": [tool("b")]}}],
    ],
)
def test_each_form_of_a_list_is_read(wrapped: Any) -> None:
    surface = read(json.dumps(wrapped).encode(), "t.json")
    assert [m.name for m in surface.side.schema.methods] == ["a", "b"]


def test_pages_may_follow_one_another() -> None:
    pages = [{"tools": [tool("a")], "nextCursor": "x"}, {"tools": [tool("b")]}]
    surface = read("\n".join(map(json.dumps, pages)).encode(), "t.json")
    assert [m.name for m in surface.side.schema.methods] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "t.json: is empty"),
        ("{}", r"t.json:1:1: \$: expected the result of `tools/list`"),
        ("1", "expected the result of `tools/list`"),
        ('{"error": {"code": 1}}', "is an error response"),
        ('{"tools": {}}', r"t.json:1:11: \$.tools: expected a list of tools"),
        ('{"tools": [1]}', r"\$.tools\[0\]: expected a tool"),
        ('{"tools": [{"name": "a"}]}', "expected a tool with `name` and `inputSchema`"),
        ('[{"name": 1, "inputSchema": {}}]', r"\$\[0\].name: expected the name of a tool"),
        ('[{"name": "a", "inputSchema": 1}]', r"\$\[0\].inputSchema: expected a schema"),
        (
            '[{"name": "a", "inputSchema": {"properties": {"x": {"type": "text"}}}}]',
            r"t.json:1:61: \$\[0\].inputSchema.properties.x.type: expected one or some",
        ),
        (json.dumps([tool("a"), tool("a")]), "a second tool is called 'a'"),
        ('{"tools": [], "nextCursor": "x"}', "the list of tools goes on"),
        (json.dumps([tool(str(n)) for n in range(MAX_TOOLS + 1)]), "more than 4096"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(body: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(body.encode(), "t.json")


def test_a_file_that_nests_too_deep_is_refused() -> None:
    deep = '{"items":' * 70 + "{}" + "}" * 70
    with pytest.raises(LimitExceeded, match="nest deeper"):
        read(f'[{{"name": "a", "inputSchema": {deep}}}]'.encode(), "t.json")


@pytest.mark.parametrize(
    "name", ["a.b", "a input", "t\n\x1b[31m", "a|b", '"', "#", "a.input.b", "é"]
)
def test_any_name_may_be_that_of_a_tool_or_a_member(name: str) -> None:
    old, new = object_of(**{name: STRING}), object_of([name], **{name: STRING})
    findings = diff(tool(name, old), tool(name, new))
    assert list(findings) == [f"MEMBER_BECAME_REQUIRED {name}.input.{name}"]


def test_names_that_look_like_paths_do_not_meet() -> None:
    old = [tool("a", object_of(**{"b.input": object_of(x=STRING)})), tool("a.input.b", object_of())]
    new = [tool("a", object_of(**{"b.input": object_of()})), tool("a.input.b", object_of(x=STRING))]
    rows = [(f.rule.id, f.change.path) for f in report(old, new).findings]
    assert rows == [
        ("MEMBER_REMOVED_OPTIONAL", "a.input.b.input.x"),
        ("MEMBER_ADDED_OPTIONAL", "a.input.b.input.x"),
    ]


def test_a_finding_knows_its_place_in_both_files() -> None:
    body = json.dumps([tool(input=object_of(a=STRING))], indent=1)
    sides = [
        read(body.replace('"string"', kind).encode(), f"{n}.json")
        for n, kind in enumerate(('"string"', '"number"'))
    ]
    finding = document(compare(*sides))["findings"][0]
    line = body[: body.index('"a"')].count("\n") + 1
    assert finding["old"]["place"] == f"0.json:{line}:10"
    assert finding["new"]["place"] == f"1.json:{line}:10"


# ---- random surfaces

SCALARS = st.sampled_from(
    [STRING, NUMBER, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": ["a", 1]},
     {"const": "a"}, {**STRING, "maxLength": 1}, {**NUMBER, "minimum": 1}, {}, {"type": "boolean"}]
)  # fmt: skip
NAMES = st.sampled_from(["a", "b", "c"])


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    shapes = st.builds(
        lambda properties, required, more: object_of(required, **properties) | more,
        st.dictionaries(NAMES, inner, max_size=2),
        st.lists(NAMES, unique=True, max_size=1),
        st.sampled_from([{}, {"additionalProperties": False}]),
    )
    either = st.lists(inner, min_size=1, max_size=2).map(lambda arms: {"anyOf": arms})
    return shapes | either | inner.map(lambda item: {"type": "array", "items": item})


SCHEMAS = objects(st.recursive(SCALARS, objects, max_leaves=4))


@given(SCHEMAS, SCHEMAS, st.booleans())
def test_every_witness_of_random_schemas_is_one(old: Any, new: Any, output: bool) -> None:
    (outputs if output else inputs)(old, new)


VALUES: list[Any] = [
    "", "a", "ab", 0, 1, 0.5, None, True, [], {}, ["a"], [0], [None], [{}], {"a": 1}, {"a": "a"},
    {"b": "ab"}, {"c": None}, {"a": {}, "b": []}, {"a": {"b": 1}}, {"a": [0.5]}, {"key": None},
    {"a": "a", "b": 1}, {"a": True, "c": "a"}, {"a": 0, "b": 0, "c": 0}, [[]], {"c": {"c": {}}},
]  # fmt: skip


@given(SCHEMAS, SCHEMAS)
def test_a_value_that_one_side_takes_alone_contradicts_no_verdict(old: Any, new: Any) -> None:
    """Members that the writer's schema does not list are set aside, as everywhere."""
    findings = inputs(old, new).values()
    if any(sends(old, value) and not jsonschema_rs.is_valid(new, value) for value in VALUES):
        assert any(f.client != "holds" for f in findings)
    if any(sends(new, value) and not jsonschema_rs.is_valid(old, value) for value in VALUES):
        assert any(f.server != "holds" for f in findings)


def sends(schema: Any, value: Any) -> bool:
    return jsonschema_rs.is_valid(shut(schema), value)


def shut(schema: Any) -> Any:
    """The schema with every object in it closed, to members beyond those that it lists."""
    if isinstance(schema, list):
        return [shut(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: shut(value) for key, value in schema.items() if key != "properties"}
    if "properties" not in schema:
        return inner
    listed = {key: shut(value) for key, value in schema["properties"].items()}
    required = {key: schema.get("additionalProperties", True) for key in schema["required"]}
    return inner | {"properties": required | listed, "additionalProperties": False}


# ---- hostile shapes


def node(*arms: Any) -> Any:
    """A required member that is one of `arms`, in which `#/$defs/N` is the same again."""
    return object_of(["a"], a={"$ref": "#/$defs/N"}) | {"$defs": {"N": {"anyOf": list(arms)}}}


AGAIN = {"$ref": "#/$defs/N"}
ENDLESS = object_of(["n"], n=AGAIN)


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (
            node(*(object_of(["n", k], n=AGAIN, **{k: {"const": k}}) for k in map(str, range(30)))),
            node(object_of(["n"], n=AGAIN)),
            "t.input.a",
        ),
        (
            node(ENDLESS, {"type": "integer", "minimum": 5}),
            node(ENDLESS, {"type": "integer", "minimum": 7}),
            "t.input.a",
        ),
        (
            node(ENDLESS, {"type": "array", "minItems": 1, "items": AGAIN}),
            node(ENDLESS, {"type": "array", "minItems": 2, "items": AGAIN}),
            "t.input.a",
        ),
    ],
)
def test_what_stands_in_itself_many_times_is_compared_in_time(
    old: Any, new: Any, path: str
) -> None:
    findings = inputs(old, new)
    assert {f.change.path[: len(path)] for f in findings.values()} == {path}


@pytest.mark.wide
def test_a_list_as_long_as_is_admitted_is_compared_in_time() -> None:
    tools = [tool(str(n), object_of(a=STRING)) for n in range(MAX_TOOLS)]
    changed = [*tools[:-1], tool(tools[-1]["name"], object_of(["a"], a=STRING))]
    assert [f.rule.id for f in report(tools, changed).findings] == ["MEMBER_BECAME_REQUIRED"]
