"""Params whose `_meta` is that of an earlier request are those that are read as a whole."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from mcp_runtime.core.terms.repeated_meta import RepeatedMeta
from mcp_runtime.core.terms.role import SERVER
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.terms.translation import Translation
from mcp_runtime.revisions import HANDLERS, DecodeError, StepError, latest, revision
from tests.support.instances import Seeded
from tests.support.judges import REVISIONS, canonical
from tests.support.law_messages import Messages, context
from tests.support.seeds import seed
from tests.support.squatted_messages import squatted

ROUNDS: Final = 15
VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
DEEP: Final = json.loads("[" * 130 + "]" * 130)
META: Final = {VERSION: HANDLERS, CAPABILITIES: {}}


def raw(params: Any) -> bytes:
    return json.dumps(params).encode()


def call(meta: dict[str, Any] | None = None, **members: Any) -> bytes:
    return raw({"name": "a", **members, **({} if meta is None else {"_meta": meta})})


def after(first: bytes) -> RepeatedMeta:
    """What is kept of a call."""
    repeated = RepeatedMeta(HANDLERS)
    params = revision(HANDLERS).decode("params", "tools/call", first)
    repeated.keep("tools/call", first, params)
    return repeated


def drawn(messages: Messages, method: str, hand: Seeded) -> list[Any]:
    """Params of a method: valid ones, with a member of another revision, with a fault."""
    message = messages.make(method, "params")
    broken, squatter = messages.broken(message), squatted(message, hand)
    made = [message, *([squatter[0]] if squatter else []), *([broken] if broken else [])]
    return [each.value["params"] for each in made if isinstance(each.value.get("params"), dict)]


def metas(spoken: str) -> list[dict[str, Any]]:
    """What may stand for the `_meta` of params: each repeated by many requests."""
    if revision(spoken).era == "per-request":
        return [{"_meta": META}, {"_meta": {**META, CAPABILITIES: {"roots": {}}}}]
    return [{}, {"_meta": {}}, {"_meta": {CAPABILITIES: {"roots": {}}}}]


@pytest.mark.parametrize("spoken", REVISIONS)
def test_params_are_those_that_are_read_as_a_whole(spoken: str) -> None:
    hand = Seeded(seed(f"repeated {spoken}"))
    messages = Messages(spoken, hand)
    methods = [m for m, position in messages.places() if position == "params"]
    repeats = 0
    for method in (m for m in methods if m in revision(HANDLERS).methods):
        repeated, agreed = RepeatedMeta(spoken), context(hand)
        for params in (each for _ in range(ROUNDS) for each in drawn(messages, method, hand)):
            for meta in metas(spoken):
                text = raw({**{k: v for k, v in params.items() if k != "_meta"}, **meta})
                again = repeated.read(method, text)
                whole = Translation(revision(spoken), agreed, Tolerances(SERVER))
                try:
                    read = whole.read("params", method, text)
                except (DecodeError, StepError):
                    assert again is None
                    continue
                repeated.keep(method, text, read)
                repeats += again is not None
                assert again is None or again == read
                assert again is None or canonical(latest.to_wire(again)) == canonical(
                    latest.to_wire(read)
                )
    assert repeats > ROUNDS


def test_the_same_meta_is_read_once() -> None:
    repeated = after(call(META, arguments={"x": 1}))
    first, second = (repeated.read("tools/call", call(META, arguments={"x": x})) for x in (2, 3))
    assert (first.arguments, second.arguments) == ({"x": 2}, {"x": 3})
    assert first.meta is second.meta


@pytest.mark.parametrize(
    "member",
    [{"progressToken": 1}, {"traceparent": "00-1-1-00"}, {"x": {}}],
    ids=lambda member: next(iter(member)),
)
def test_what_is_of_one_request_alone_is_not_kept(member: dict[str, Any]) -> None:
    meta = {**META, **member}
    assert after(call(meta)).read("tools/call", call(meta)) is None


def test_a_long_meta_is_not_kept() -> None:
    info = {"name": "long" * 300, "version": "1"}
    meta = {**META, "io.modelcontextprotocol/clientInfo": info}
    assert after(call(meta)).read("tools/call", call(meta)) is None


@pytest.mark.parametrize(
    "declared",
    [{"experimental": {"acme": {}}}, {"sampling": {"tools": {}}}, {"x": {}}],
    ids=["experimental", "tools", "unknown"],
)
def test_what_a_handler_could_change_is_not_shared_with_later_requests(
    declared: dict[str, Any],
) -> None:
    meta = {**META, CAPABILITIES: declared}
    assert after(call(meta)).read("tools/call", call(meta)) is None


def test_few_are_kept() -> None:
    repeated = after(call(META))
    for number in range(1000):
        info = {"name": str(number), "version": "1"}
        text = call({**META, "io.modelcontextprotocol/clientInfo": info})
        repeated.keep("tools/call", text, revision(HANDLERS).decode("params", "tools/call", text))
    assert repeated.read("tools/call", call(META)) is None
    assert repeated.read("tools/call", text) is not None


@pytest.mark.parametrize(
    "members",
    [
        {"name": 1},
        {"x": 1},
        {"arguments": []},
        {"arguments": {"a": json.loads("[" * 130 + "]" * 130)}},
    ],
    ids=["type", "unknown", "arguments", "deep"],
)
def test_what_is_unusual_is_read_as_a_whole(members: dict[str, Any]) -> None:
    repeated = after(call(META))
    assert repeated.read("tools/call", call(META, **members)) is None
    assert repeated.read("tools/call", call(META, arguments={"a": [[1]]})) is not None
