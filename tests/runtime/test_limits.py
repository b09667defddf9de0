"""Every limit has a test that crosses it: what crosses is refused, and the session lives on."""

from __future__ import annotations

import ast
import json
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.errors import RemoteError, SessionError, TimedOut, TooMuch
from mcp_runtime.revisions import latest as t
from mcp_runtime.shared.uri_template import Template, TemplateError
from tests.support.raw_peer import connected
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    initialize,
    newborn,
    notification,
    of,
    receive,
    request,
    server_session,
    with_meta,
    written,
)
from tests.support.virtual_time import elapse, now

SHAKEN: Final = HANDSHAKE[-1]
TESTS: Final = Path(__file__).resolve().parents[1]
HERE: Final = "runtime/test_limits.py"
_STRANGERS: Final = "runtime/auth/test_work_for_strangers.py"
_BRIDGE: Final = "runtime/bridge/test_several_servers.py"
HELD: Final = {
    "bridge_wait": (_BRIDGE, "test_a_server_that_fails_or_is_late_holds_up_no_other"),
    "bridge_links": (_BRIDGE, "test_no_more_links_are_open_than_the_limit"),
    "bridge_backoff": (
        _BRIDGE,
        "test_a_failing_server_is_tried_again_after_a_wait_that_doubles",
    ),
    "bridge_uris": (_BRIDGE, "test_no_more_uris_are_watched_than_the_limit"),
    "parked": (_BRIDGE, "test_above_parked_the_request_that_waited_longest_is_cancelled"),
    "token_chars": (
        _STRANGERS,
        "test_a_token_over_the_limit_is_refused_without_a_question",
    ),
    "token_checks": (_STRANGERS, "test_a_known_token_does_not_wait_for_made_up_ones"),
    "token_queue": (
        _STRANGERS,
        "test_above_token_queue_the_one_that_waited_longest_is_given_up",
    ),
    "refused_age": (
        _STRANGERS,
        "test_a_refused_token_is_refused_for_a_while_without_a_question",
    ),
    "key_checks": (_STRANGERS, "test_a_token_costs_a_bounded_number_of_signature_checks"),
    "proofs": (_STRANGERS, "test_no_proof_is_accepted_again_however_many_keys_come"),
    "event_bytes": (
        "runtime/server/http/test_resumption.py",
        "test_what_a_dropped_client_never_fetches_is_bounded_by_the_store",
    ),
    "tasks": (
        "runtime/stores/test_contract.py",
        "test_a_memory_of_tasks_gives_back_what_is_over",
    ),
    "task_bytes": (
        "runtime/extensions/tasks/test_tasks.py",
        "test_task_bytes_bound_a_result_and_the_task_says_so",
    ),
    "task_ttl": (
        "runtime/extensions/tasks/test_tasks.py",
        "test_task_ttl_bounds_how_long_a_task_is_kept",
    ),
    "eof_wait": (
        "runtime/server/test_bounded_end.py",
        "test_a_call_that_is_not_over_after_eof_wait_is_not_answered",
    ),
    "drain_wait": (
        "runtime/server/http/test_churn.py",
        "test_what_is_worked_on_at_the_end_is_answered_if_that_is_soon",
    ),
    "discarded_bytes": (
        "runtime/server/http/test_refused_bodies.py",
        "test_no_more_than_the_limit_is_read",
    ),
    "ui_bytes": (
        "runtime/extensions/test_apps.py",
        "test_a_page_at_the_limit_is_registered_and_one_byte_more_is_not",
    ),
    "posts": (
        "runtime/client/http/test_hostile.py",
        "test_a_flood_of_questions_is_answered_by_few_posts_at_a_time",
    ),
    "redirects": (
        "runtime/client/http/test_connection_faults.py",
        "test_redirections_in_a_circle_end",
    ),
    "cookies": (
        "runtime/client/http/test_cookies.py",
        "test_no_more_cookies_are_kept_than_the_limit",
    ),
    "cookie_bytes": (
        "runtime/client/http/test_cookies.py",
        "test_a_cookie_over_the_limit_is_not_kept",
    ),
    "resume_attempts": (
        "runtime/client/http/test_event_stream.py",
        "test_attempts_to_take_up_a_stream_are_bounded",
    ),
    "resume_wait": (
        "runtime/client/http/test_http_connection.py",
        "test_the_end_of_a_session_on_its_own_stream_opens_another",
    ),
    "stream_wait": (
        "runtime/client/http/test_event_stream.py",
        "test_a_stream_that_does_not_open_holds_no_call_back_for_long",
    ),
    "initialize_bytes": (HERE, "test_an_initialize_over_the_limit_is_refused"),
    "line_bytes": (HERE, "test_a_line_at_the_limit_is_read_and_one_byte_more_is_not"),
    "answer_bytes": (
        "runtime/client/test_message_limit.py",
        "test_an_answer_over_the_limit_fails_its_call_at_once",
    ),
    "first_answer": (
        "runtime/client/test_opening.py",
        "test_a_started_command_has_a_minute_for_its_first_answer",
    ),
    "input_requests": (
        "runtime/client/test_callbacks.py",
        "test_a_result_asks_for_no_more_input_than_the_limit",
    ),
    "input_callbacks": (
        "runtime/client/test_callbacks.py",
        "test_no_more_callbacks_run_at_a_time_than_the_limit",
    ),
    "batch": (
        "runtime/core/test_sessions.py",
        "test_a_batch_that_is_empty_or_too_long_is_refused",
    ),
    "id_chars": (HERE, "test_an_id_over_the_limit_is_refused"),
    "in_flight": (
        "runtime/core/test_sessions.py",
        "test_a_server_over_its_limit_says_busy_and_serves_on",
    ),
    "outgoing_bytes": (
        "runtime/transports/test_memory.py",
        "test_drain_waits_while_as_much_as_the_limit_waits",
    ),
    "held_bytes": (
        "runtime/core/test_held_bytes.py",
        "test_requests_without_an_answer_have_a_budget_in_bytes",
    ),
    "process_bytes": (
        "runtime/core/test_held_bytes.py",
        "test_the_process_has_a_budget_too",
    ),
    "threads": (
        "runtime/server/test_plain_functions.py",
        "test_a_client_that_has_gone_gives_its_places_back",
    ),
    "session_threads": (
        "runtime/server/test_plain_functions.py",
        "test_calls_of_one_client_do_not_stall_those_of_another",
    ),
    "principal_threads": (
        "runtime/server/test_plain_functions.py",
        "test_over_http_the_calls_of_one_principal_leave_places_for_those_of_another",
    ),
    "deadline": (HERE, "test_an_answer_that_does_not_come_is_given_up_at_the_deadline"),
    "total": (HERE, "test_progress_does_not_hold_a_call_open_beyond_the_total"),
    "probe": (HERE, "test_a_probe_without_an_answer_is_given_up"),
    "page_size": (HERE, "test_a_page_has_no_more_items_than_the_limit"),
    "cached": (
        "runtime/client/test_cache.py",
        "test_a_client_keeps_no_more_answers_than_the_limit",
    ),
    "cached_bytes": (
        "runtime/client/test_cache.py",
        "test_all_answers_together_have_a_size_and_those_not_used_for_longest_go_first",
    ),
    "pages": (HERE, "test_no_more_pages_are_fetched_than_the_limit"),
    "list_bytes": (HERE, "test_the_pages_of_a_list_have_a_size_together"),
    "tool_rounds": (HERE, "test_a_conversation_has_no_more_rounds_of_tools_than_the_limit"),
    "input_rounds": (HERE, "test_a_server_that_always_asks_again_is_given_up"),
    "request_state_bytes": (HERE, "test_a_state_over_the_limit_is_neither_made_nor_taken"),
    "request_state_age": (HERE, "test_a_state_that_is_too_old_is_refused"),
    "subscriptions": (HERE, "test_a_peer_watches_no_more_than_the_limit"),
    "template_chars": (HERE, "test_a_template_is_no_longer_than_the_limit"),
    "uri_chars": (HERE, "test_a_uri_that_is_asked_for_is_no_longer_than_the_limit"),
    "completions": (HERE, "test_a_completion_has_no_more_values_than_the_limit"),
    "call_rate": (
        "runtime/core/test_rate_limit.py",
        "test_calls_over_the_rate_are_refused_and_the_session_lives_on",
    ),
    "completion_rate": (
        "runtime/core/test_rate_limit.py",
        "test_completions_over_the_rate_are_refused",
    ),
    "log_rate": (HERE, "test_log_messages_over_the_rate_are_dropped"),
    "progress_calls": (
        "runtime/client/test_callbacks.py",
        "test_of_the_calls_of_an_async_on_progress_that_wait_the_newest_are_kept",
    ),
    "progress_wait": (
        "runtime/client/test_callbacks.py",
        "test_an_async_on_progress_that_hangs_does_not_hold_the_result_back",
    ),
    "progress_rate": (HERE, "test_progress_over_the_rate_is_dropped_but_for_the_last"),
    "body_seconds": (
        "runtime/server/http/test_http_sessions.py",
        "test_a_body_that_does_not_come_is_cut",
    ),
    "unread_wait": (
        "runtime/attacks/test_bytes.py",
        "test_a_response_that_nobody_reads_ends",
    ),
    "sessions": (
        "runtime/attacks/test_bytes.py",
        "test_a_full_table_of_sessions_forgets_those_that_were_never_used",
    ),
    "principal_sessions": (
        "runtime/server/http/test_http_sessions.py",
        "test_one_principal_leaves_room_for_the_sessions_of_others",
    ),
    "session_idle": (
        "runtime/server/http/test_http_sessions.py",
        "test_a_session_that_is_asked_is_not_idle",
    ),
    "lease": (
        "runtime/server/http/test_many_processes.py",
        "test_a_call_whose_process_has_died_is_answered_with_an_error_once",
    ),
    "reruns": (
        "runtime/server/http/test_reruns.py",
        "test_what_kills_each_process_is_run_again_as_often_as_the_limit_says",
    ),
    "rerun_bytes": (
        "runtime/server/http/test_reruns.py",
        "test_a_message_over_the_limit_is_run_once",
    ),
    "store_wait": (
        "runtime/stores/test_contract.py",
        "test_a_store_that_does_not_answer_is_given_up",
    ),
    "bus_bytes": (
        "runtime/stores/test_contract.py",
        "test_a_redis_that_is_away_is_an_error_at_once_and_is_used_again_when_it_is_back",
    ),
    "unread_bytes": (
        "runtime/server/http/test_http_sessions.py",
        "test_changes_wait_for_a_stream_up_to_a_limit",
    ),
    "keep_alive": (
        "runtime/server/http/test_requests.py",
        "test_a_subscription_is_a_stream_kept_open_by_comments",
    ),
    "close_wait": ("runtime/transports/test_shutdown.py", ""),
    "terminate_wait": ("runtime/transports/test_shutdown.py", ""),
    "kill_wait": ("runtime/transports/test_shutdown.py", ""),
    "stderr_bytes": ("runtime/transports/test_child_process.py", ""),
    "authorization_bytes": (
        "runtime/auth/test_protected_server.py",
        "test_metadata_without_end_is_cut_off",
    ),
}
"""Where each is held: a file and a test in it that names the limit; without a test, the file is."""


def test_every_limit_is_held_by_a_test() -> None:
    assert {field.name for field in fields(Limits)} == HELD.keys()


@cache
def parsed(file: str) -> ast.Module:
    return ast.parse((TESTS / file).read_text("utf-8"))


@pytest.mark.parametrize("name", HELD)
def test_what_holds_a_limit_is_there_and_names_it(name: str) -> None:
    file, test = HELD[name]
    tree = parsed(file)
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    tests = [node for node in tree.body if isinstance(node, kinds) and node.name == test]
    places: list[ast.AST] = list(tests) if test else [tree]
    assert places, f"{file} has no test called {test}"
    names = {
        word.arg for place in places for word in ast.walk(place) if isinstance(word, ast.keyword)
    }
    assert name in names


@pytest.mark.parametrize("field", fields(Limits), ids=lambda field: field.name)
def test_a_limit_is_a_positive_number(field: Any) -> None:
    assert type(field.default).__name__ == field.type
    assert field.default > 0


# ---- lines


@pytest.mark.parametrize("more", [0, 1])
def test_a_line_at_the_limit_is_read_and_one_byte_more_is_not(more: int) -> None:
    session = server_session(SHAKEN, Limits(line_bytes=1000))
    line = request(1, "ping", {"_meta": {"x": ""}})
    line = line.replace(b'""', b'"%b"' % (b"x" * (1000 + more - len(line))))
    assert len(line) == 1000 + more
    (answer,) = written(receive(session, line))
    assert ("Limits.line_bytes" in answer.get("error", {}).get("message", "")) == bool(more)
    assert [answer["id"] for answer in written(receive(session, request(2, "ping")))] == [2]


@pytest.mark.parametrize("more", [0, 1])
def test_an_id_over_the_limit_is_refused(more: int) -> None:
    session = server_session(SHAKEN, Limits(id_chars=100))
    events = receive(session, request("x" * (100 + more), "tools/list"))
    assert bool(of(Called, events)) is not bool(more)
    assert [answer["error"]["code"] for answer in written(events)] == [-32600] * more
    assert of(Called, receive(session, request(2, "tools/list")))


@pytest.mark.parametrize("more", [0, 1])
def test_an_initialize_over_the_limit_is_refused(more: int) -> None:
    session = server_session(None, Limits(initialize_bytes=1000))
    params = initialize(SHAKEN)
    params["clientInfo"]["title"] = ""
    params["clientInfo"]["title"] = "x" * (1000 + more - len(json.dumps(params)))
    (answer,) = written(receive(session, request(1, "initialize", params)))
    assert ("Limits.initialize_bytes" in answer.get("error", {}).get("message", "")) == bool(more)
    (answer,) = written(receive(session, request(2, "ping")))
    assert answer["result"] == {}


# ---- time


async def silent(limits: Limits, **options: Any) -> None:
    """Asks a tool that tells of progress for ever."""
    server = Server("s", "1")

    @server.tool
    async def works(ctx: Context) -> str:
        for step in range(1000):
            await ctx.progress(step)
            await elapse(0.02)
        return ""

    async with Client(server, limits=limits) as client:
        began = now()
        with pytest.raises(TimedOut):
            await client.call_tool("works", **options)
        assert now() - began == pytest.approx(limits.total if options else limits.deadline)
        await client.list_tools()


async def test_an_answer_that_does_not_come_is_given_up_at_the_deadline() -> None:
    await silent(Limits(deadline=0.5))


async def test_progress_does_not_hold_a_call_open_beyond_the_total() -> None:
    await silent(Limits(deadline=0.6, total=1.2), on_progress=lambda *_: None)


def test_a_probe_without_an_answer_is_given_up() -> None:
    session = newborn(limits=Limits(probe=2.0))
    session.open(0.0)
    assert session.expire(1.9) == []
    session.expire(2.0)
    assert isinstance(session.failure, TimedOut)
    session.open(0.0, timeout=4.0)
    session.expire(1.0)
    assert isinstance(session.failure, TimedOut)


# ---- lists


async def test_a_page_has_no_more_items_than_the_limit() -> None:
    server = Server("s", "1", limits=Limits(page_size=3))
    for number in range(7):
        server.add_tool(lambda: "", name=f"t{number}")

    async with connected(server, SHAKEN) as peer:
        sizes, cursor = [], {}
        while True:
            result = (await peer.asks(len(sizes), "tools/list", cursor))["result"]
            sizes.append(len(result["tools"]))
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}
        assert sizes == [3, 3, 1]


async def test_clients_that_read_the_first_page_alone_see_hundreds_of_tools() -> None:
    server = Server("s", "1")
    for number in range(500):
        server.add_tool(lambda: "", name=f"t{number}")

    async with connected(server, SHAKEN) as peer:
        result = (await peer.asks(1, "tools/list", {}))["result"]
        assert len(result["tools"]) == 500
        assert "nextCursor" not in result


async def test_no_more_pages_are_fetched_than_the_limit() -> None:
    server = Server("s", "1", limits=Limits(page_size=1))
    for number in range(4):
        server.add_tool(lambda: "", name=f"t{number}")

    async with Client(server, limits=Limits(pages=4)) as client:
        assert len(await client.list_tools()) == 4
    async with Client(server, limits=Limits(pages=3)) as client:
        with pytest.raises(TooMuch, match=r"Limits\.pages"):
            await client.list_tools()
        assert (await client.call_tool("t1")).is_error is not True


async def test_the_pages_of_a_list_have_a_size_together() -> None:
    server = Server("s", "1", limits=Limits(page_size=1))
    for number in range(4):
        server.add_tool(lambda: "", name=f"t{number}", description="x" * 1000)

    async with Client(server, limits=Limits(list_bytes=4500)) as client:
        assert len(await client.list_tools()) == 4
    async with Client(server, limits=Limits(list_bytes=3000)) as client:
        with pytest.raises(TooMuch, match=r"Limits\.list_bytes"):
            await client.list_tools()
        assert (await client.call_tool("t1")).is_error is not True


async def test_a_completion_has_no_more_values_than_the_limit() -> None:
    server = Server("s", "1", limits=Limits(completions=5))

    @server.prompt
    def greet(name: str) -> str:
        return name

    @server.completion("greet", "name")
    def names(value: str) -> list[str]:
        return [str(number) for number in range(12)]

    async with Client(server) as client:
        completion = await client.complete(t.PromptReference(name="greet"), "name", "")
        assert (len(completion.values), completion.total, completion.has_more) == (5, 12, True)


# ---- questions


async def elicit(params: t.ElicitRequestParams) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={})


def asking(limits: Limits, rounds: int) -> Server:
    server = Server("s", "1", limits=limits)

    @server.tool
    async def ask(ctx: Context, text: str = "") -> str:
        for number in range(rounds):
            await ctx.elicit(f"{number}{text}", {"type": "object", "properties": {}})
        return "done"

    return server


async def test_a_server_that_always_asks_again_is_given_up() -> None:
    server = asking(Limits(), 5)
    async with Client(server, on_elicit=elicit, limits=Limits(input_rounds=5)) as client:
        with pytest.raises(TooMuch, match=r"Limits\.input_rounds"):
            await client.call_tool("ask")
        assert len(await client.list_tools()) == 1
    async with Client(server, on_elicit=elicit, limits=Limits(input_rounds=6)) as client:
        assert (await client.call_tool("ask")).is_error is not True


async def test_a_state_over_the_limit_is_neither_made_nor_taken() -> None:
    server = asking(Limits(request_state_bytes=150), 5)
    async with Client(server, on_elicit=elicit, revisions=[NEWEST]) as client:
        with pytest.raises(SessionError):
            await client.call_tool("ask")
        params = t.CallToolRequestParams(name="ask", request_state="x" * 151, meta=client.meta())
        with pytest.raises(RemoteError, match="over 150 bytes"):
            await client.request("tools/call", params)


async def test_a_state_that_is_too_old_is_refused() -> None:
    server = asking(Limits(request_state_age=0.0001), 2)
    async with Client(server, on_elicit=elicit, revisions=[NEWEST]) as client:
        with pytest.raises(RemoteError, match="expired"):
            await client.call_tool("ask")
        assert len(await client.list_tools()) == 1


async def test_a_conversation_has_no_more_rounds_of_tools_than_the_limit() -> None:
    server = Server("s", "1", limits=Limits(tool_rounds=2))

    @server.tool
    async def talk(ctx: Context, rounds: int) -> str:
        said = [t.SamplingMessage(role="user", content=t.TextContent(text="go"))]
        for number in range(rounds):
            use = t.ToolUseContent(id=str(number), name="look", input={})
            result = t.ToolResultContent(tool_use_id=str(number), content=[])
            said.append(t.SamplingMessage(role="assistant", content=use))
            said.append(t.SamplingMessage(role="user", content=result))
        look = t.Tool(name="look", input_schema=t.from_wire(t.ToolInputSchema, {"type": "object"}))
        return (await ctx.sample(said, max_tokens=1, tools=[look])).model

    async def sample(params: t.CreateMessageRequestParams) -> t.CreateMessageResult:
        content = t.TextContent(text="")
        return t.CreateMessageResult(role="assistant", content=content, model="m")

    options: Any = {"on_sample": sample, "sample_tools": True, "revisions": [SHAKEN]}
    async with Client(server, **options) as client:
        assert (await client.call_tool("talk", {"rounds": 2})).is_error is not True
        refused = await client.call_tool("talk", {"rounds": 3})
        assert refused.is_error is True
        assert "Limits.tool_rounds" in str(refused.content)


# ---- URIs


def test_a_peer_watches_no_more_than_the_limit() -> None:
    limits = Limits(subscriptions=2)
    session = server_session(SHAKEN, limits)
    for number in (1, 2, 1):
        assert codes_of_watching(session, f"a://{number}") == []
    assert codes_of_watching(session, "a://3") == [-32000]
    receive(session, request(9, "resources/unsubscribe", {"uri": "a://1"}))
    assert codes_of_watching(session, "a://3") == []
    newer = server_session(NEWEST, limits)
    filter_ = {"notifications": {"resourceSubscriptions": ["a://1", "a://2"]}}
    events = receive(newer, request(1, "subscriptions/listen", with_meta(NEWEST, filter_)))
    assert len(codes_in(events)) == 1
    assert receive(newer, notification("notifications/cancelled", {"requestId": 1}))
    small = {"notifications": {"resourceSubscriptions": ["a://1"]}}
    events = receive(newer, request(2, "subscriptions/listen", with_meta(NEWEST, small)))
    assert codes_in(events) == []


def codes_of_watching(session: ServerSession, uri: str) -> list[Any]:
    return codes_in(receive(session, request(7, "resources/subscribe", {"uri": uri})))


def codes_in(events: Any) -> list[Any]:
    return [message["error"]["code"] for message in written(events) if "error" in message]


def test_a_template_is_no_longer_than_the_limit() -> None:
    limits = Limits(template_chars=10)
    assert Template("a://{bcde}", limits).names
    with pytest.raises(TemplateError):
        Template("a://{bcdef}", limits)


async def test_a_uri_that_is_asked_for_is_no_longer_than_the_limit() -> None:
    server = Server("s", "1", limits=Limits(uri_chars=20))

    @server.resource("a://{+x}")
    async def read(x: str) -> str:
        return x

    async with Client(server) as client:
        assert len(await client.read_resource("a://" + "x" * 16)) == 1
        with pytest.raises(RemoteError):
            await client.read_resource("a://" + "x" * 17)


# ---- rates


async def test_log_messages_over_the_rate_are_dropped() -> None:
    server = Server("s", "1", limits=Limits(log_rate=5.0))
    logs: list[Any] = []

    @server.tool
    async def talk(ctx: Context) -> str:
        for number in range(100):
            await ctx.info(number)
        return "done"

    async with Client(server, on_log=logs.append, log_level="info") as client:
        await client.call_tool("talk")
        assert [log.data for log in logs][:5] == [0, 1, 2, 3, 4]
        assert len(logs) < 10


async def test_progress_over_the_rate_is_dropped_but_for_the_last() -> None:
    server = Server("s", "1", limits=Limits(progress_rate=5.0))
    steps: list[float] = []

    @server.tool
    async def work(ctx: Context) -> str:
        for number in range(1, 101):
            await ctx.progress(number, 100)
        return "done"

    async with Client(server) as client:
        await client.call_tool("work", on_progress=lambda step, *_: steps.append(step))
        assert len(steps) < 12
        assert steps[-1] == 100
