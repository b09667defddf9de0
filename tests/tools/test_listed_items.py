"""Prompts, resources and templates of two servers: what is found, and whom it breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.errors import InputError
from mcp_bindgen.tools.compare import compare
from mcp_bindgen.tools.surface import read_both

GREET: dict[str, Any] = {
    "name": "greet",
    "arguments": [{"name": "who", "required": True}, {"name": "style"}],
}
APP: dict[str, Any] = {"uri": "config://app", "name": "app", "mimeType": "text/plain", "size": 3}
LOGS: dict[str, Any] = {"uriTemplate": "logs://{day}", "name": "logs", "description": "Logs."}
ALL: dict[str, Any] = {
    "tools": [],
    "prompts": [GREET],
    "resources": [APP],
    "resourceTemplates": [LOGS],
}


def report(old: Any, new: Any) -> Report:
    texts = [json.dumps(side).encode() for side in (old, new)]
    return compare(*read_both((texts[0], "old.json"), (texts[1], "new.json")))


def verdicts(new: dict[str, Any]) -> list[str]:
    """The findings of a server that lists `new` in place of its lists in ALL."""
    return [
        f"{f.rule.id} {f.change.path} {f.client} {f.server} {f.bindings}"
        for f in report(ALL, {**ALL, **new}).findings
    ]


def with_argument(number: int, **members: Any) -> dict[str, Any]:
    arguments = [dict(each) for each in GREET["arguments"]]
    arguments[number] |= members
    return {"prompts": [{"name": "greet", "arguments": arguments}]}


CHANGES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"prompts": []}, ["PROMPT_REMOVED prompt greet breaks holds breaks"]),
    (
        {"prompts": [GREET, {"name": "bye"}]},
        ["PROMPT_ADDED prompt bye holds if used holds"],
    ),
    (
        with_argument(1, required=True),
        ["MEMBER_BECAME_REQUIRED prompt greet.style breaks holds breaks"],
    ),
    (
        {"prompts": [{"name": "greet", "arguments": GREET["arguments"][:1]}]},
        ["MEMBER_REMOVED_OPTIONAL prompt greet.style holds holds breaks"],
    ),
    (
        with_argument(0, description="A name."),
        ["TOOL_TEXT_CHANGED prompt greet.who holds holds holds"],
    ),
    (
        {"prompts": [{**GREET, "title": "Greet"}]},
        ["TOOL_TEXT_CHANGED prompt greet.title holds holds holds"],
    ),
    ({"resources": []}, ["RESOURCE_REMOVED resource config://app breaks holds breaks"]),
    ({"resources": [{**APP, "size": 4, "annotations": {"lastModified": "2026-01-01"}}]}, []),
    (
        {"resources": [{**APP, "mimeType": "text/html"}]},
        ["TOOL_META_CHANGED resource config://app.mimeType holds holds holds"],
    ),
    (
        {"resources": [{**APP, "annotations": {"audience": []}}]},
        ["TOOL_ANNOTATION_CHANGED resource config://app.annotations.audience holds holds holds"],
    ),
    (
        {"resourceTemplates": []},
        ["TEMPLATE_REMOVED template logs://{day} breaks holds breaks"],
    ),
    (
        {"resourceTemplates": [{**LOGS, "description": "All logs."}]},
        ["TOOL_TEXT_CHANGED template logs://{day}.description holds holds holds"],
    ),
]


@pytest.mark.parametrize(("new", "findings"), CHANGES)
def test_each_change_of_an_item_has_its_verdict(new: dict[str, Any], findings: list[str]) -> None:
    assert verdicts(new) == findings


def test_a_template_with_other_variables_is_perhaps_the_same() -> None:
    findings = report(ALL, {**ALL, "resourceTemplates": [{**LOGS, "uriTemplate": "logs://{date}"}]})
    notes = {f.rule.id: f.change.note for f in findings.findings}
    assert notes == {
        "TEMPLATE_ADDED": "perhaps renamed: see template logs://{day}",
        "TEMPLATE_REMOVED": "perhaps renamed: see template logs://{date}",
    }


def test_a_witness_asks_for_the_item_that_is_gone() -> None:
    findings = report(ALL, {**ALL, "prompts": [], "resources": [], "resourceTemplates": []})
    asked = {
        f.change.path: (w.message["method"], w.message["params"], w.path, w.expected)
        for f in findings.findings
        for w in f.witnesses
    }
    assert asked == {
        "prompt greet": (
            "prompts/get",
            {"name": "greet", "arguments": {"who": ""}},
            "$.params.name",
            "a prompt that it has",
        ),
        "resource config://app": (
            "resources/read",
            {"uri": "config://app"},
            "$.params.uri",
            "a resource that it has",
        ),
        "template logs://{day}": (
            "resources/read",
            {"uri": "logs://x"},
            "$.params.uri",
            "a template that it has",
        ),
    }


def test_a_list_that_one_side_lacks_proves_nothing() -> None:
    assert report(ALL, {"tools": []}).findings == ()
    assert report({"tools": []}, ALL).findings == ()
    pages = {"tools": [], "templates": [LOGS]}  # as `call --list` calls them
    assert [f.rule.id for f in report(ALL, {**pages, "templates": []}).findings] == [
        "TEMPLATE_REMOVED"
    ]


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"prompts": {}}, "$.prompts: expected a list of prompts, found {}"),
    ({"prompts": [1]}, "$.prompts[0]: expected a prompt (an object), found 1"),
    ({"prompts": [{"title": "x"}]}, "$.prompts[0]: expected a prompt with `name`"),
    ({"resources": [{"uri": 1}]}, "$.resources[0].uri: expected the uri of a resource"),
    ({"resources": [APP, APP]}, "a second resource is called 'config://app'"),
    ({"prompts": [{"name": "a", "arguments": 1}]}, "expected a list of arguments, found 1"),
    ({"prompts": [{"name": "a", "arguments": [{}]}]}, "expected an argument with `name`"),
    ({"prompts": [], "nextCursor": "x"}, "$.nextCursor: the list of "),
    (
        {"tools": [{"name": "prompt greet", "inputSchema": {}}]},
        "a tool is called 'prompt greet', as the report calls another item",
    ),
]


@pytest.mark.parametrize(("new", "said"), REFUSALS)
def test_lists_of_other_forms_are_refused(new: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        report(ALL, {**ALL, **new})
    assert said in str(refused.value)


def test_pages_of_several_lists_may_follow_one_another() -> None:
    pages = b'{"tools": []} {"prompts": [], "nextCursor": "2"} {"prompts": [{"name": "greet"}]}'
    whole = b'{"tools": [], "prompts": [{"name": "greet"}]}'
    assert compare(*read_both((pages, "pages"), (whole, "whole"))).findings == ()
