"""`mcp_wire.convert`: what it takes, what it refuses, and what old peers get of new data."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise, permutations
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_wire._wire.faults import path
from mcp_wire.convert import (
    Context,
    Converted,
    DecodeError,
    NeedsContext,
    NotAMessageMatter,
    Refused,
    StepError,
    UnknownRevision,
    convert,
)
from mcp_wire.steps import STEPS, Trip, matters, route
from tests.support.judges import REVISIONS

OLDEST: Final = REVISIONS[0]
NEWEST: Final = REVISIONS[-1]
PREFIX: Final = "io.modelcontextprotocol/"
INFO: Final = {"name": "c", "version": "1"}
META: Final = {f"{PREFIX}protocolVersion": NEWEST, f"{PREFIX}clientCapabilities": {}}
TOLD: Final = Context(
    client_info=INFO,
    client_capabilities={"roots": {}},
    server_info={"name": "s", "version": "2"},
    log_level="info",
)


def request(method: str, params: Any = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    return message if params is None else {**message, "params": params}


def response(**result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def failure(code: int, **rest: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", **rest}}


def tool_result(to: str, *content: Any, **rest: Any) -> tuple[Any, list[str]]:
    """A tool's result of the newest handshake revision as an older peer gets it, and the losses."""
    message = response(content=list(content), **rest)
    converted = convert(message, "2025-11-25", to, method="tools/call")
    return converted.message["result"], [loss.path for loss in converted.losses]


# ---- what comes back


def test_what_is_the_same_comes_back_itself() -> None:
    message = request("tools/call", {"name": "a", "arguments": {"x": [1]}})
    assert convert(message, OLDEST, "2025-11-25").message is message
    assert convert(message, OLDEST, OLDEST) == Converted(message, ())


def test_what_differs_is_copied_no_further_than_needed() -> None:
    plain = {"name": "a", "inputSchema": {"type": "object"}}
    message = response(tools=[plain, {**plain, "title": "B"}])
    before = json.dumps(message)
    down = convert(message, "2025-06-18", "2025-03-26", method="tools/list")
    tools = down.message["result"]["tools"]
    assert tools[0] is message["result"]["tools"][0]
    assert tools[1]["inputSchema"] is message["result"]["tools"][1]["inputSchema"]
    assert json.dumps(message) == before


def test_unknown_members_of_both_sides_are_carried() -> None:
    message = request("tools/list", {"x-a": 1, "_meta": {"y/b": [2]}})
    up = convert({**message, "z": 3}, OLDEST, NEWEST, context=TOLD).message
    assert (up["z"], up["params"]["x-a"], up["params"]["_meta"]["y/b"]) == (3, 1, [2])


# ---- the context


def test_a_context_is_filled_in_and_taken_out_without_loss() -> None:
    up = convert(request("tools/list"), OLDEST, NEWEST, context=TOLD)
    assert up.losses == ()
    assert up.message["params"]["_meta"] == {
        f"{PREFIX}protocolVersion": NEWEST,
        f"{PREFIX}clientInfo": INFO,
        f"{PREFIX}clientCapabilities": {"roots": {}},
        f"{PREFIX}logLevel": "info",
    }
    assert convert(up.message, NEWEST, OLDEST, context=TOLD) == Converted(request("tools/list"), ())


def test_what_the_context_does_not_have_is_a_loss() -> None:
    up = convert(request("tools/list"), OLDEST, NEWEST, context=TOLD)
    other = Context(client_capabilities={"roots": {}})
    losses = convert(up.message, NEWEST, "2025-11-25", context=other).losses
    assert [loss.path for loss in losses] == [
        f'$.params._meta["{PREFIX}clientInfo"]',
        f'$.params._meta["{PREFIX}logLevel"]',
    ]


def test_a_server_names_itself_in_results() -> None:
    up = convert(response(tools=[]), OLDEST, NEWEST, method="tools/list", context=TOLD).message
    assert up["result"]["_meta"] == {f"{PREFIX}serverInfo": {"name": "s", "version": "2"}}
    assert up["result"] | {"_meta": {}} == {
        "tools": [],
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {},
    }


@pytest.mark.parametrize("context", [None, Context(client_info=INFO)])
def test_a_request_without_the_context_it_needs_is_refused(context: Context | None) -> None:
    with pytest.raises(NeedsContext) as caught:
        convert(request("tools/list"), "2025-11-25", NEWEST, context=context)
    assert caught.value.member == "client_capabilities"


def test_a_context_that_does_not_fit_is_refused() -> None:
    unfit = Context(client_capabilities={}, log_level="loud")
    for _ in range(2):
        with pytest.raises(NeedsContext) as caught:
            convert(request("tools/list"), "2025-11-25", NEWEST, context=unfit)
        assert caught.value.member == "log_level"


def test_a_request_that_names_a_version_gets_the_targets() -> None:
    meta = {f"{PREFIX}protocolVersion": "2025-11-25", f"{PREFIX}clientInfo": 3}
    up = convert(request("tools/list", {"_meta": meta}), "2025-11-25", NEWEST, context=TOLD)
    assert up.message["params"]["_meta"][f"{PREFIX}protocolVersion"] == NEWEST
    assert up.message["params"]["_meta"][f"{PREFIX}clientInfo"] == INFO
    assert len(up.losses) == 2


# ---- squatters


@pytest.mark.parametrize(
    ("member", "value", "kept"),
    [
        ("title", "T", True),
        ("title", 5, False),
        ("annotations", {"readOnlyHint": True}, True),
        ("annotations", {"readOnlyHint": "yes"}, False),
        ("icons", [{"src": "a"}], True),
        ("icons", [{}], False),
        ("_meta", {}, True),
        ("_meta", [], False),
        ("execution", {"taskSupport": "never"}, False),
    ],
)
def test_a_squatter_is_carried_if_the_newer_type_admits_it(
    member: str, value: Any, kept: bool
) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}, member: value}
    up = convert(response(tools=[tool]), OLDEST, "2025-11-25", method="tools/list")
    assert (up.message["result"]["tools"][0] == tool) is kept
    assert [loss.path for loss in up.losses] == ([] if kept else [f"$.result.tools[0].{member}"])


# ---- what a message may be


def test_an_input_request_travels_without_envelope() -> None:
    bare = {"method": "elicitation/create", "params": {"message": "?", "mode": "url", "url": "u"}}
    down = convert(bare, NEWEST, "2025-11-25")
    assert down.message == {**bare, "params": {**bare["params"], "elicitationId": ""}}
    assert convert(down.message, "2025-11-25", NEWEST) == Converted(bare, ())


def test_an_input_response_is_a_result_by_itself() -> None:
    answer = {"action": "accept", "content": {"a": ["x", "y"]}}
    assert convert(answer, "2025-11-25", NEWEST, method="elicitation/create").message is answer
    down = convert(answer, NEWEST, "2025-06-18", method="elicitation/create")
    assert down.message["content"] == {"a": '["x","y"]'}


def test_a_response_needs_the_method_of_its_request() -> None:
    with pytest.raises(TypeError, match="method"):
        convert(response(tools=[]), OLDEST, "2025-11-25")


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (7, "$"),
        ({"x": "method"}, "$.method"),
        ({"method": ["tools/list"]}, "$.method"),
        (request("tools/call", {}), "$.params.name"),
        (request("tools/call"), "$.params"),
        (request("tools/call", [1]), "$.params"),
        ({**request("tools/list"), "id": None}, "$.id"),
        ({**request("tools/list"), "jsonrpc": "1.0"}, "$.jsonrpc"),
        ({"jsonrpc": "2.0", "method": "tools/list"}, "$.id"),
        (request("notifications/initialized"), "$.id"),
        ({"jsonrpc": "2.0", "id": 1}, "$.result"),
    ],
)
def test_what_is_no_message_of_the_source_is_refused_with_its_path(message: Any, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        convert(message, "2025-11-25", OLDEST, method=None if "method" in str(message) else "ping")
    assert caught.value.path == path


def test_a_result_is_judged_by_its_method() -> None:
    with pytest.raises(DecodeError) as caught:
        convert(response(content=[{"type": "text"}]), "2025-11-25", OLDEST, method="tools/call")
    assert caught.value.path == "$.result.content[0].text"
    with pytest.raises(DecodeError):
        convert(response(), "2025-11-25", OLDEST, method="notifications/cancelled")


def test_json_without_end_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    message = response(content=[], structuredContent=deep)
    with pytest.raises(DecodeError):
        convert(message, "2025-06-18", "2025-03-26", method="tools/call")


JSONS: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["2.0", "tools/call", "tools/list", "roots/list", "x", "input_required"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["jsonrpc", "id", "method", "params", "result", "error", "code", "content", "_meta"]
            )
            | st.text(max_size=3),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(
    JSONS,
    st.sampled_from(list(permutations(REVISIONS, 2))),
    st.sampled_from([None, "tools/call", "roots/list", "x"]),
)
def test_any_json_is_converted_or_refused_in_a_known_way(
    message: Any, pair: tuple[str, str], method: str | None
) -> None:
    answers = isinstance(message, dict) and "jsonrpc" in message and "method" not in message
    known = (DecodeError, StepError, *((TypeError,) if answers and method is None else ()))
    with suppress(*known):
        convert(message, *pair, method=method, context=TOLD)


def test_unknown_revisions_have_no_steps() -> None:
    for from_, to in (("1999-01-01", OLDEST), (OLDEST, "1999-01-01")):
        with pytest.raises(UnknownRevision):
            convert(request("ping"), from_, to)


# ---- methods that one side lacks


@pytest.mark.parametrize(
    "error",
    [
        Refused("$.method", -32601, "no method 'x'", "nothing has it"),
        NotAMessageMatter("$", "mcp_runtime.core.session.lifecycle", "no ping", "it is gone"),
        NeedsContext("client_info", "a request needs it"),
        UnknownRevision("no steps"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_pickled_and_copied_with_its_text_and_members(error: StepError) -> None:
    error.add_note("seen by a proxy")
    pickled = [pickle.loads(pickle.dumps(error, protocol)) for protocol in range(6)]
    for other in (*pickled, copy.copy(error), copy.deepcopy(error)):
        assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))


def test_a_method_unknown_to_all_is_carried() -> None:
    message = request("x/mine", {"a": 1})
    assert convert(message, OLDEST, NEWEST).message is message
    assert convert(message, NEWEST, OLDEST).message is message
    note = {"jsonrpc": "2.0", "method": "notifications/mine"}
    assert convert(note, OLDEST, NEWEST).message is note


def test_the_answer_to_an_unknown_method_is_a_result_like_any() -> None:
    up = convert(response(a=1), OLDEST, NEWEST, method="x/mine")
    assert up.message["result"] == {"a": 1, "resultType": "complete"}
    assert convert(up.message, NEWEST, OLDEST, method="x/mine").message == response(a=1)


@pytest.mark.parametrize(
    ("method", "from_", "to"),
    [
        ("elicitation/create", OLDEST, "2025-06-18"),
        ("tasks/get", OLDEST, "2025-11-25"),
        ("tasks/get", OLDEST, NEWEST),
        ("server/discover", OLDEST, NEWEST),
    ],
)
def test_a_method_unknown_to_its_sender_alone_is_refused(method: str, from_: str, to: str) -> None:
    for message in (request(method, {}), response(), failure(-32600)):
        with pytest.raises(Refused) as caught:
            convert(message, from_, to, method=method)
        assert (caught.value.code, from_ in caught.value.why) == (-32601, True)


def test_a_method_that_is_gone_is_refused_with_a_code() -> None:
    with pytest.raises(Refused) as caught:
        convert(request("tasks/get", {"taskId": "a"}), "2025-11-25", OLDEST)
    assert (caught.value.path, caught.value.code) == ("$.method", -32601)


HANDLED: Final = {
    "mcp_runtime.core.session.lifecycle": ("initialize", "notifications/initialized", "ping"),
    "mcp_runtime.core.session.session": (
        "resources/subscribe",
        "resources/unsubscribe",
        "logging/setLevel",
        "notifications/roots/list_changed",
    ),
    "mcp_runtime.core.session.pending": (
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "notifications/elicitation/complete",
    ),
}


def test_manners_are_left_to_the_part_of_the_runtime_that_handles_them() -> None:
    table = matters("2025-11-25", NEWEST)
    parts = {name: row.runtime for name, row in table.items() if row.runtime}
    assert parts == {name: part for part, names in HANDLED.items() for name in names}


@pytest.mark.parametrize(
    ("message", "from_", "part"),
    [
        (request("roots/list"), "2025-11-25", "session.pending"),
        (request("ping"), OLDEST, "session.lifecycle"),
        (request("server/discover", {"_meta": META}), NEWEST, "session.lifecycle"),
        ([request("ping")], "2025-03-26", "wire.jsonrpc"),
    ],
)
def test_a_manner_is_not_faked(message: Any, from_: str, part: str) -> None:
    with pytest.raises(NotAMessageMatter) as caught:
        convert(message, from_, OLDEST if from_ == NEWEST else NEWEST)
    assert caught.value.handled_by == f"mcp_runtime.core.{part}"


def test_a_batch_is_an_array_where_no_revision_has_batches() -> None:
    with pytest.raises(DecodeError):
        convert([request("ping")], "2025-11-25", "2025-06-18")


def test_input_required_is_a_matter_of_the_runtime() -> None:
    asked = response(resultType="input_required", inputRequests={})
    with pytest.raises(NotAMessageMatter) as caught:
        convert(asked, NEWEST, OLDEST, method="tools/call")
    assert caught.value.path == "$.result"
    retry = request("tools/call", {"name": "a", "_meta": META, "requestState": "s"})
    with pytest.raises(NotAMessageMatter) as caught:
        convert(retry, NEWEST, OLDEST)
    assert caught.value.path == "$.params.requestState"


# ---- errors


@pytest.mark.parametrize("from_", REVISIONS[:-1])
def test_a_resource_that_is_not_found_has_another_code(from_: str) -> None:
    old, new = failure(-32002, data={"uri": "a"}), failure(-32602, data={"uri": "a"})
    assert convert(old, from_, NEWEST, method="resources/read") == Converted(new, ())
    assert convert(new, NEWEST, from_, method="resources/read") == Converted(old, ())


def test_codes_that_read_otherwise_there_are_told() -> None:
    for code, rest in ((-32002, {}), (-32602, {"data": {"uri": "a"}})):
        up = convert(failure(code, **rest), OLDEST, NEWEST, method="resources/read")
        assert [loss.path for loss in up.losses] == ["$.error.code"]
    down = convert(failure(-32002), NEWEST, OLDEST, method="resources/read")
    assert [loss.path for loss in down.losses] == ["$.error.code"]
    assert convert(failure(-32002), OLDEST, NEWEST, method="tools/call").losses == ()


def test_codes_of_one_revision_become_those_that_the_other_knows() -> None:
    for code, to in ((-32020, -32600), (-32021, -32600), (-32022, -32602)):
        down = convert(failure(code), NEWEST, OLDEST, method="tools/list")
        assert (down.message["error"]["code"], len(down.losses)) == (to, 1)


def test_an_error_that_asks_to_visit_pages_names_them() -> None:
    page = {"mode": "url", "message": "?", "elicitationId": "1", "url": "https://a.example"}
    message = failure(-32042, data={"elicitations": [page]})
    down = convert(message, "2025-11-25", OLDEST, method="tools/call")
    assert down.message["error"]["message"] == "no https://a.example"
    assert down.message["error"]["code"] == -32603
    with pytest.raises(NotAMessageMatter):
        convert(message, "2025-11-25", NEWEST, method="tools/call")


def test_an_error_without_an_id_is_refused_where_ids_are_required() -> None:
    message = {"jsonrpc": "2.0", "error": {"code": 1, "message": ""}}
    with pytest.raises(Refused):
        convert(message, "2025-11-25", "2025-06-18", method="ping")


def test_an_error_without_an_id_answers_no_request_and_needs_no_method() -> None:
    message = {"jsonrpc": "2.0", "error": {"code": -32700, "message": ""}}
    for to in ("2025-11-25", NEWEST):
        assert convert(message, NEWEST, to) == (message, ())
    with pytest.raises(Refused) as caught:
        convert(message, "2025-11-25", "2025-06-18")
    assert caught.value.path == "$.id"
    for answer in (response(), failure(-32603)):
        with pytest.raises(TypeError, match="needs the method"):
            convert(answer, "2025-11-25", "2025-06-18")


def test_the_place_of_a_loss_is_readable() -> None:
    schema: dict[str, Any] = {"type": "object"}
    form = {"message": "?", "requestedSchema": schema}
    for name, place in (("ключ", '["ключ"]'), ("a b", '["a b"]'), ("a", ".a")):
        schema["properties"] = {name: {"type": "string", "default": "a"}}
        down = convert(request("elicitation/create", form), "2025-11-25", "2025-06-18")
        wanted = f"$.params.requestedSchema.properties{place}.default"
        assert [loss.path for loss in down.losses] == [wanted]
    assert path(((None, "\ud800"), 1)) == '$["\\ud800"][1]'


# ---- old peers meet new data


def test_an_old_peer_reads_sound_and_links_as_text() -> None:
    audio = {"type": "audio", "data": "", "mimeType": "audio/wav"}
    link = {"type": "resource_link", "name": "n", "uri": "file:///a", "title": "A"}
    result, lost = tool_result(OLDEST, audio, link)
    assert [item["text"] for item in result["content"]] == ["[audio: audio/wav]", "A: file:///a"]
    assert lost == ["$.result.content[1]", "$.result.content[0]"]


def test_what_becomes_text_stays_for_whom_it_was() -> None:
    hints = {"audience": ["user"], "priority": 1}
    audio = {"type": "audio", "data": "", "mimeType": "audio/wav", "annotations": hints}
    link = {"type": "resource_link", "name": "n", "uri": "file:///a", "description": "All of it."}
    timed = {**link, "annotations": {**hints, "lastModified": "now"}}
    result, lost = tool_result(OLDEST, audio, timed, link)
    assert result["content"] == [
        {"type": "text", "text": "[audio: audio/wav]", "annotations": hints},
        {"type": "text", "text": "n: file:///a\nAll of it.", "annotations": hints},
        {"type": "text", "text": "n: file:///a\nAll of it."},
    ]
    assert set(lost) == {f"$.result.content[{i}]" for i in range(3)}


def test_an_old_peer_reads_structured_content_as_text_unless_a_text_is_its_json() -> None:
    text = {"type": "text", "text": '{ "a": 1 }'}
    result, lost = tool_result(OLDEST, text, structuredContent={"a": 1})
    assert (result, lost) == ({"content": [text]}, ["$.result.structuredContent"])
    for other in ("See chart.", '{"a": 1.0}', "[" * 10_000):
        text = {"type": "text", "text": other}
        result, lost = tool_result(OLDEST, text, structuredContent={"a": 1})
        assert result == {"content": [text, {"type": "text", "text": '{"a":1}'}]}
        assert lost == ["$.result.structuredContent", "$.result.content[1]"]
    result, lost = tool_result(OLDEST, structuredContent={"a": "é"})
    assert result == {"content": [{"type": "text", "text": '{"a":"é"}'}]}
    assert lost == ["$.result.structuredContent", "$.result.content[0]"]


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "a/b"])
def test_a_result_of_an_unknown_type_is_no_success(method: str) -> None:
    caching = {"ttlMs": 0, "cacheScope": "private"}
    message = response(content=[], tools=[], **caching, resultType="task")
    with pytest.raises(Refused) as caught:
        convert(message, NEWEST, "2025-11-25", method=method)
    assert (caught.value.path, caught.value.code) == ("$.result.resultType", -32603)


def test_an_extension_in_the_context_adds_a_type_of_results() -> None:
    message = response(content=[], resultType="task")
    context = Context(result_types=frozenset(("task",)))
    down = convert(message, NEWEST, "2025-11-25", method="tools/call", context=context)
    assert down.message == response(content=[])
    assert [loss.path for loss in down.losses] == ["$.result.resultType"]
    other = response(content=[], resultType="other")
    with pytest.raises(Refused):
        convert(other, NEWEST, "2025-11-25", method="tools/call", context=context)


@pytest.mark.parametrize(
    ("offered", "kept", "lost"),
    [
        ({"url": {}}, None, ["$.params.capabilities.elicitation"]),
        ({}, {}, []),
        ({"form": {}}, {}, ["$.params.capabilities.elicitation.form"]),
        (
            {"form": {}, "url": {}},
            {},
            [
                "$.params.capabilities.elicitation.form",
                "$.params.capabilities.elicitation.url",
            ],
        ),
    ],
)
def test_a_client_without_forms_does_not_offer_them(
    offered: Any, kept: Any, lost: list[str]
) -> None:
    down = convert(initialize("2025-11-25", elicitation=offered), "2025-11-25", "2025-06-18")
    capabilities = {} if kept is None else {"elicitation": kept}
    assert down.message == initialize("2025-06-18", **capabilities)
    assert [loss.path for loss in down.losses] == lost


def initialize(version: str, **capabilities: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": INFO}
    return request("initialize", params)


def test_a_handshake_names_the_version_that_it_is_written_in() -> None:
    asked = convert(initialize("2025-11-25"), "2025-11-25", OLDEST)
    assert asked == (initialize(OLDEST), ())
    answer = response(protocolVersion=OLDEST, capabilities={}, serverInfo=INFO)
    up = convert(answer, OLDEST, "2025-11-25", method="initialize")
    assert up.message["result"]["protocolVersion"] == "2025-11-25"
    assert up.losses == ()
    other = convert(initialize("2099-01-01"), "2025-11-25", OLDEST)
    assert other.message == initialize(OLDEST)
    assert [loss.path for loss in other.losses] == ["$.params.protocolVersion"]


def test_the_dialect_of_a_schema_is_kept() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}
    message = response(tools=[{"name": "t", "inputSchema": schema, "outputSchema": schema}])
    down = convert(message, "2025-11-25", "2025-06-18", method="tools/list")
    assert down == (message, ())
    assert convert(message, "2025-06-18", "2025-11-25", method="tools/list") == (message, ())


def test_tasks_are_a_loss_where_they_are_not_part_of_the_protocol() -> None:
    asked = request("tools/call", {"name": "t", "task": {"ttl": 1}})
    up = convert(asked, "2025-11-25", NEWEST, context=TOLD)
    assert "task" not in up.message["params"]
    assert [loss.path for loss in up.losses] == ["$.params.task"]
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    listed = response(tools=[{**tool, "execution": {"taskSupport": "required"}}])
    up = convert(listed, "2025-11-25", NEWEST, method="tools/list", context=TOLD)
    assert up.message["result"]["tools"] == [tool]
    assert [loss.path for loss in up.losses] == ["$.result.tools[0].execution"]


def test_several_blocks_of_sampling_are_one_text_that_names_pictures() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"}]
    params = {"messages": [{"role": "user", "content": blocks}], "maxTokens": 1}
    down = convert(request("sampling/createMessage", params), "2025-11-25", "2025-06-18")
    (message,) = down.message["params"]["messages"]
    assert message["content"] == {"type": "text", "text": "a\n[image: image/png]"}
    assert [(loss.path, loss.what) for loss in down.losses] == [
        ("$.params.messages[0].content", "array becomes one block")
    ]


def test_an_old_peer_gets_a_task_as_text() -> None:
    task = {"taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": None}
    down = convert(response(task=task), "2025-11-25", OLDEST, method="tools/call")
    assert "t" in down.message["result"]["content"][0]["text"]
    assert [loss.path for loss in down.losses] == ["$.result"]
    with pytest.raises(Refused):
        convert(response(task=task), "2025-11-25", OLDEST, method="sampling/createMessage")


def test_an_old_peer_gets_no_titles_icons_or_metadata() -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    new = {"title": "A", "icons": [{"src": "i"}], "_meta": {}, "outputSchema": {"type": "object"}}
    down = convert(
        response(resultType="complete", ttlMs=9, cacheScope="public", tools=[{**tool, **new}]),
        NEWEST,
        OLDEST,
        method="tools/list",
    )
    assert down.message == response(tools=[tool])
    assert {loss.path for loss in down.losses} == {
        "$.result.ttlMs",
        "$.result.cacheScope",
        *(f"$.result.tools[0].{member}" for member in new),
    }
    assert all(loss.why for loss in down.losses)


def test_an_old_client_is_not_sent_to_a_page() -> None:
    params = {"mode": "url", "message": "?", "elicitationId": "1", "url": "u"}
    with pytest.raises(Refused) as caught:
        convert(request("elicitation/create", params), "2025-11-25", "2025-06-18")
    assert caught.value.code == -32602
    with pytest.raises(Refused) as caught:
        convert(request("elicitation/create", params), "2025-11-25", OLDEST)
    assert caught.value.code == -32601


def test_all_that_a_tool_gave_a_model_is_in_the_text() -> None:
    content = [
        {"type": "text", "text": "y"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "resource_link", "name": "n", "uri": "file:///a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "z"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": ""}},
    ]
    done = {"type": "tool_result", "toolUseId": "1", "content": content}
    params = {"messages": [{"role": "user", "content": done}], "maxTokens": 1}
    down = convert(request("sampling/createMessage", params), "2025-11-25", OLDEST)
    lines = ["y", "[image: image/png]", "n: file:///a", "z", "[resource: file:///c]"]
    (message,) = down.message["params"]["messages"]
    assert message["content"] == {"type": "text", "text": "\n".join(lines)}


def test_an_old_model_reads_what_tools_did() -> None:
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}}
    done = {"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "y"}]}
    pages = {"type": "tool_result", "toolUseId": "2", "content": [], "structuredContent": {"a": 1}}
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    messages = [
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [done, image, pages]},
        {"role": "user", "content": [image]},
        {"role": "user", "content": done},
        {"role": "user", "content": []},
    ]
    params = {"messages": messages, "maxTokens": 1}
    down = convert(request("sampling/createMessage", params), "2025-11-25", OLDEST)
    read = [message["content"] for message in down.message["params"]["messages"]]
    assert read == [
        {"type": "text", "text": '[tool: f] {"x":1}'},
        {"type": "text", "text": 'y\n[image: image/png]\n{"a":1}'},
        image,
        {"type": "text", "text": "y"},
        {"type": "text", "text": ""},
    ]
    assert len(down.losses) == 5


def test_an_old_form_lists_its_labels_apart() -> None:
    field = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}], "default": "r"}
    schema = {"type": "object", "properties": {"c": field}}
    params = {"message": "?", "requestedSchema": schema}
    down = convert(request("elicitation/create", params), "2025-11-25", "2025-06-18")
    assert down.message["params"]["requestedSchema"]["properties"] == {
        "c": {"type": "string", "enum": ["r"], "enumNames": ["Red"]}
    }


def test_an_old_form_has_no_labels_that_are_none() -> None:
    field = {"type": "string", "enum": ["r"], "enumNames": 5, "default": "r"}
    schema = {"type": "object", "properties": {"c": field}}
    params = {"message": "?", "requestedSchema": schema}
    down = convert(request("elicitation/create", params), "2025-11-25", "2025-06-18")
    choice = down.message["params"]["requestedSchema"]["properties"]["c"]
    assert choice == {"type": "string", "enum": ["r"]}
    assert len(down.losses) == 2


def test_schemas_that_are_no_objects_become_objects() -> None:
    schema = {"type": "object", "properties": {"a": True, "b": False, "c": {"type": "string"}}}
    tool = {"name": "a", "inputSchema": schema, "outputSchema": {"type": "array"}}
    message = response(resultType="complete", ttlMs=0, cacheScope="private", tools=[tool])
    down = convert(message, NEWEST, "2025-11-25", method="tools/list")
    (converted,) = down.message["result"]["tools"]
    read = converted["inputSchema"]["properties"]
    assert read == {"a": {}, "b": {"not": {}}, "c": {"type": "string"}}
    assert "outputSchema" not in converted
    odd = {**tool, "inputSchema": {"type": "object", "properties": 3}}
    message["result"]["tools"] = [odd]
    down = convert(message, NEWEST, "2025-11-25", method="tools/list")
    assert down.message["result"]["tools"] == [{"name": "a", "inputSchema": {"type": "object"}}]


def test_more_completions_than_allowed_are_refused() -> None:
    message = response(completion={"values": ["a"] * 101})
    with pytest.raises(Refused) as caught:
        convert(message, "2025-11-25", NEWEST, method="completion/complete")
    assert caught.value.path == "$.result.completion.values"


# ---- steps by themselves


def test_a_route_is_composed_once_and_trusts_its_input() -> None:
    run = route(OLDEST, NEWEST, "tools/call", "result")
    trip = Trip(Context())
    assert run({"content": []}, trip) == {"content": [], "resultType": "complete"}
    same = route(OLDEST, "2025-03-26", "tools/call", "result")
    value: dict[str, Any] = {"content": []}
    assert same(value, trip) is value
    assert trip.losses == ()


def test_there_is_a_step_for_each_pair_of_neighbours() -> None:
    assert list(STEPS) == list(pairwise(REVISIONS))


def test_the_runtime_does_not_load_what_converts_whole_messages() -> None:
    code = "import sys, mcp_runtime.client.client, mcp_runtime.server.server; "
    code += "sys.exit('mcp_wire.convert' in sys.modules or 'mcp_wire.steps' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
