"""Digests of definitions: the canonical JSON of RFC 8785, and what changes a digest."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import Any, Final

import pytest

from mcp_bindgen.cli.client.lock import lock_of
from mcp_bindgen.emit.support._wire import digests as of_the_generator
from mcp_runtime import definition_digest
from mcp_runtime import types as t
from mcp_wire._wire.digests import canonical_json

NUMBERS: Final[tuple[tuple[float, str], ...]] = (
    (0.0, "0"),
    (-0.0, "0"),
    (-1.0, "-1"),
    (100.0, "100"),
    (1.5, "1.5"),
    (1e20, "100000000000000000000"),
    (123456789012345680000.0, "123456789012345680000"),
    (1e21, "1e+21"),
    (1.25e30, "1.25e+30"),
    (10**30, "1e+30"),
    (2**53 - 1, "9007199254740991"),
    (2**53 + 1, "9007199254740992"),
    (0.000001, "0.000001"),
    (0.0000001, "1e-7"),
    (-2.5e-9, "-2.5e-9"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
    (4.35, "4.35"),
    (333333333.3333333, "333333333.3333333"),
)


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_a_number_is_written_as_ecmascript_writes_it(number: float, text: str) -> None:
    assert canonical_json(number) == text.encode()
    assert float(text) == float(number)


def test_members_are_sorted_by_utf_16_and_strings_escape_only_what_they_must() -> None:
    value = {"\ufb33": 1, "\U0001f600": [None, True], 'a\n\x0f/"\\': {}, "": "\x7fé\u2028"}
    text = '{"":"\x7fé\u2028","a\\n\\u000f/\\"\\\\":{},"\U0001f600":[null,true],"\ufb33":1}'
    assert canonical_json(value).decode() == text
    assert json.loads(text) == value


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), 10**400, "\ud800", {"\udfff": 1}, {"a": {1}}, b"a"]
)
def test_what_no_other_process_could_write_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|double|surrogates"):
        canonical_json(value)


def test_what_is_nested_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested deeper than"):
        canonical_json(value)


TOOL: Final[dict[str, Any]] = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "default": 1.0}}},
    "annotations": {"readOnlyHint": True},
}


def test_the_order_of_members_the_form_of_numbers_and_meta_change_nothing() -> None:
    digest = definition_digest(TOOL)
    schema = {"properties": {"a": {"default": 1, "type": "number"}}, "type": "object"}
    other = {"_meta": {"a": 1}, "annotations": TOOL["annotations"], "inputSchema": schema}
    assert definition_digest({**other, "name": "add"}) == digest
    assert definition_digest(t.from_wire(t.Tool, TOOL)) == digest
    assert of_the_generator.definition_digest(TOOL) == digest


@pytest.mark.parametrize(
    "change",
    [
        {"name": "sub"},
        {"title": ""},
        {"inputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": False}},
        {"annotations": {}},
    ],
)
def test_any_other_change_gives_another_digest(change: dict[str, Any]) -> None:
    assert definition_digest({**TOOL, **change}) != definition_digest(TOOL)


@pytest.mark.parametrize(
    ("definition", "digest"),
    [
        (TOOL, "32c31b067bd6bb49000d5d43120354ccb93134f801837188693cf89d2ad37507"),
        (t.Prompt(name="p"), "1cf8d75aa01a64d20f498907560fe65bd4cc3ed6ab4bc38a5592392afbfaa192"),
        (
            t.Resource(uri="a://b", name="é"),
            "4a0bd4f949d9bd0685d591c7ad199cf2793fc01f654c7682fae12429aed3a820",
        ),
        (
            t.ResourceTemplate(uri_template="a://{b}", name="b"),
            "63b777fcb30a6320720ac1cd98e7796f2465a676fa0649241e6493d275eebabe",
        ),
    ],
)
def test_a_digest_is_that_of_every_process(definition: Any, digest: str) -> None:
    """Whoever wrote these down ran another process, and maybe another version of Python."""
    assert definition_digest(definition) == f"sha256:{digest}"


LISTS: Final[dict[str, Any]] = {
    "tools": [
        {
            "name": "é\U0001f600",
            "inputSchema": {"type": "object", "maximum": 1e21, "minimum": -0.0},
        },
        {"name": "b", "inputSchema": {"multipleOf": 1e-7, "type": "object"}, "_meta": {"x": 1}},
    ],
    "prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}],
    "resources": [{"uri": "a://\ufb33", "name": "r"}],
    "resourceTemplates": [{"uriTemplate": "a://{b}", "name": "t"}],
}


def test_the_lock_of_a_typed_client_is_that_of_every_process() -> None:
    """Every byte of it, and so each digest in it: 3.11, 3.12 and 3.13 wrote the same."""
    text = lock_of(json.dumps(LISTS).encode(), "lists.json", "runtime", "2026-11-29").text
    digest = "125953526826c88c13380f11dc6dd61e822f5ece03d2e01f56d563f2730c9638"
    assert hashlib.sha256(text.encode()).hexdigest() == digest


PROGRAM: Final = """
import json, sys
from mcp_runtime import definition_digest
print(definition_digest(json.loads(sys.stdin.read())))
"""


def test_hash_seeds_of_processes_do_not_matter() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(TOOL),
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert digests == {definition_digest(TOOL)}
