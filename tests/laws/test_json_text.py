"""JSON is read one way and written one way, in every flavour, in known members and unknown ones."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any, Final

import pytest
from pydantic import ValidationError

from mcp_wire._wire.faults import EncodeError
from tests.support.judges import FLAVOURS, REVISIONS, Flavour, canonical, flavour_of

HEAD: Final = b'"jsonrpc":"2.0","method":"m"'

VALUE_PLACES: Final = {
    "whole": b"%s",
    "declared member": b'{"id":%s,' + HEAD + b"}",
    "member of a map": b'{"id":1,"params":{"x":%s},' + HEAD + b"}",
    "inside a map": b'{"id":1,"params":{"x":[{"y":[0,%s]}]},' + HEAD + b"}",
    "unknown member": b'{"id":1,"x":%s,' + HEAD + b"}",
    "unknown member first": b'{"x":%s,"id":1,' + HEAD + b"}",
    "inside an unknown member": b'{"id":1,"x":[{"y":[0,%s]}],' + HEAD + b"}",
}
"""Where a value can stand in a request; `id` is a string or a number."""

KEY_PLACES: Final = {
    "key of an unknown member": b'{"id":1,%s:0,' + HEAD + b"}",
    "key in a map": b'{"id":1,"params":{%s:0},' + HEAD + b"}",
    "key inside an unknown member": b'{"id":1,"x":{%s:0},' + HEAD + b"}",
}

DIGITS: Final = 4_300
LEVELS: Final = 128

NO_JSON: Final = {
    "NaN": b"NaN",
    "minus NaN": b"-NaN",
    "Infinity": b"Infinity",
    "minus Infinity": b"-Infinity",
    "beyond a double": b"1e400",
    "beyond a double, negative": b"-1e400",
    "beyond a double, written out": b"1" + b"0" * 400 + b".0",
    "just beyond a double": b"1.7976931348623159e308",
    "an integer of 4301 digits": b"1" * (DIGITS + 1),
    "an integer of 5000 digits": b"9" * 5_000,
    "a negative integer of 5000 digits": b"-" + b"9" * 5_000,
    "leading zero": b"01",
    "leading plus": b"+1",
    "no digit before the point": b".5",
    "no digit after the point": b"1.",
    "no exponent": b"1e",
    "a minus alone": b"-",
    "hexadecimal": b"0x10",
    "underscore": b"1_000",
    "other digits": "\u0661".encode(),
    "True": b"True",
    "None": b"None",
    "undefined": b"undefined",
    "a word cut short": b"nul",
    "a word too long": b"nulll",
    "single quotes": b"'a'",
    "no quotes": b"a",
    "unclosed string": b'"a',
    "unclosed array": b"[1",
    "trailing comma": b"[1,]",
    "trailing comma in an object": b'{"a":1,}',
    "no comma": b"[1 2]",
    "no colon": b'{"a" 1}',
    "no value": b'{"a":}',
    "a key that is no string": b"{1:1}",
    "a comment": b"1/*a*/",
    "other white space": b"\x0c1",
    "no-break space": b"\xc2\xa01",
}
BAD_STRINGS: Final = {
    "lone high surrogate": rb'"\ud800"',
    "lone low surrogate": rb'"\udc00"',
    "surrogates in the wrong order": rb'"\udc00\ud800"',
    "high surrogate before text": rb'"\ud83dx"',
    "high surrogate before another escape": rb'"\ud83d\n"',
    "pair, then half": rb'"\ud83d\ude00\ud83d"',
    "surrogate in upper case": rb'"\uD800"',
    "raw surrogate": b'"\xed\xa0\x80"',
    "byte that is never UTF-8": b'"\xff"',
    "overlong": b'"\xc0\x80"',
    "beyond Unicode": b'"\xf4\x90\x80\x80"',
    "cut short": b'"\xe2\x82"',
    "continuation alone": b'"\x80"',
    "Latin-1": b'"caf\xe9"',
    "raw newline": b'"a\nb"',
    "raw tab": b'"a\tb"',
    "raw NUL": b'"a\0b"',
    "raw unit separator": b'"\x1f"',
    "unknown escape": rb'"\x41"',
    "escaped apostrophe": rb'"\'"',
    "short escape": rb'"\u12"',
    "signed escape": rb'"\u+123"',
    "spaced escape": rb'"\u 123"',
    "half an escape": b'"\\"',
}
GOOD: Final = {
    "an integer of 4300 digits": b"1" * DIGITS,
    "a negative integer of 4300 digits": b"-" + b"1" * DIGITS,
    "an integer beyond a double": b"1" + b"0" * 400,
    "one more than 64 bits": b"18446744073709551616",
    "one less than 64 bits, negative": b"-9223372036854775809",
    "minus zero": b"-0",
    "minus zero as a float": b"-0.0",
    "a whole float": b"1.0",
    "a whole float by its exponent": b"1e2",
    "the largest double": b"1.7976931348623157e308",
    "the smallest double": b"5e-324",
    "less than the smallest double": b"1e-400",
    "a long fraction": b"0." + b"1" * 5_000,
    "exponent with plus": b"1E+2",
    "surrogate pair": rb'"\ud83d\ude00"',
    "escaped backslash before ud800": rb'"\\ud800"',
    "escapes": rb'"\"\\\/\b\f\n\r\t\u0000\u001f"',
    "delete": b'"\x7f"',
    "line separator": '"\u2028"'.encode(),
    "noncharacter": '"\uffff\U0010ffff"'.encode(),
    "byte order mark in a string": '"\ufeff"'.encode(),
    "brackets in a string": b'"' + b"[{" * 500 + b'"',
    "brackets after an escaped quote": rb'"\"' + b"[" * 500 + b'"',
    "brackets after an escaped backslash": rb'"\\\"' + b"{" * 500 + rb'\\"',
    "a word": b'"NaN"',
}


NEWEST: Final = [pytest.param((REVISIONS[-1], f), marks=pytest.mark.pinned) for f in FLAVOURS]
"""The revisions share what reads and writes text, so all cases are run for one of them."""
OTHERS: Final = [(r, f) for r in (REVISIONS[0], REVISIONS[-2]) for f in FLAVOURS]


@pytest.fixture(params=[*NEWEST, *OTHERS], ids=str)
def flavour(request: pytest.FixtureRequest) -> Flavour:
    return flavour_of(*request.param)


def request_of(flavour: Flavour, text: bytes | str) -> Any:
    return flavour.module.decode(flavour.type("JSONRPCRequest"), text)


def refused(flavour: Flavour, text: bytes | str, type: str = "JSONRPCRequest") -> None:
    with pytest.raises(flavour.fault) as caught:
        flavour.module.decode(flavour.type(type), text)
    error: Any = caught.value
    assert error.path.startswith("$")
    assert error.expected
    assert error.found
    assert len(str(error)) < 500


def both(text: bytes) -> Iterator[bytes | str]:
    """A text as bytes and, where it is text at all, as str."""
    yield text
    try:
        yield text.decode()
    except UnicodeDecodeError:
        yield text.decode("utf-8", "surrogateescape")


@pytest.mark.drawn
@pytest.mark.parametrize("place", VALUE_PLACES)
def test_what_is_no_json_is_refused(flavour: Flavour, place: str) -> None:
    wrong = [
        name
        for name, value in {**NO_JSON, **BAD_STRINGS}.items()
        for text in both(VALUE_PLACES[place].replace(b"%s", value))
        if not _refuses(flavour, text)
    ]
    assert not wrong


@pytest.mark.drawn
@pytest.mark.parametrize("place", KEY_PLACES)
def test_keys_are_read_as_strictly_as_strings(flavour: Flavour, place: str) -> None:
    wrong = [
        name
        for name, key in BAD_STRINGS.items()
        for text in both(KEY_PLACES[place].replace(b"%s", key))
        if not _refuses(flavour, text)
    ]
    assert not wrong


@pytest.mark.drawn
@pytest.mark.parametrize("place", [p for p in VALUE_PLACES if p != "whole"])
def test_what_is_json_is_read_and_written_as_it_was(flavour: Flavour, place: str) -> None:
    for name, value in GOOD.items():
        text = VALUE_PLACES[place].replace(b"%s", value)
        for data in both(text):
            written = flavour.encode(request_of(flavour, data))
            assert canonical(json.loads(written)) == canonical(json.loads(text)), name


@pytest.mark.drawn
@pytest.mark.parametrize("place", KEY_PLACES)
def test_keys_that_are_json_are_kept(flavour: Flavour, place: str) -> None:
    for name, value in GOOD.items():
        if value.startswith(b'"'):
            text = KEY_PLACES[place].replace(b"%s", value)
            written = flavour.encode(request_of(flavour, text))
            assert canonical(json.loads(written)) == canonical(json.loads(text)), name


def _refuses(flavour: Flavour, text: bytes | str) -> bool:
    """False if it was accepted; anything but a DecodeError with its parts fails at once."""
    try:
        refused(flavour, text)
    except pytest.fail.Exception:
        return False
    return True


@pytest.mark.drawn
@pytest.mark.parametrize("around", ["%s", " %s", "%s\n", "\t\r\n %s \t\r\n"])
def test_white_space_around_is_no_fault(flavour: Flavour, around: str) -> None:
    text = around % '{"id":1,"jsonrpc":"2.0","method":"m"}'
    assert (
        request_of(flavour, text)
        == request_of(flavour, text.encode())
        == request_of(flavour, text.strip())
    )


@pytest.mark.drawn
@pytest.mark.parametrize(
    "around",
    [
        "\ufeff%s",
        " \ufeff%s",
        "%s\ufeff",
        "%s x",
        "%s%s",
        "%s,",
        "%s]",
        "x%s",
        "%s\0",
        "\0%s",
        "%s\x1a",
        "\x0b%s",
        "\xa0%s",
        "%s\u2028",
        "[%s",
        "%s//",
    ],
)
def test_nothing_else_may_stand_around(flavour: Flavour, around: str) -> None:
    text = around.replace("%s", '{"id":1,"jsonrpc":"2.0","method":"m"}')
    refused(flavour, text)
    refused(flavour, text.encode())


@pytest.mark.drawn
@pytest.mark.parametrize("text", ["", " ", "\n", "\ufeff"])
def test_nothing_is_no_json(flavour: Flavour, text: str) -> None:
    refused(flavour, text)
    refused(flavour, text.encode())


@pytest.mark.drawn
@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-8-sig"]
)
def test_other_encodings_are_refused(flavour: Flavour, encoding: str) -> None:
    refused(flavour, '{"id":1,"jsonrpc":"2.0","method":"m"}'.encode(encoding))


def _nested(levels: int, shape: str) -> bytes:
    """`levels` arrays, objects or both, one in another."""
    opening = {
        "arrays": ["["],
        "objects": ['{"a":'],
        "mixed": ["[", '{"a":'],
        "mixed, objects first": ['{"a":', "["],
        "objects with brackets in their names": ['{"]}[{":'],
        "objects with quotes in their names": [r'{"\"]":'],
        "objects with backslashes in their names": [r'{"\\":'],
    }[shape]
    parts = [opening[i % len(opening)] for i in range(levels)]
    closing = ["]" if part == "[" else "}" for part in reversed(parts)]
    return "".join([*parts, "0", *closing]).encode()


SHAPES: Final = (
    "arrays",
    "objects",
    "mixed",
    "mixed, objects first",
    "objects with brackets in their names",
    "objects with quotes in their names",
    "objects with backslashes in their names",
)
AROUND: Final = {
    "member of a map": 2,
    "inside a map": 5,
    "unknown member": 1,
    "inside an unknown member": 4,
}
"""How many levels of JSON stand around the value."""


@pytest.mark.drawn
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", AROUND)
def test_128_levels_are_read_and_129_are_not(flavour: Flavour, place: str, shape: str) -> None:
    room = LEVELS - AROUND[place]
    deepest = VALUE_PLACES[place].replace(b"%s", _nested(room, shape))
    for data in both(deepest):
        written = flavour.encode(request_of(flavour, data))
        assert canonical(json.loads(written)) == canonical(json.loads(deepest))
    for levels in (room + 1, room + 2, 2 * room, 2 * room + 3, 1_000):
        for data in both(VALUE_PLACES[place].replace(b"%s", _nested(levels, shape))):
            refused(flavour, data)


def test_many_brackets_side_by_side_are_not_deep(flavour: Flavour) -> None:
    value = b"[" + b",".join([b'[{"a":[]}]'] * 2_000) + b"]"
    text = VALUE_PLACES["unknown member"].replace(b"%s", value)
    assert json.loads(flavour.encode(request_of(flavour, text))) == json.loads(text)


@pytest.mark.drawn
@pytest.mark.parametrize("siblings", [1, 17, 31, 32, 63, 64, 500])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_stands_beside_hides_no_level(flavour: Flavour, siblings: int, shape: str) -> None:
    beside = b",".join([b'[["]"]]'] * siblings)
    place = VALUE_PLACES["unknown member"].replace(b"%s", b"[%b,%%s,%b]" % (beside, beside))
    deepest = place.replace(b"%s", _nested(LEVELS - 2, shape))
    assert json.loads(flavour.encode(request_of(flavour, deepest))) == json.loads(deepest)
    refused(flavour, place.replace(b"%s", _nested(LEVELS - 1, shape)))


@pytest.mark.drawn
@pytest.mark.parametrize("before", [0, 1, 64, 120])
@pytest.mark.parametrize(("size", "spaces"), [(0, 0), (3_990, 0), (8_100, 0), (600, 7_700)])
@pytest.mark.parametrize("filler", [b"words ", b"]}", b"{{}", b'\\"]'])
def test_a_level_counts_wherever_it_stands(
    flavour: Flavour, filler: bytes, size: int, spaces: int, before: int
) -> None:
    beside = b'"%b"' % (filler * (size // len(filler)) + b" " * spaces)
    place = VALUE_PLACES["unknown member"]
    for around in (b"%b,%%s" % beside, b"%%s,%b" % beside, b"{},%b,%%s,%b" % (beside, beside)):
        opened = place.replace(b"%s", b"[" * before + b"[%b]" % around + b"]" * before)
        room = LEVELS - 2 - before
        deepest = opened.replace(b"%s", _nested(room, "mixed"))
        assert json.loads(flavour.encode(request_of(flavour, deepest))) == json.loads(deepest)
        refused(flavour, opened.replace(b"%s", _nested(room + 1, "mixed")))


@pytest.mark.drawn
@pytest.mark.parametrize("place", ["whole", "declared member", "inside an unknown member"])
@pytest.mark.parametrize("shape", ["arrays", "mixed"])
def test_a_hundred_thousand_levels_are_refused_soon(
    flavour: Flavour, place: str, shape: str
) -> None:
    whole = _nested(100_000, shape)
    began = time.process_time()
    for value in (whole, whole[: whole.index(b"0")]):
        for data in both(VALUE_PLACES[place].replace(b"%s", value)):
            refused(flavour, data)
    assert time.process_time() - began < 10


DUPLICATES: Final = {
    "declared": ('"id":1,"id":2', '"id":2'),
    "declared, another type first": ('"id":[],"id":2', '"id":2'),
    "declared, null first": ('"id":null,"id":"a"', '"id":"a"'),
    "constant, wrong first": ('"jsonrpc":"1.0","id":1', '"id":1'),
    "constant, no string first": ('"jsonrpc":{},"id":1', '"id":1'),
    "unknown": ('"id":1,"x":1,"x":[2]', '"id":1,"x":[2]'),
    "in a map": ('"id":1,"params":{"x":1,"x":2}', '"id":1,"params":{"x":2}'),
    "map, no map first": ('"id":1,"params":[],"params":{}', '"id":1,"params":{}'),
    "in an unknown member": ('"id":1,"x":{"y":1,"y":2}', '"id":1,"x":{"y":2}'),
    "written with an escape": ('"id":1,"\\u0069d":2', '"id":2'),
}


@pytest.mark.drawn
@pytest.mark.parametrize("case", DUPLICATES)
@pytest.mark.parametrize("type", ["JSONRPCRequest", "JSONRPCMessage"])
def test_of_equal_keys_the_last_counts(flavour: Flavour, case: str, type: str) -> None:
    twice, once = (f'{{{members},"jsonrpc":"2.0","method":"m"}}' for members in DUPLICATES[case])
    decode, of = flavour.module.decode, flavour.type(type)
    assert decode(of, twice) == decode(of, twice.encode()) == decode(of, once)
    assert json.loads(flavour.encode(decode(of, twice))) == json.loads(once)


@pytest.mark.drawn
@pytest.mark.parametrize(
    "members", ['"id":1,"id":[]', '"id":1,"method":1', '"id":1,"jsonrpc":"1.0"']
)
def test_of_equal_keys_the_last_is_refused_if_wrong(flavour: Flavour, members: str) -> None:
    text = f'{{"jsonrpc":"2.0","method":"m",{members}}}'
    refused(flavour, text)
    refused(flavour, text.encode())


def test_of_equal_keys_in_a_map_of_objects_the_last_counts(flavour: Flavour) -> None:
    decode, of = flavour.module.decode, flavour.type("ClientCapabilities")
    twice = '{"experimental":{"a":%s,"a":{"b":1}}}'
    once = decode(of, '{"experimental":{"a":{"b":1}}}')
    for first in ("1", "null", "[]", '{"c":1}', "1e2"):
        assert decode(of, twice % first) == once
    refused(flavour, '{"experimental":{"a":{"b":1},"a":1}}', "ClientCapabilities")


REPLACED: Final = {
    "declared member": b'{"id":%s,"id":1,' + HEAD + b"}",
    "constant": b'{"id":1,"jsonrpc":%s,' + HEAD + b"}",
    "member of a map": b'{"id":1,"params":{"x":%s,"x":0},' + HEAD + b"}",
    "unknown member": b'{"id":1,"x":%s,"x":0,' + HEAD + b"}",
    "inside an unknown member": b'{"id":1,"x":[{"y":%s,"y":0}],' + HEAD + b"}",
    "inside what is replaced": b'{"id":1,"x":[{"y":%s}],"x":0,' + HEAD + b"}",
}
"""Where a value can stand that another replaces, as it comes later under the same key."""


@pytest.mark.drawn
@pytest.mark.parametrize("place", REPLACED)
def test_what_is_replaced_is_json_too(flavour: Flavour, place: str) -> None:
    wrong = [
        name
        for name, value in {**NO_JSON, **BAD_STRINGS}.items()
        for text in both(REPLACED[place].replace(b"%s", value))
        if not _refuses(flavour, text)
    ]
    assert not wrong
    for name, value in GOOD.items():
        text = REPLACED[place].replace(b"%s", value)
        for data in both(text):
            written = flavour.encode(request_of(flavour, data))
            assert canonical(json.loads(written)) == canonical(json.loads(text)), name


@pytest.mark.drawn
@pytest.mark.parametrize("place", REPLACED)
def test_of_what_is_beyond_a_double_every_form_is_seen(flavour: Flavour, place: str) -> None:
    many = ("9" * 309 + ".0", "9" * 210 + "e99", "9" * 210 + "E+99", "0." + "0" * 99 + "1e409")
    for number in ("1e309", "1E309", "1e+309", "1E+0309", "0.1e310", "-1e999999999", *many):
        refused(flavour, REPLACED[place].replace(b"%s", number.encode()))


def test_of_two_discriminators_the_last_counts(flavour: Flavour) -> None:
    both_ways = (
        '{{"role":"user","content":{{"type":"{}","type":"{}","text":"a","data":"","mimeType":""}}}}'
    )
    of = flavour.type("PromptMessage")
    for first, last in (("text", "image"), ("image", "text"), ("no such", "text")):
        value = flavour.module.decode(of, both_ways.format(first, last))
        assert type(value.content).__name__ == f"{last.capitalize()}Content"
    refused(flavour, both_ways.format("text", "no such"), "PromptMessage")


# ---- writing

NOT_JSON: Final[dict[str, Any]] = {
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "lone surrogate": "\ud800",
    "lone surrogate in text": "a\udfffb",
    "object": object(),
    "set": {1},
    "bytes": b"a",
    "date": date(2025, 1, 1),
    "decimal": Decimal(1),
    "complex": 1j,
    "type": int,
    "integer of 4301 digits": 10**DIGITS,
}
OWN_FORMS: Final[dict[str, dict[str, str]]] = {
    "dataclass": {
        "name 1": "json writes a number as text",
        "name 1.5": "json writes a number as text",
        "name True": "json writes true as text",
        "name None": "json writes null as text",
    },
    "pydantic": {
        "set": "an array",
        "bytes": "their text in UTF-8",
        "date": "ISO 8601",
        "decimal": "its digits as text",
        "complex": "Python's notation as text",
        "name 1": "its digits as text",
        "name 1.5": "its digits as text",
        "name True": "true as text",
        "name None": "None as text",
        "name b'a'": "their text in UTF-8",
        "name ('a',)": "its items with commas",
    },
    "msgspec": {
        "set": "an array",
        "bytes": "base64",
        "date": "ISO 8601",
        "decimal": "its digits as text",
        "name 1": "its digits as text",
        "name 1.5": "its digits as text",
        "name b'a'": "base64",
    },
}
"""What is no JSON and is written all the same: the form that each flavour's library has for it."""

NAMES: Final = ("\ud800", 1, 1.5, True, None, b"a", ("a",))
NO_NAMES: Final = {f"name {name!r}": name for name in NAMES}


def _members(flavour: Flavour, what: str) -> Iterator[dict[str, Any]]:
    """Requests with a bad value, or a bad name, in every place where it can stand."""
    if what in NO_NAMES:
        bad: Any = {NO_NAMES[what]: 1}
        yield {"id": 1, "extra_": bad}
        yield {"id": 1, "params": _Params(bad)}
    else:
        bad = NOT_JSON[what]
        yield {"id": bad}
        yield {"id": 1, "extra_": {"x": bad}}
        yield {"id": 1, "params": _Params({"x": bad})}
    yield {"id": 1, "extra_": {"x": [{"y": bad}]}}
    yield {"id": 1, "params": _Params({"x": [{"y": bad}]})}


@pytest.mark.drawn
@pytest.mark.parametrize("what", [*NOT_JSON, *NO_NAMES])
def test_what_is_no_json_is_not_written(flavour: Flavour, what: str) -> None:
    if what in OWN_FORMS[flavour.name]:
        texts = [text for m in _members(flavour, what) if (text := _written(flavour, m))]
        assert texts, "the row is unused"
        for text in texts:
            json.loads(text, parse_int=len, parse_constant=_no_constant)
    else:
        for members in _members(flavour, what):
            _refuses_to_write(flavour, members)


def test_every_own_form_is_of_something_that_is_tried() -> None:
    assert {what for forms in OWN_FORMS.values() for what in forms} <= {*NOT_JSON, *NO_NAMES}


def _no_constant(text: str) -> None:
    raise AssertionError(text)


@pytest.mark.drawn
@pytest.mark.parametrize("place", ["unknown", "inside an unknown one", "any JSON", "inside of it"])
def test_what_is_not_there_is_no_json(flavour: Flavour, place: str) -> None:
    absent = flavour.module.UNSET
    members: dict[str, dict[str, Any]] = {
        "unknown": {"id": 1, "extra_": {"x": absent}},
        "inside an unknown one": {"id": 1, "extra_": {"x": [{"y": absent}]}},
        "any JSON": {"id": 1, "params": _Params({"x": absent})},
        "inside of it": {"id": 1, "params": _Params({"x": [{"y": absent}]})},
    }
    error = _refuses_to_write(flavour, members[place])
    if error is None:
        assert flavour.name == "pydantic"
        with pytest.raises(ValidationError, match="not UNSET"):
            _made(flavour, members[place])
        return
    assert error.path.endswith((".x", ".x[0].y"))


def test_a_word_that_looks_like_a_fault_is_written(flavour: Flavour) -> None:
    words = ["UNSET", "NaN", "Infinity", "1" * 5_000, '"UNSET"']
    text = flavour.encode(_made(flavour, {"id": 1, "extra_": {"x": words}}))
    assert json.loads(text)["x"] == words


@pytest.mark.drawn
@pytest.mark.parametrize("bad", [math.nan, math.inf, 10**DIGITS], ids=["nan", "infinity", "long"])
def test_who_makes_a_value_is_told_when_it_is_written(flavour: Flavour, bad: Any) -> None:
    """What any JSON may stand for is shared by `to_wire` as it is; `encode` looks at it."""
    made = _made(flavour, {"id": 1, "extra_": {"x": bad}})
    assert flavour.to_wire(made)["x"] is bad
    with pytest.raises(EncodeError) as caught:
        flavour.encode(made)
    assert caught.value.path == "$.x"


@pytest.mark.drawn
@pytest.mark.parametrize("before", [0, 1, 499, 950, 999, 4_300])
def test_a_long_integer_is_refused_wherever_it_stands(flavour: Flavour, before: int) -> None:
    words, longest = "a" * before, 10**DIGITS - 1
    text = flavour.encode(_made(flavour, {"id": 1, "extra_": {"x": [words, longest]}}))
    assert str(longest).encode() in text
    _refuses_to_write(flavour, {"id": 1, "extra_": {"x": [words, longest + 1]}})


def test_what_holds_itself_is_not_written(flavour: Flavour) -> None:
    knot: list[Any] = []
    knot.append(knot)
    _refuses_to_write(flavour, {"id": 1, "extra_": {"x": knot}})


@pytest.mark.drawn
@pytest.mark.parametrize("name", ["id", "method", "jsonrpc", "params"])
def test_an_unknown_member_cannot_stand_in_for_a_declared_one(flavour: Flavour, name: str) -> None:
    _refuses_to_write(flavour, {"id": 1, "extra_": {name: "a"}})


def test_the_fault_of_what_is_not_written_has_its_place(flavour: Flavour) -> None:
    error = _refuses_to_write(flavour, {"id": 1, "extra_": {"a b": [0, {"c": math.nan}]}})
    assert error is None or error.path == '$["a b"][1].c'


def test_the_longest_integer_is_not_blamed_for_another_fault(flavour: Flavour) -> None:
    error = _refuses_to_write(flavour, {"id": 1, "extra_": {"a": 10**DIGITS - 1, "b": math.nan}})
    assert error is None or error.path == "$.b"


@pytest.mark.drawn
@pytest.mark.parametrize("shape", ["arrays", "objects", "mixed"])
def test_levels_without_end_are_not_written(flavour: Flavour, shape: str) -> None:
    """128 is a limit of reading; what is written ends where the interpreter does."""
    value: Any = json.loads(_nested(LEVELS, shape))
    for _ in range(100_000):
        value = [value]
    error = _refuses_to_write(flavour, {"id": 1, "extra_": {"x": value}})
    assert error is None or error.found == "deeper nesting"


class _Params(dict[Any, Any]):
    """Stands for `params`: in the older revisions an open class, later a map."""


_PLAIN: Final[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}}


def _made(flavour: Flavour, members: dict[str, Any]) -> Any:
    of = flavour.type("JSONRPCRequest")
    given = members.get("params")
    if isinstance(given, _Params):
        params = flavour.module.from_wire(of, _PLAIN).params
        plain = dict(given)
        held = plain if isinstance(params, dict) else type(params)(extra_=plain)
        members = {**members, "params": held}
    return of(method="m", **members)


def _written(flavour: Flavour, members: dict[str, Any]) -> bytes | None:
    """The text; None where the class itself refused, as it may where a member has a type."""
    try:
        made = _made(flavour, members)
    except (TypeError, ValueError):
        return None
    return flavour.encode(made)


def _refuses_to_write(flavour: Flavour, members: dict[str, Any]) -> EncodeError | None:
    """The EncodeError; None where the class itself refused, as it may where a member has a type."""
    try:
        text = _written(flavour, members)
    except EncodeError as refused_:
        error = refused_
    else:
        assert text is None, "it was written"
        return None
    assert error.path.startswith("$")
    return error
