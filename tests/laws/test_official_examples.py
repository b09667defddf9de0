"""Messages of the protocol's own pages: every flavour reads them, and writes them as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_bindgen.ir.model import Ref
from mcp_bindgen.ir.values.accepts import accepts
from tests.support.judges import REVISIONS, canonical, flavours, schema_of

NO_META: Final = "requests of this revision require `params._meta`, and the page leaves it out"

NOT_OF_THE_SCHEMA: Final = {
    **{
        (revision, "basic/utilities/progress", "Progress Flow"): "`some_method` is no method"
        for revision in REVISIONS[:-1]
    },
    ("2026-07-28", "basic/patterns/progress", "Progress Flow"): "`some_method` is no method",
    ("2026-07-28", "basic/index", "`_meta`"): (
        "requests require `io.modelcontextprotocol/protocolVersion` in `_meta`"
    ),
    ("2026-07-28", "server/prompts", "Listing Prompts"): NO_META,
    ("2026-07-28", "server/prompts", "Getting a Prompt"): NO_META,
    ("2026-07-28", "server/resources", "Listing Resources"): NO_META,
    ("2026-07-28", "server/resources", "Reading Resources"): NO_META,
    ("2026-07-28", "server/resources", "Resource Templates"): NO_META,
    ("2026-07-28", "server/tools", "Listing Tools"): NO_META,
    ("2026-07-28", "server/tools", "Calling Tools"): NO_META,
    ("2026-07-28", "server/tools", "Input Required Tool Results"): NO_META,
    ("2026-07-28", "server/utilities/completion", "Requesting Completions"): NO_META,
    ("2026-07-28", "server/utilities/pagination", "Request Format"): NO_META,
    ("2026-07-28", "ReadResourceResultResponse", "read-resource-result-response"): (
        "`CacheableResult` requires `ttlMs` and `cacheScope`; the example leaves both out"
    ),
}
"""Where the pages write what the schema refuses; the reason is in the schema."""


def _examples(shared: Path, revision: str) -> list[tuple[tuple[str, str, str], str, Any]]:
    """What an example is called, its type and itself; a message's type is that of its method."""
    folder = shared / "official" / revision
    types = {method.name: method.type for method in schema_of(revision).methods}
    examples: list[tuple[tuple[str, str, str], str, Any]] = []
    for row in json.loads((folder / "messages.json").read_bytes()):
        method = row["json"].get("method")
        name = types.get(method, "") if method else "JSONRPCMessage"
        examples.append(((revision, row["page"], row["heading"]), name, row["json"]))
    if (typed := folder / "examples.json").exists():
        for row in json.loads(typed.read_bytes()):
            examples.append(((revision, row["type"], row["name"]), row["type"], row["json"]))
    return examples


@pytest.mark.parametrize("revision", REVISIONS)
def test_official_examples_are_read_and_written_as_they_were(shared: Path, revision: str) -> None:
    schema = schema_of(revision)
    refused: set[tuple[str, str, str]] = set()
    wrong: list[str] = []
    for label, name, value in _examples(shared, revision):
        text = json.dumps(value)
        true = bool(name) and accepts(schema, Ref(name), value)
        if not true:
            refused.add(label)
        for of in {name, "JSONRPCMessage"} if "jsonrpc" in value else {name}:
            admitted = accepts(schema, Ref(of), value) if of else False
            for flavour in flavours(revision) if of else ():
                verdict = flavour.decode(of, text)
                if verdict.accepted != admitted:
                    wrong.append(f"{label} {of}: {flavour.name} {verdict}")
                elif admitted:
                    written = json.loads(flavour.encode(verdict.value))
                    if canonical(written) != canonical(value):
                        wrong.append(f"{label} {of}: {flavour.name} writes {written}")
    assert not wrong
    assert refused == {label for label in NOT_OF_THE_SCHEMA if label[0] == revision}


@pytest.mark.parametrize("revision", REVISIONS)
def test_results_of_the_examples_are_of_their_method(shared: Path, revision: str) -> None:
    """Each response after a request on its page, where both have one id, is the method's result."""
    from importlib import import_module

    package = f"mcp_wire.v{revision.replace('-', '_')}"
    count = 0
    asked: dict[tuple[str, Any], str] = {}
    for (_, page, _), _, value in _examples(shared, revision):
        if "method" in value and "id" in value:
            asked[page, value["id"]] = value["method"]
        method = asked.get((page, value.get("id"))) if "result" in value else None
        if method is None:
            continue
        for flavour in flavours(revision):
            calls = import_module(f"{package}.calls_{flavour.name}")
            if method not in calls.RESULTS:
                continue
            admitted = accepts(schema_of(revision), _result(revision, method), value["result"])
            try:
                made = calls.decode_result(method, json.dumps(value["result"]))
            except flavour.fault:
                assert not admitted, (page, method)
                continue
            assert admitted, (page, method)
            count += 1
            assert canonical(json.loads(calls.encode(made))) == canonical(value["result"])
    assert count


def _result(revision: str, method: str) -> Any:
    return next(m.result for m in schema_of(revision).methods if m.name == method)
