"""A member of JSON with comments is added, replaced and removed, and all else stays as it is."""

from __future__ import annotations

import json
import random
from typing import Any, Final, cast

import pytest

from mcp_bindgen.errors import InputError
from mcp_bindgen.hosts.jsonc import loads, with_member, without_member


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", '{\n  "s": {\n    "n": 1\n  }\n}\n'),
        ("{}", '{\n  "s": {\n    "n": 1\n  }\n}'),
        ('{"a": 1}', '{"a": 1, "s": {"n": 1}}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"s": {\n\t\t"n": 1\n\t}\n}\n'),
        ('{\r\n  "a": 1\r\n}', '{\r\n  "a": 1,\r\n  "s": {\r\n    "n": 1\r\n  }\r\n}'),
        (
            '{\n  "a": 1, // one\n  // the end\n}',
            '{\n  "a": 1, // one\n  "s": {\n    "n": 1\n  },\n  // the end\n}',
        ),
        (
            '{\n  "a": 1 /* one */\n}',
            '{\n  "a": 1, /* one */\n  "s": {\n    "n": 1\n  }\n}',
        ),
        ('{\n  "s": {}\n}', '{\n  "s": {\n    "n": 1\n  }\n}'),
        ('{"s": {"n": 2, "m": 3}}', '{"s": {"n": 1, "m": 3}}'),
        ("{ // empty\n}", '{\n  "s": {\n    "n": 1\n  } // empty\n}'),
        ('\ufeff{"a": "}//"}', '\ufeff{"a": "}//", "s": {"n": 1}}'),
    ],
)
def test_a_member_is_added_in_the_style_of_the_text(old: str, new: str) -> None:
    assert with_member(old, ("s", "n"), 1) == new
    assert loads(new)["s"]["n"] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"s": {"n": 1}}', '{"s": {}}'),
        ('{"s": {"n": 1, "m": 2}}', '{"s": {"m": 2}}'),
        ('{"s": {"m": 2, "n": 1}}', '{"s": {"m": 2 }}'),
        ('{"s": {\n  "m": 2,\n  "n": 1\n}}', '{"s": {\n  "m": 2\n}}'),
        ('{"s": {\n  "n": 1, // one\n  "m": 2\n}}', '{"s": {\n // one\n  "m": 2\n}}'),
        ('{"s": {\n  "m": 2,\n  "n": 1,\n}}', '{"s": {\n  "m": 2,\n}}'),
    ],
)
def test_a_member_is_removed_with_its_comma(old: str, new: str) -> None:
    assert without_member(old, ("s", "n")) == new


def test_a_member_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        without_member('{"s": {}}', ("s", "n"))


VALUES: Final[list[Any]] = [1, "a // b", [1, {"x": None}], {}]


@pytest.mark.parametrize("seed", range(60))
def test_a_drawn_text_keeps_its_comments_and_its_other_members(seed: int) -> None:
    draw = random.Random(seed)
    value: dict[str, Any] = {f"k{i}": draw.choice(VALUES) for i in range(3)}
    value["s"] = {f"n{i}": {"deep": [True]} for i in range(draw.randrange(4))}
    text = _drawn(value, draw, draw.choice(["", "  ", "\t"]))
    assert loads(text) == value
    added = with_member(text, ("s", "new"), {"command": "x"})
    assert loads(added) == {**value, "s": {**value["s"], "new": {"command": "x"}}}
    assert _comments(added) == _comments(text)
    gone = without_member(added, ("s", "new"))
    assert loads(gone) == value
    assert _comments(gone) == _comments(text)


def _comments(text: str) -> int:
    return text.count("/*c*/") + text.count("//c\n")


def _drawn(value: Any, draw: random.Random, unit: str, indent: str = "") -> str:
    """JSON of a value, with comments and commas drawn into it; in lines if there is a unit."""
    if not isinstance(value, dict):
        return json.dumps(value)
    end = f"\n{indent}{unit}" if unit else ""
    comment = [" /*c*/ ", f" //c{end}" if unit else "", "", ""]
    members = [
        f"{end}{json.dumps(name)}{draw.choice([*comment[:1], ''])}: "
        f"{_drawn(each, draw, unit, indent + unit)}{draw.choice(comment)}"
        for name, each in cast("dict[str, Any]", value).items()
    ]
    last = draw.choice([",", ""]) if members else ""
    close = f"\n{indent}" if unit else ""
    return f"{{{draw.choice(comment)}{','.join(members)}{last}{draw.choice(comment)}{close}}}"


@pytest.mark.parametrize(
    ("text", "place"),
    [("{", "1:2"), ('{"a"}', "1:5"), ('{\n"a": tru}', "2:6"), ("{} x", "1:4"), ("[1 2]", "1:4")],
)
def test_a_text_that_is_no_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError, match=f"^{place}: expected "):
        loads(text)
