"""What msgspec and the standard library do with a model agrees with the four functions, or refuses.

`docs/BINDINGS.md` lists what a library cannot check; each row of that list is used here.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import math
import pickle
import subprocess
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_wire._wire.faults import DecodeError, EncodeError, MemberError
from tests.support.instances import Case, Generator, Seeded, cases, more
from tests.support.judges import (
    REVISIONS,
    SCHEMAS,
    Flavour,
    canonical,
    flavour_of,
    own_types,
    schema_of,
)
from tests.support.seeds import seed

BOUNDED: Final = 2_500
"""Instances of one revision in `make test`."""

LONG: Final = 20_000
"""Instances of one revision in `make long`; there are five."""


def is_literal(words: str) -> bool:
    try:
        json.loads(words)
    except ValueError:
        return False
    return True


UNCHECKED: Final[dict[str, Callable[[DecodeError], bool]]] = {
    "a lone tag": lambda e: e.found == "nothing" and is_literal(e.expected),
    "depth": lambda e: e.expected.startswith("JSON nested"),
}
"""What msgspec reads though `decode` refuses it, by the fault that `decode` names."""


@dataclasses.dataclass
class Held:
    number: Any


class Measured(msgspec.Struct):
    number: Any


REFUSALS: Final = (msgspec.MsgspecError, TypeError, ValueError, RecursionError)


@pytest.fixture(params=["dataclass", "msgspec"])
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return flavour_of("2025-11-25", request.param)


def instances(revision: str, count: int) -> Iterator[Case]:
    schema = schema_of(revision)
    generator = Generator(schema, Seeded(seed(revision)))
    reaching = chain.from_iterable(cases(generator, name) for name in own_types(schema))
    return islice(chain(reaching, more(generator, own_types(schema))), count)


# ---- msgspec


def read_natively(module: Any, cls: Any, data: bytes) -> Any:
    return msgspec.json.decode(data, type=cls, dec_hook=module.dec_hook)


def unchecked(module: Any, cls: Any, data: bytes, value: Any) -> str:
    """Why the native decoder reads `data` as `value`: empty where `decode` reads the same."""
    try:
        wanted = module.decode(cls, data)
    except DecodeError as error:
        return next((row for row, is_it in UNCHECKED.items() if is_it(error)), str(error))
    return "" if wanted == value and type(wanted) is type(value) else f"not {wanted!r}"


def hold_msgspec(revision: str, count: int) -> Counter[str]:
    """How often each row was used; fails where the native ways do something else."""
    flavour = flavour_of(revision, "msgspec")
    module: Any = flavour.module
    used: Counter[str] = Counter()
    for case in instances(revision, count):
        cls, data = flavour.type(case.type), json.dumps(case.value).encode()
        try:
            value = read_natively(module, cls, data)
        except REFUSALS:
            used["refused"] += 1
            continue
        why = unchecked(module, cls, data, value)
        assert not why or why in UNCHECKED, (case, why)
        used[why or "read"] += 1
        used["written"] += is_written(module, value)
    return used


def is_written(module: Any, value: Any) -> bool:
    """Whether msgspec writes a value, as `encode` does, and does not refuse."""
    try:
        text = msgspec.json.encode(value, enc_hook=module.enc_hook)
    except REFUSALS:
        return False
    assert canonical(json.loads(text)) == canonical(json.loads(module.encode(value))), value
    return True


@pytest.mark.drawn
@pytest.mark.parametrize("revision", SCHEMAS)
def test_msgspec_reads_and_writes_what_decode_and_encode_do_or_refuses(revision: str) -> None:
    used = hold_msgspec(revision, BOUNDED)
    assert min(used["read"], used["written"]) > BOUNDED // 20
    assert used["a lone tag"] or revision not in REVISIONS  # extensions have few constants, or none


@pytest.mark.long
@pytest.mark.parametrize("revision", SCHEMAS)
def test_msgspec_agrees_about_a_hundred_thousand_instances(revision: str) -> None:
    assert hold_msgspec(revision, LONG)["read"] > LONG // 20


def test_every_row_of_what_msgspec_does_not_check_is_used() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    deep = b'{"content": [], "structuredContent": {"a": ' + b"[" * 200 + b"]" * 200 + b"}}"
    seen = {
        unchecked(module, cls, data, read_natively(module, cls, data))
        for cls, data in ((module.TextContent, b'{"text": "a"}'), (module.CallToolResult, deep))
    }
    assert seen == {*UNCHECKED}


def test_unknown_members_are_never_written_by_msgspec_alone() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    made = module.CallToolResult(content=[], extra_={"a": None})
    changed = msgspec.structs.replace(made, is_error=True)
    assert json.loads(module.encode(changed)) == {"content": [], "isError": True, "a": None}
    for value in (
        made,
        changed,
        module.ListRootsResult(roots=[module.Root(uri="", extra_={"a": 1})]),
    ):
        with pytest.raises(TypeError, match="Extra is unsupported"):
            msgspec.json.encode(value)


def test_a_raw_dict_never_stands_where_a_model_does() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    data = b'{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}'
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(data, type=module.ListToolsResult)
    (tool,) = read_natively(module, module.ListToolsResult, data).tools
    assert isinstance(tool.input_schema, module.ToolInputSchema)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("text", ["", "null", 'a "null":null', "\ucb7f\ucbff"])
def test_a_number_that_is_none_is_refused_when_a_struct_is_made(number: float, text: str) -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    fine: Any = {"a": None, "b": [None, 1.5, 1e308, -1e308, text]}
    made = module.CallToolResult(content=[], structured_content=fine)
    assert json.loads(module.encode(made))["structuredContent"] == fine
    bad: dict[str, Any] = {
        "$.structured_content.a[0]": {"a": [number]},
        "$.structured_content.c": {**fine, "c": number},
        "$.structured_content.s[0]": {"s": {number}},
        "$.structured_content.n": {"n": number, "long": 10**400},
    }
    for path, content in bad.items():
        with pytest.raises(EncodeError, match="a finite number") as caught:
            module.CallToolResult(content=[], structured_content=content)
        assert caught.value.path == path
    with pytest.raises(TypeError, match="expected number"):  # its bounds are looked at first
        module.Annotations(priority=number)
    with pytest.raises(EncodeError, match=r"\$\.progress: expected a finite number"):
        module.ProgressNotificationParams(progress_token=1, progress=number)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_refused_where_msgspec_is_not_asked(number: float) -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    schema = module.ToolInputSchema(extra_={"default": number})
    values = (
        module.Tool(name="a", input_schema=schema),
        module.CallToolResult(content=[], extra_={"a": number}),
        [module.Root(uri="a"), {"a": number}],
        number,
    )
    for value in values:
        with pytest.raises(ValueError, match="expected a finite number"):
            module.encode(value)


@pytest.mark.parametrize(
    "held",
    [(math.nan,), {math.nan}, OrderedDict(a=math.nan), Held(math.nan), Measured([math.nan])],
    ids=lambda held: type(held).__name__,
)
def test_a_number_that_is_none_is_refused_in_any_container(held: object) -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    for make in (
        lambda: module.CallToolResult(content=[], structured_content={"a": held}),
        lambda: module.encode(module.CallToolResult(content=[], extra_={"a": held})),
        lambda: module.encode(module.Root(uri="a", extra_={"a": [1, held]})),
    ):
        with pytest.raises(EncodeError, match="expected a finite number, found nan"):
            make()


def test_convert_leaves_numbers_to_from_wire() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    params = {"progressToken": 1, "progress": math.nan}
    made = msgspec.convert(params, module.ProgressNotificationParams, dec_hook=module.dec_hook)
    assert math.isnan(made.progress)
    with pytest.raises(DecodeError, match=r"\$\.progress: expected number, found nan"):
        module.from_wire(module.ProgressNotificationParams, params)


def test_a_default_that_a_class_of_yours_makes_is_looked_at() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module

    class Mine(module.Root, frozen=True):
        marks: list[float] = msgspec.field(default_factory=lambda: [math.nan])

    with pytest.raises(EncodeError, match=r"^\$\.marks\[0\]: expected a finite number, found nan"):
        Mine(uri="a")


def test_what_has_no_end_is_refused_beside_what_messagepack_does_not_write() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module
    endless: list[Any] = [10**30]
    endless.append(endless)
    with pytest.raises(EncodeError, match="expected JSON that ends"):
        module.CallToolResult(content=[], structured_content={"a": endless})


def test_a_class_of_yours_is_written_as_the_struct_that_it_is() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module

    class Mine(module.Root, frozen=True):
        note: str

    assert json.loads(module.encode(Mine(uri="a", note="b"))) == {"uri": "a", "note": "b"}
    assert json.loads(module.encode([Mine(uri="a", note="b")])) == [{"uri": "a", "note": "b"}]


# ---- dataclasses


@pytest.mark.parametrize("revision", SCHEMAS)
def test_dataclasses_are_dataclasses(revision: str) -> None:
    flavour = flavour_of(revision, "dataclass")
    module: Any = flavour.module
    generator = Generator(schema_of(revision), Seeded(seed(revision)))
    for name in (struct.name for struct in schema_of(revision).own_structs):
        made = module.from_wire(flavour.type(name), generator.valid(name).value)
        names = [field.name for field in dataclasses.fields(made)]
        assert names == list(inspect.signature(type(made)).parameters)
        again = dataclasses.replace(made)
        assert again == made
        assert canonical(module.to_wire(again)) == canonical(module.to_wire(made))
        assert list(dataclasses.asdict(made)) == names


def test_asdict_has_python_names_and_unset() -> None:
    module: Any = flavour_of("2025-11-25", "dataclass").module
    made = module.Resource(uri="a", name="b", mime_type="c")
    members = dataclasses.asdict(made)
    assert members["mime_type"] == "c"
    assert members["title"] is module.UNSET


# ---- both


@pytest.mark.parametrize("revision", SCHEMAS)
def test_a_signature_shows_the_members_required_ones_first(revision: str, flavour: Flavour) -> None:
    own = flavour_of(revision, flavour.name)
    for struct in schema_of(revision).own_structs:
        given = inspect.signature(own.type(struct.name)).parameters
        members = [f for f in struct.fields if f.const is None]
        required = [f.name for f in members if f.required]
        assert [*given] == [*required, *(f.name for f in members if not f.required), "extra_"]
        assert [n for n, p in given.items() if p.default is p.empty] == required
        assert {p.kind for p in given.values()} == {inspect.Parameter.KEYWORD_ONLY}
        assert "Checked" not in str(given)


def test_a_pydantic_signature_has_the_types_before_the_model_is_used() -> None:
    program = (
        "import inspect\n"
        "from mcp_wire.v2025_11_25.models_pydantic import CallToolResult, ContentBlock\n"
        "content = inspect.signature(CallToolResult).parameters['content']\n"
        "assert content.annotation == list[ContentBlock], content"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_hypothesis_builds_models(flavour: Flavour) -> None:
    module: Any = flavour.module
    blocks = st.builds(module.TextContent, text=st.text("abc"))
    results = st.builds(module.CallToolResult, content=st.lists(blocks))

    @settings(max_examples=25)
    @given(st.builds(module.Implementation), results)
    def hold(implementation: Any, result: Any) -> None:
        assert isinstance(implementation.name, str)
        assert all(isinstance(block, module.ContentBlock) for block in result.content)

    hold()


def test_hypothesis_builds_a_model_that_holds_one_of_several(flavour: Flavour) -> None:
    module: Any = flavour.module
    for contents in (module.TextResourceContents, module.BlobResourceContents):
        st.register_type_strategy(contents, st.builds(contents))

    @settings(max_examples=25)
    @given(st.builds(module.EmbeddedResource))
    def hold(block: Any) -> None:
        assert isinstance(block.resource, module.TextResourceContents | module.BlobResourceContents)

    hold()


WRONG: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "a number for text": ("TextContent", {"text": 1}, "$.text: expected string, found 1"),
    "true for a number": (
        "ProgressNotificationParams",
        {"progress": True, "progress_token": 1},
        "$.progress",
    ),
    "text for a list": ("CallToolResult", {"content": "a"}, "$.content: expected array"),
    "a dict for a model": (
        "Tool",
        {"input_schema": {"type": "object"}, "name": "a"},
        "$.input_schema",
    ),
    "null": ("TextContent", {"text": None}, "$.text: expected string, found null"),
    "beyond a bound": ("Annotations", {"priority": 2}, "$.priority: expected at most 1, found 2"),
    "no literal": ("SetLevelRequestParams", {"level": "loud"}, "$.level"),
    "inside a list": ("CompleteResultCompletion", {"values": ["a", 1]}, "$.values[1]"),
    "a declared name": ("Root", {"uri": "a", "extra_": {"uri": "b"}}, "$.extra_"),
    "no mapping": ("Root", {"uri": "a", "extra_": [1]}, "$.extra_"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_refused_when_the_model_is_made(case: str, flavour: Flavour) -> None:
    name, members, words = WRONG[case]
    with pytest.raises(MemberError) as caught:
        flavour.type(name)(**members)
    assert str(caught.value).startswith(words)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("owner", "member", "name"),
    [
        ("TextContent", "annotations", "Annotations"),
        ("EmbeddedResource", "resource", "TextResourceContents"),
    ],
)
def test_a_model_of_another_revision_is_refused_by_its_module(
    owner: str, member: str, name: str, flavour: Flavour
) -> None:
    here: Any = flavour.module
    elsewhere: Any = flavour_of("2025-06-18", flavour.name).module
    values = {"uri": "a://b", "text": "a"} if name == "TextResourceContents" else {}
    members = {"text": "a"} if owner == "TextContent" else {}
    with pytest.raises(MemberError) as caught:
        getattr(here, owner)(**members, **{member: getattr(elsewhere, name)(**values)})
    assert caught.value.path == f"$.{member}"
    assert caught.value.expected == f"{name} of {here.__name__}"
    assert caught.value.found == f"{name} of {elsewhere.__name__}"


def test_a_dict_in_a_list_of_models_is_refused(flavour: Flavour) -> None:
    block = flavour.type("TextContent")(text="a")
    with pytest.raises(MemberError) as caught:
        flavour.type("CallToolResult")(content=[block, {"type": "text", "text": "a"}])
    assert caught.value.path == "$.content[1]"


def test_a_subclass_with_members_of_its_own_is_checked_as_its_base(flavour: Flavour) -> None:
    own = type(
        "Own", (flavour.type("TextContent"),), {"__annotations__": {"mood": "str"}, "mood": ""}
    )
    assert own(text="a", mood="b").mood == "b"
    with pytest.raises(MemberError):
        own(text=1)


def test_defaults_of_a_subclass_of_ones_own_hold_in_msgspec() -> None:
    module: Any = flavour_of("2025-11-25", "msgspec").module

    members = {
        "__annotations__": {"mood": "str", "notes": "list[str]"},
        "mood": "good",
        "notes": [],
    }
    own: Any = type("Own", (module.TextContent,), members)
    one, other = own(text="a"), own(text="a", mood=module.UNSET, extra_=module.UNSET)
    assert one == other
    assert (one.mood, one.notes, one.extra_) == ("good", [], {})
    assert one.notes is not other.notes


def test_unions_constants_and_unset_are_the_same_everywhere(flavour: Flavour) -> None:
    module: Any = flavour.module
    block = module.TextContent(text="a")
    match block:
        case module.ImageContent():
            pytest.fail("a text is no image")
        case module.TextContent(type="text", text=text, annotations=module.UNSET):
            assert text == "a"
        case _:
            pytest.fail("no arm matched")
    assert isinstance(block, module.ContentBlock)
    assert not isinstance({"type": "text"}, module.ContentBlock)
    assert module.TextContent.type == block.type == "text"
    for again in (copy.copy, copy.deepcopy, _pickled):
        assert again(module.UNSET) is module.UNSET
        assert again(block) == block
    assert not module.UNSET


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
