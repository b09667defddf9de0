"""Plans: what is carried by proof, what is asked for, and rows that cannot stand."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.convert import plan
from mcp_bindgen.convert.method_names import first_names
from mcp_bindgen.convert.model import Composed, Decision, Kept, Lost, New, StructStep, UnionStep
from mcp_bindgen.emit.generate import generate
from mcp_bindgen.emit.options import Options
from mcp_bindgen.errors import DecisionError, OutputError
from mcp_bindgen.ir.decisions import decisions
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.lower.lower import load
from mcp_bindgen.ir.model import Schema
from mcp_wire.steps._substitutes import json_as_text_item

PAIR: Final = "a..b"

FRAME: Final = """
interface Request { method: string; params?: { [key: string]: any } }
interface JSONRPCRequest extends Request { jsonrpc: "2.0"; id: string }
interface JSONRPCErrorResponse { jsonrpc: "2.0"; error: { code: number; message: string } }
type JSONRPCMessage = JSONRPCRequest | JSONRPCErrorResponse;
interface FooRequest extends JSONRPCRequest { method: "foo"; params: P }
interface FooResult { }
type ClientRequest = FooRequest;
"""


def lowered(name: str, body: str) -> Schema:
    return load((FRAME + body).encode(), f"{name}.ts", name)


def planned(folder: Path, old: str, new: str, rows: str = "") -> Any:
    """The plan of two schemas that differ in what `P`, the params of `foo`, is."""
    table = folder / "decisions.toml"
    table.write_text(rows, "utf-8")
    return plan(lowered("a", old), lowered("b", new), decisions.load(table))


def row(path: str, **keys: str) -> str:
    lines = "\n".join(f"{key.rstrip('_')} = {value}" for key, value in keys.items())
    return f'[[step]]\npair = "{PAIR}"\npath = "{path}"\n{lines}\npage = "p"\nwhy = "w"\n'


def asked(folder: Path, old: str, new: str, rows: str = "") -> list[str]:
    """The paths of the rows that are missing."""
    with pytest.raises(DecisionError) as caught:
        planned(folder, old, new, rows)
    lines = caught.value.remedy.splitlines()
    return [line[8:-1] for line in lines if line.startswith('path = "')]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("interface P { a: string }", "interface P { a: string }"),
        ("interface P { a: string }", "type A = string; interface P { a: A }"),
        (
            "interface P { a: Q } interface Q { b?: 1 }",
            "interface P { a: R } interface R { b?: 1 }",
        ),
        ("interface P { a: 'x' | 'y' }", "interface P { a: 'y' | 'x' }"),
        ("interface P { a?: object }", "interface P { a?: { [key: string]: unknown } }"),
        ("interface P { a: P[] | string }", "interface P { a: string | P[] }"),
        ("interface P { a?: P }", "interface P { a?: P }"),
    ],
)
def test_what_agrees_needs_neither_row_nor_function(tmp_path: Path, old: str, new: str) -> None:
    pair = planned(tmp_path, old, new)
    assert [direction.functions for direction in pair.directions] == [{}, {}]


@pytest.mark.parametrize(
    ("old", "new", "paths"),
    [
        ("interface P { a: string }", "interface P { a: string; b?: number }", ["P.b"]),
        ("interface P { a: string }", "interface P { a: string; b: number }", ["P.b", "P.b"]),
        ("interface P { a?: string }", "interface P { a: string }", ["P.a"]),
        ("interface P { a: string }", "interface P { a: number }", ["P.a", "P.a"]),
        ("interface P { a: 'x' }", "interface P { a: 'x' | 'y' }", ["P.a:y"]),
        ("interface P { a: 1 }", "interface P { a: 2 }", ["P.a", "P.a"]),
        ("interface P { a: string }", "interface P { a: string | null }", ["P.a:null"]),
        ("interface P { a: string[] }", "interface P { a: string }", ["P.a", "P.a"]),
        (
            "interface P { }",
            "interface P extends Q { } interface Q { c?: string }",
            ["Q.c"],
        ),
        (
            "interface T { type: 't' } interface P { a: T[] }",
            "interface T { type: 't' } interface U { type: 'u' } interface P { a: (T | U)[] }",
            ["P.a:U"],
        ),
        ("interface P { }", "interface P { } const BAD = -5;", ["BAD"]),
        ("interface P { } const BAD = -5;", "interface P { }", ["BAD"]),
        (
            "interface P {\n/**\n * @maximum 3\n */\na: number }",
            "interface P { a: number }",
            ["P.a"],
        ),
    ],
)
def test_what_does_not_agree_is_asked_for(
    tmp_path: Path, old: str, new: str, paths: list[str]
) -> None:
    assert asked(tmp_path, old, new) == paths


def test_a_method_of_one_side_is_asked_for(tmp_path: Path) -> None:
    more = """interface BarRequest extends JSONRPCRequest { method: "bar" }
    interface BarResult { } type ServerRequest = BarRequest; interface P { }"""
    assert asked(tmp_path, "interface P { }", more) == ["bar"]
    refused = row("bar", down='"refuse"', message='"no bar"', code="-32601")
    pair = planned(tmp_path, "interface P { }", more, refused)
    assert pair.down.refused["bar"].values["code"] == -32601


def with_methods(*names: str) -> str:
    """Requests of the server beside `foo`; all but `other` have the same params."""
    lines = ["interface P { } interface Q { q: string }"]
    for number, name in enumerate(names):
        params = "Q" if name == "other" else "P"
        lines.append(f"interface X{number}Request extends JSONRPCRequest")
        lines.append(f'{{ method: "{name}"; params: {params} }} interface X{number}Result {{ }}')
    arms = " | ".join(f"X{number}Request" for number in range(len(names)))
    return "\n".join([*lines, f"type ServerRequest = {arms};"])


RENAMED_METHOD: Final = row("bar/old", up='"rename"', to='"bar/new"')


def test_a_renamed_method_is_asked_about_once_and_answered_by_one_row(tmp_path: Path) -> None:
    old, new = with_methods("bar/old"), with_methods("bar/new")
    with pytest.raises(DecisionError, match="a row is missing") as caught:
        planned(tmp_path, old, new)
    assert "It may be `bar/new` there.) (rename, refuse)" in caught.value.remedy
    back = row("bar/new", down='"rename"', to='"bar/old"')
    for rows in (RENAMED_METHOD, back, RENAMED_METHOD + back):
        pair = planned(tmp_path, old, new, rows)
        assert (pair.up.renamed, pair.down.renamed) == (
            {"bar/old": "bar/new"},
            {"bar/new": "bar/old"},
        )
        assert (pair.up.refused, pair.down.refused) == ({}, {})
        assert first_names([pair]) == {"b": {"bar/new": "bar/old"}}


def test_a_method_that_was_not_renamed_is_asked_about_on_both_ways(tmp_path: Path) -> None:
    refused = row("bar/old", up='"refuse"', message='"no bar"')
    old, new = with_methods("bar/old"), with_methods("bar/new")
    assert asked(tmp_path, old, new, refused) == ["bar/new"]
    assert asked(tmp_path, with_methods("other"), with_methods("z")) == ["other", "z"]


@pytest.mark.parametrize(
    ("old", "new", "rows", "why"),
    [
        (("bar/old",), ("z",), RENAMED_METHOD, "`bar/new` is not a method that only b has"),
        (("bar/old", "bar/new"), ("bar/new",), RENAMED_METHOD, "not a method that only b has"),
        (
            ("bar/old", "bar"),
            ("bar/new",),
            RENAMED_METHOD + row("bar", up='"rename"', to='"bar/new"'),
            "stands for two methods",
        ),
    ],
)
def test_a_name_that_cannot_be_a_methods_is_refused(
    tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...], rows: str, why: str
) -> None:
    with pytest.raises(DecisionError, match=why):
        planned(tmp_path, with_methods(*old), with_methods(*new), rows)


def test_a_later_method_cannot_take_the_first_name_of_another_one(tmp_path: Path) -> None:
    first = planned(tmp_path, with_methods("bar/old"), with_methods("bar/new"), RENAMED_METHOD)
    third = lowered("c", with_methods("bar/new", "bar/old"))
    second = plan(first.new, third, Decisions({("step", "b..c", "down bar/old"): LATE}, "t"))
    with pytest.raises(OutputError, match="c: `bar/old` is a method, and the first name"):
        first_names([first, second])


LATE: Final = Row(
    "step", "b..c", "down bar/old", {"down": "refuse", "message": "no bar", "why": "w"}
)


def test_a_row_answers_and_makes_a_function(tmp_path: Path) -> None:
    new = "interface P { a: string; b?: number }"
    pair = planned(tmp_path, "interface P { a: string }", new, row("P.b", down='"drop"'))
    (down,) = pair.down.functions.values()
    assert isinstance(down, StructStep)
    (lost,) = down.members
    assert isinstance(lost, Lost)
    assert (lost.wire, lost.decision.why) == ("b", "w")
    (up,) = pair.up.functions.values()
    assert isinstance(up, StructStep)
    assert [type(member) for member in up.members] == [New]


def test_a_member_of_the_older_side_alone_is_carried_up(tmp_path: Path) -> None:
    pair = planned(tmp_path, "interface P { a?: string }", "interface P { }")
    assert pair.up.functions == {}


def test_a_renamed_member_keeps_its_way(tmp_path: Path) -> None:
    rows = row("P.a", up='"rename"', to='"b"') + row("P.b", down='"rename"', to='"a"')
    pair = planned(tmp_path, "interface P { a: 'x' }", "interface P { b: 'x' }", rows)
    for direction, names in zip(pair.directions, (("a", "b"), ("b", "a")), strict=True):
        (function,) = direction.functions.values()
        assert isinstance(function, StructStep)
        (kept,) = function.members
        assert isinstance(kept, Kept)
        assert (kept.wire, kept.to) == names


RENAMED: Final = ("interface P { a?: string }", "interface P { b?: string }")
OFTEN: Final = ("interface P { a?: string }", "interface P { b?: string; c?: string; d?: 1 }")
NARROWED: Final = ("interface P { a?: string | 1 }", "interface P { b?: string }")


@pytest.mark.parametrize(
    ("schemas", "rows", "questions"),
    [
        (
            RENAMED,
            "",
            ["`P.a`, up: b does not declare it; is it `b` there? (rename, drop, keep)"],
        ),
        (
            OFTEN,
            row("P.b", down='"drop"') + row("P.d", down='"drop"'),
            ["`P.a`, up: b does not declare it; is it `c` there? (rename, drop, keep)"],
        ),
        (
            NARROWED,
            row("P.b", down='"rename"', to='"a"'),
            ["`P.a`, up: b does not declare it; is it `b` there? (rename, drop, keep)"],
        ),
    ],
)
def test_a_new_name_is_asked_for_once(
    tmp_path: Path, schemas: tuple[str, str], rows: str, questions: list[str]
) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, *schemas, rows)
    assert re.findall(r"^# \S+: (.*)$", caught.value.remedy, re.MULTILINE) == questions


REQUIRED: Final = ("interface P { a: string }", "interface P { b: string }")


def test_a_required_member_with_another_name_is_one_question_and_one_row(tmp_path: Path) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, *REQUIRED)
    assert re.findall(r"^# \S+: (\S+, \w+)", caught.value.remedy, re.MULTILINE) == ["`P.a`, up"]
    pair = planned(tmp_path, *REQUIRED, row("P.a", up='"rename"', to='"b"'))
    names = [
        (member.wire, member.to)
        for direction in pair.directions
        for function in direction.functions.values()
        if isinstance(function, StructStep)
        for member in function.members
        if isinstance(member, Kept)
    ]
    assert names == [("a", "b"), ("b", "a")]


@pytest.mark.parametrize("answer", ["drop", "keep"])
def test_a_member_that_was_not_renamed_is_asked_about_on_both_ways(
    tmp_path: Path, answer: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, *REQUIRED, row("P.a", up=f'"{answer}"'))
    asked = re.findall(r"^# \S+: (\S+, \w+)", caught.value.remedy, re.MULTILINE)
    assert asked == ["`P.b`, up", "`P.b`, down", "`P.a`, down"]


SCOPE: Final = (
    "interface C { scope: 'all' | 'user' } interface P extends C { p?: 1 }"
    " interface Q extends C { }",
    "interface C { scope: 'all' | 'users' | 'shared' } interface P extends C { p?: 1 }"
    " interface Q extends C { }",
)
TWO: Final = "interface FooResult { p: P; q: Q } "


def test_a_literal_of_an_inherited_member_is_asked_about_once_with_its_likeness(
    tmp_path: Path,
) -> None:
    sides = TWO + SCOPE[0], TWO + SCOPE[1]
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, *sides)
    said = caught.value.remedy
    asked = re.findall(r"^# \S+: (\S+, \w+)", said, re.MULTILINE)
    assert asked == ["`C.scope:user`, up", "`C.scope:users`, down", "`C.scope:shared`, down"]
    assert "its values there: all, shared, users. Did you mean users?" in said
    rows = row("C.scope:user", up='"rename"', to='"users"')
    rows += row("C.scope:users", down='"rename"', to='"user"')
    rows += row("C.scope:shared", down='"degrade"', to='"all"')
    planned(tmp_path, *sides, rows)
    with pytest.raises(DecisionError, match=r"`C\.scope:shared`"):
        planned(tmp_path, *sides, rows.replace("C.scope:shared", "P.scope:shared"))


def test_a_row_that_nothing_asks_for_is_named_beside_the_missing_one(tmp_path: Path) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, *REQUIRED, row("FooParams.a", up='"keep"') + row("Z.z", up='"keep"'))
    said = caught.value.remedy
    assert "So far nothing asks for these rows:" in said
    assert "[[step]] `up FooParams.a`; is it for `P.a`?" in said
    assert re.search(r"`up Z\.z`$", said, re.MULTILINE)


def test_a_method_and_an_error_code_are_asked_about_with_their_likeness(tmp_path: Path) -> None:
    old = (
        "interface P { } export const HEADER_MISMATCH = -32020;"
        " interface GetRequest extends JSONRPCRequest { method: 'thing/get'; params: { a: 1 } }"
        " interface GetResult { } type ServerRequest = GetRequest;"
    )
    new = old.replace("-32020", "-32030").replace("thing/get", "things/get")
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, old, new)
    said = caught.value.remedy
    assert "`thing/get`, up: which part of the runtime handles it" in said
    assert "(It may be `things/get` there.)" in said
    assert "what becomes of an error -32020? (There `HEADER_MISMATCH` is -32030.)" in said


BLOCKS: Final = (
    "interface P { a: T } interface T { type: 'text'; text: string }",
    "interface P { a: T | N } interface T { type: 'text'; text: string }"
    " interface N { type: 'new'; rows: number[] }",
)


def test_a_new_block_may_become_text_and_the_question_says_so(tmp_path: Path) -> None:
    with pytest.raises(DecisionError, match="takes it; it can degrade as text \\(degrade, "):
        planned(tmp_path, *BLOCKS)
    pair = planned(tmp_path, *BLOCKS, row("P.a:N", down='"degrade"', as_='"text"'))
    assert any(isinstance(function, UnionStep) for function in pair.down.functions.values())


def test_a_row_to_paste_has_the_key_that_its_only_answer_needs(tmp_path: Path) -> None:
    more = (
        "interface P { } interface BarRequest extends JSONRPCRequest { method: 'bar' }"
        " interface BarResult { } type ServerRequest = BarRequest;"
    )
    with pytest.raises(DecisionError, match='\ndown = "refuse"\nmessage = ""\n'):
        planned(tmp_path, "interface P { }", more)


@pytest.mark.parametrize("up", ["keep", "drop"])
def test_a_member_that_goes_beside_a_new_one_need_not_be_renamed(tmp_path: Path, up: str) -> None:
    rows = row("P.a", up=f'"{up}"') + row("P.b", down='"drop"')
    members = [
        member
        for function in planned(tmp_path, *RENAMED, rows).up.functions.values()
        if isinstance(function, StructStep)
        for member in function.members
    ]
    assert [type(member) for member in members] == [Lost, New][up == "keep" :]


def test_a_member_that_has_no_new_name_needs_no_row_to_be_kept(tmp_path: Path) -> None:
    with pytest.raises(DecisionError, match=r"P\.a"):
        planned(tmp_path, RENAMED[0], "interface P { }", row("P.a", up='"keep"'))


SCOPES: Final = (
    "interface P { a: 'private' | 'public' }",
    "interface P { a: 'private' | 'public' | 'shared' }",
)


def test_a_literal_that_means_an_older_one_is_a_reported_loss(tmp_path: Path) -> None:
    rows = row("P.a:shared", down='"degrade"', to='"private"')
    with steps_of(tmp_path, *SCOPES, rows) as send:
        loss = "$.a: `shared` becomes `private`"
        assert send({"a": "shared"}, "b", "a") == ({"a": "private"}, [loss])
        assert send({"a": "private"}, "b", "a") == ({"a": "private"}, [])
        assert send({"a": "public"}, "a", "b") == ({"a": "public"}, [])
    with pytest.raises(DecisionError, match="`degrade` with `to` reports a loss"):
        planned(tmp_path, *SCOPES)


def test_a_renamed_literal_is_one_arm(tmp_path: Path) -> None:
    rows = row("P.a:x", up='"rename"', to='"z"') + row("P.a:z", down='"rename"', to='"x"')
    old, new = "interface P { a: 'x' | 'y' }", "interface P { a: 'y' | 'z' }"
    pair = planned(tmp_path, old, new, rows)
    unions = [f for f in pair.up.functions.values() if isinstance(f, UnionStep)]
    assert [type(arm.way) for arm in unions[0].arms].count(Decision) == 1


APART: Final = "interface P { a: string[]; b?: number; d: number }"
WHOLE: Final = (
    "interface P { c: (string | B)[]; d: number } interface B { kind: 'b'; value: number }"
)


def parts(*written: str) -> str:
    return row("P.c", up='"compose"', down='"compose"', parts=f"[{', '.join(written)}]")


A: Final = '{items = "a"}'
B: Final = '{item = "b", as = "value", with = {kind = "b"}}'


def test_a_member_is_composed_of_others_and_taken_apart_by_one_row(tmp_path: Path) -> None:
    pair = planned(tmp_path, APART, WHOLE, parts(A, B))
    for direction in pair.directions:
        (function,) = direction.functions.values()
        (member,) = function.members
        assert isinstance(member, Composed)
        assert member.built == (direction.name == "up")
        assert [part.wire for part in member.parts] == ["a", "b"]


SPLIT: Final = "interface P { a: string[]; b?: unknown }"
OPEN: Final = (
    "interface P { c: (A | B)[] }"
    " interface A { who: string; kind: 'a'; texts: string[] }"
    " interface B { who: string; kind: 'b'; value?: unknown }"
)
C: Final = '{item = "b", as = "value", with = {who = "program", kind = "b"}}'
D: Final = '{item = "a", as = "texts", with = {who = "model", kind = "a"}, value = []}'
E: Final = '{item = "b", as = "value", with = {who = "model", kind = "b"}}'
F: Final = '{with = {who = "user", kind = "b"}}'


def test_a_question_proposes_the_parts_of_an_array(tmp_path: Path) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, SPLIT, OPEN)
    proposed = (
        '{item = "a", as = "texts", with = {who = "...", kind = "a"}, value = ...}, '
        '{item = "b", as = "value", with = {who = "...", kind = "b"}}'
    )
    assert f"only the sender has: parts = [{proposed}] (default, compose" in caught.value.remedy
    with pytest.raises(DecisionError, match=r'parts = \[\{items = "a"\}, \{item = "b", as = "val'):
        planned(tmp_path, APART, WHOLE)


LOST: Final = row("P.c", up='"default"', value="[]", down='"drop"')


def test_a_required_member_in_whose_place_a_constant_stands_is_composed_or_lost(
    tmp_path: Path,
) -> None:
    """A newer reader does not look at members that its revision does not declare."""
    rows = LOST + row("P.a", down='"default"', value="[]")
    assert asked(tmp_path, SPLIT, OPEN, rows) == ["P.a", "P.b"]
    with pytest.raises(DecisionError, match="its readers see `c`, which is only filled in"):
        planned(tmp_path, SPLIT, OPEN, rows)


def files_of(folder: Path, old: str, new: str, rows: str) -> dict[str, str]:
    """The generated package of two schemas, by path."""
    pair = planned(folder, old, new, rows)
    return generate([pair.old, pair.new], Options(flavours=("dataclass",)), [pair])


@pytest.mark.parametrize(
    ("old", "new", "rows", "is_copied"),
    [(APART, WHOLE, parts(A, B), True), (APART, APART, "", False)],
)
def test_what_composes_arrays_is_copied_into_a_package_whose_steps_do(
    tmp_path: Path, old: str, new: str, rows: str, is_copied: bool
) -> None:
    assert ("steps/_parts.py" in files_of(tmp_path, old, new, rows)) == is_copied


@contextmanager
def steps_of(folder: Path, old: str, new: str, rows: str) -> Iterator[Callable[..., Any]]:
    """A function that sends the params of `foo` up or down, and returns them and what was lost."""
    with imported(folder, files_of(folder, old, new, rows)) as steps:

        def send(value: Any, *way: str) -> tuple[Any, list[str]]:
            trip = steps.Trip(steps.Context())
            sent = steps.route(*way, "foo", "params")(value, trip)
            return sent, [f"{loss.path}: {loss.what}" for loss in trip.losses]

        yield send


@contextmanager
def imported(folder: Path, files: Mapping[str, str]) -> Iterator[Any]:
    """The steps of a generated package, which is gone afterwards."""
    name = f"made{next(NUMBERS)}"
    for path, text in files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text, "utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(f"{name}.steps")
    finally:
        sys.path.remove(str(folder))
        for module in [key for key in sys.modules if key.partition(".")[0] == name]:
            del sys.modules[module]


NUMBERS: Final = count()


CHAIN: Final = (
    "interface P { a: string }",
    "interface P { a: string; caps: Caps } interface Caps { roots?: {} }",
    "interface P { a: string; caps: Caps } interface Caps { roots?: {}; files?: {} }",
)


def chain_rows() -> str:
    """The rows of three revisions; the last one has a capability more."""
    filled = row("P.caps", up='"default"', context='"client_capabilities"', down='"drop"')
    gone = row("Caps.files", down='"drop"').replace(f'"{PAIR}"', '"b..c"')
    return filled + gone


def test_a_capability_that_is_new_within_an_era_is_no_loss_where_the_context_has_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "decisions.toml").write_text(chain_rows(), "utf-8")
    schemas = [lowered(name, body) for name, body in zip("abc", CHAIN, strict=True)]
    rows = decisions.load(tmp_path / "decisions.toml")
    pairs = [plan(old, new, rows) for old, new in pairwise(schemas)]
    files = generate(schemas, Options(flavours=("dataclass",)), pairs)
    capabilities = {"roots": {}, "files": {}}
    with imported(tmp_path, files) as steps:

        def send(value: Any, *way: str) -> tuple[Any, list[str]]:
            trip = steps.Trip(steps.Context(client_capabilities=capabilities))
            sent = steps.route(*way, "foo", "params")(value, trip)
            return sent, [loss.path for loss in trip.losses]

        newest = {"a": "x", "caps": capabilities}
        assert send(newest, "c", "a") == ({"a": "x"}, [])
        assert send({"a": "x"}, "a", "c") == (newest, [])
        assert send(newest, "c", "b") == ({"a": "x", "caps": {"roots": {}}}, ["$.caps.files"])
        other = {"a": "x", "caps": {"files": {}}}
        assert send(other, "c", "a") == ({"a": "x"}, ["$.caps"])


def of(who: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"who": who, "kind": kind, **value}


def test_an_array_of_items_and_objects_is_made_of_members_and_taken_apart(tmp_path: Path) -> None:
    apart = {"a": ["x"], "b": 1, "d": 2}
    whole = {"d": 2, "c": ["x", {"kind": "b", "value": 1}]}
    with steps_of(tmp_path, APART, WHOLE, parts(A, B)) as send:
        assert send(apart, "a", "b") == (whole, [])
        assert send(whole, "b", "a") == (apart, [])


def test_objects_that_open_members_tell_apart_are_made_and_taken_apart(tmp_path: Path) -> None:
    texts, value, constant = (
        of("model", "a", texts=["x"]),
        of("program", "b", value=[1]),
        of("user", "b"),
    )
    with steps_of(tmp_path, SPLIT, OPEN, parts(D, C, E, F)) as send:
        for old, new in (
            ({"a": ["x"], "b": [1]}, [texts, value, constant]),
            ({"a": []}, [of("model", "a", texts=[]), constant]),
        ):
            assert send(old, "a", "b") == ({"c": new}, [])
            assert send({"c": new}, "b", "a") == (old, [])
        unlisted = {"a": [], "": 1}
        assert send(send(unlisted, "a", "b")[0], "b", "a") == (unlisted, [])


@pytest.mark.parametrize(
    ("items", "old", "losses"),
    [
        ([], {"a": []}, ["no item of it says `a`", "a constant item is added"]),
        (
            [of("model", "a", texts=["x"]), of("nobody", "a", texts=["y"]), of("user", "b")],
            {"a": ["x"]},
            ["an item of it is left out"],
        ),
        (
            [of("model", "a", texts=[]), of("model", "b", value=3), of("user", "b")],
            {"a": [], "b": 3},
            ["`value` comes back in another item"],
        ),
        (
            [
                of("model", "a", texts=[]),
                of("program", "b", value=2),
                of("model", "b", value=3),
                of("user", "b"),
            ],
            {"a": [], "b": 2},
            ["only one item of it becomes `value`"],
        ),
        (
            [of("model", "a", texts=[]), of("program", "b"), of("user", "b")],
            {"a": []},
            ["an item without `value` is left out"],
        ),
        (
            [of("model", "a", texts=[], more=1), of("user", "b", more=1), of("user", "b")],
            {"a": []},
            [
                "only `texts` of an item is kept",
                "only the constant of an item is kept",
                "only one item of it becomes the constant",
            ],
        ),
        (
            [of("user", "b"), of("model", "a", texts=[])],
            {"a": []},
            ["the order of its items changes"],
        ),
    ],
)
def test_an_item_without_a_place_among_the_members_is_a_loss(
    tmp_path: Path, items: list[Any], old: dict[str, Any], losses: list[str]
) -> None:
    with steps_of(tmp_path, SPLIT, OPEN, parts(D, C, E, F)) as send:
        sent, reported = send({"c": items}, "b", "a")
        assert sent == old
        assert reported == [f"$.c: {loss}" for loss in losses]
        assert send(sent, "a", "b")[0] != {"c": items}


@pytest.mark.parametrize(
    ("old", "new", "rows", "words"),
    [
        (APART, WHOLE, parts(), "`parts` names no member"),
        (APART, WHOLE, parts('{with = {kind = "b", value = 1}}'), "`parts` names no member"),
        (APART, WHOLE, parts(A, A), "`items` that is not its first"),
        (APART, WHOLE, parts(B, A), "`items` that is not its first"),
        (APART, WHOLE, parts(A, B, B), "two parts have the same `with`"),
        (APART, WHOLE, parts(A, '{with = {kind = "b"}}'), "its items do not take {'kind': 'b'}"),
        (APART, WHOLE, parts(A, B.replace("}}", "}, value = 1}")), "first part of a required"),
        (SPLIT, OPEN, parts(C, D.replace(", value = []", "")), "an array may have no such item"),
        (SPLIT, OPEN, parts(C, D.replace("[]", "1")), "1 is not a value of P.a"),
        (SPLIT, OPEN, parts(C, D.replace('"a"}', "1}")), "no type of its items"),
        (APART, WHOLE, parts(A, B.replace("as =", "is =")), "is neither"),
        (APART, WHOLE, parts('{items = "x"}', B), "P has no `x`"),
        (APART, WHOLE, parts('{items = "d"}', B), "P has `d` too"),
        (APART, WHOLE, parts(A, B.replace('"value"', '"worth"')), "no type of its items"),
        (APART, WHOLE, parts(A, B.replace('kind = "b"', 'kind = "c"')), "no type of its items"),
        (APART, WHOLE, parts(A, B.replace('"b"', '"a"', 1)), "not every value of P.a"),
        (APART.replace("b?", "b"), WHOLE, parts(A, B), "P.b is required"),
        (APART.replace("a:", "a?:"), WHOLE, parts(A, B), "P.a is not a required array"),
        (APART.replace("a: string", "a: boolean"), WHOLE, parts(A, B), "not every value of P.a"),
        (APART, WHOLE.replace("c:", "c?:"), parts(A, B), "P.c is not a required array"),
        (APART, WHOLE.replace("value: ", "x: 1; value: "), parts(A, B), "no type of its items"),
    ],
)
def test_a_composition_that_cannot_work_is_refused(
    tmp_path: Path, old: str, new: str, rows: str, words: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, old, new, rows)
    assert words in str(caught.value)


ARMS: Final = (
    "interface P { a: A } interface A { kind: 'a' }",
    "interface P { a: A | B } interface A { kind: 'a' } interface B { kind: 'b' }",
)
SAME: Final = "interface P { a: string }"
MORE: Final = "interface P { a: string; b?: number }"


@pytest.mark.parametrize(
    ("old", "new", "rows", "words"),
    [
        (SAME, SAME, row("P.a", down='"drop"'), "nothing in a..b needs [[step]] `down P.a`"),
        (SAME, MORE, row("P.b", down='"drop"', up='"drop"'), "`up P.b`"),
        (SAME, MORE, row("P.b", down='"drop"') * 2, "two [[step]] rows"),
        (SAME, MORE, row("P.b", down='"lose"'), "no action"),
        (SAME, MORE, row("P.b", down="3"), "no action"),
        (SAME, MORE, row("P.b"), "decides nothing"),
        (SAME, MORE, row("P.b", down='"rename"'), "lacks to"),
        (SAME, MORE, row("P.b", down='"refuse"'), "lacks message"),
        (SAME, MORE, row("P.b", down='"refuse"', message='""'), "message = '' does not fit"),
        (SAME, MORE, row("P.b", down='"refuse"', message='"m"', cod="1"), "`cod` is not a key"),
        (SAME, MORE, row("P.b", down='"degrade"', as_='["text"]'), "as = ['text'] does not fit"),
        (APART, WHOLE, parts("1"), "parts = [1] does not fit"),
        (SAME, MORE, row("P.b", down='"degrade"', as_='"music"'), "nothing degrades as 'music'"),
        (SAME, MORE, row("P.b", down='"rename"', to='"c"'), "P has no `c`"),
        (
            SAME,
            "interface P { a: string; b: number }",
            row("P.b", up='"default"', context='"x.y"', down='"drop"'),
            "no context has 'x.y'",
        ),
        (
            SAME,
            MORE,
            row("P.b", down='"refuse"', message='"m"', code='"print()"'),
            "is not an error code",
        ),
        (
            SAME,
            f"{SAME} const BAD = -5;",
            row("BAD", down='"rename"', to='"print()"'),
            "`to` is not an error code",
        ),
        (SAME, MORE, row("P.b", down='"rename"', to='"a"'), "does not take its values"),
        (SAME, MORE, row("P.b", down='"degrade"', as_='"structured"'), "reads P.content"),
        (SAME, MORE, row("P.b", down='"degrade"', as_='"media"'), "is for arms"),
        (
            SAME,
            "interface P { a: string; b: number }",
            row("P.b", up='"default"', value='"1"', down='"drop"'),
            "'1' is not a value of that member",
        ),
        (
            SAME,
            "interface P { a: string; b: 'x' | 'y' }",
            row("P.b", up='"default"', context='"revision"', down='"drop"'),
            "'b' is not a value of that member",
        ),
        (*ARMS, row("P.a:B", down='"degrade"', as_='"structured"'), "is for members"),
        (*ARMS, row("P.a:B", down='"degrade"', as_='"link"'), "reads name, uri"),
        (*ARMS, row("P.a:B", down='"degrade"', as_='"json"'), "does not take the ''"),
        (*ARMS, row("P.a:B", down='"degrade"', as_='"blocks"'), "reads an array"),
        (*ARMS, row("P.a:B", down='"rename"', to='"c"'), "'c' is not a value of the other side"),
        (*ARMS, row("P.a:B", down='"degrade"', to='"c"'), "`to` alone is for literals"),
        (*SCOPES, row("P.a:shared", down='"degrade"', to='"x"'), "'x' is not a value"),
        (*SCOPES, row("P.a:shared", down='"rename"', to='"private"'), "a value of both sides"),
        (SAME, MORE, row("P.b", down='"degrade"', to='"a"'), "is for literals: give `as`"),
        (SAME, f"{SAME} const BAD = -5;", row("BAD", down='"degrade"', to="-1"), "needs `as`"),
        (
            SAME,
            "interface P { a: string; b?: string }",
            row("P.b", up='"default"', value='"x"', down='"refuse"', message='"m"', unless='"z"'),
            "no context allows values by 'z'",
        ),
        (
            "interface P { a?: { c?: string } }",
            "interface P { a?: { c?: string; d?: string } }",
            row("P.a", down='"drop"', alone='"e"'),
            "`alone` names no member of an optional object",
        ),
        (
            "interface P { a: string; [key: string]: string }",
            "interface P { a: string; b?: number; [key: string]: unknown }",
            row("P.b", down='"keep"'),
            "P does not take it",
        ),
        (SAME, MORE, row("P.b", down='"drop"').replace(f'"{PAIR}"', "[1]"), "names no pair"),
    ],
)
def test_a_row_that_cannot_stand_is_refused(
    tmp_path: Path, old: str, new: str, rows: str, words: str
) -> None:
    with pytest.raises(DecisionError) as caught:
        planned(tmp_path, old, new, rows)
    assert words in str(caught.value)


def test_rows_of_other_pairs_are_left_alone(tmp_path: Path) -> None:
    other = row("No.such", down='"drop"').replace(PAIR, "b..c")
    assert planned(tmp_path, SAME, SAME, other).up.functions == {}


def test_a_required_member_cannot_be_dropped(tmp_path: Path) -> None:
    new = "interface P { a: string | number }"
    rows = row("P.a", down='"drop"')
    assert asked(tmp_path, SAME, new, rows) == ["P.a:number"]


def test_a_block_without_words_of_its_own_is_said_by_its_json() -> None:
    block = {"type": "new", "rows": [1]}
    assert json_as_text_item(block) == {"type": "text", "text": '{"type":"new","rows":[1]}'}
