"""A task goes from state to state as the protocol says, and an end is final."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mcp_runtime.extensions.tasks.record import (
    Call,
    Record,
    Status,
    add_answers,
    add_question,
    add_report,
    end,
    run_again,
    withdraw_question,
)

NEW = Record("id", "process", 100.0, 100.0, 60.0)
QUESTION = {"method": "roots/list"}
OVER: tuple[Status, ...] = ("completed", "failed", "cancelled")


def test_a_task_begins_as_working_and_is_kept_for_its_time() -> None:
    assert (NEW.status, NEW.is_over) == ("working", False)
    assert (
        NEW.seconds_to_keep(100.0),
        NEW.seconds_to_keep(130.0),
        NEW.seconds_to_keep(160.0),
    ) == (60.0, 30.0, 0.0)


def test_questions_make_it_wait_until_all_are_answered() -> None:
    waiting = add_question(add_question(NEW, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    assert (waiting.status, waiting.updated) == ("input_required", 102.0)
    assert waiting.requests == {"a": QUESTION, "b": QUESTION}
    one = add_answers(waiting, 103.0, {"a": {"roots": []}})
    assert (one.status, one.requests) == ("input_required", {"b": QUESTION})
    both = add_answers(one, 104.0, {"b": {"roots": []}})
    assert (both.status, both.requests) == ("working", {})
    assert both.answers == {"a": {"roots": []}, "b": {"roots": []}}


def test_answers_to_unknown_keys_are_ignored_and_the_first_answer_counts() -> None:
    waiting = add_question(NEW, 101.0, "a", QUESTION)
    assert add_answers(waiting, 102.0, {"other": {"roots": []}}) is waiting
    done = add_answers(waiting, 102.0, {"a": {"roots": []}, "other": {}})
    assert done.answers == {"a": {"roots": []}}
    assert add_answers(done, 103.0, {"a": {"roots": [1]}}) is done
    assert add_question(done, 104.0, "a", QUESTION) is done, "what is answered is not asked again"


def test_what_was_answered_is_kept_for_another_process_and_what_was_withdrawn_is_not() -> None:
    begun = replace(NEW, call=Call({"name": "work"}))
    waiting = add_question(add_question(begun, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    before = withdraw_question(add_answers(waiting, 103.0, {"a": {"roots": []}}), 104.0, "b")
    after = run_again(before, 105.0, "other")
    assert after.run == ("other", 1)
    assert (after.answers, after.updated) == ({"a": {"roots": []}}, 104.0)
    assert run_again(NEW, 105.0, "other") is NEW
    assert run_again(over := end(begun, 102.0, "failed"), 105.0, "other") is over
    assert over.call is None


@pytest.mark.requirement(
    "tasks.status.from-working",
    "tasks.status.from-input-required",
    "tasks.status.terminal",
)
@pytest.mark.parametrize("status", OVER)
@pytest.mark.parametrize("is_waiting", [False, True])
def test_a_task_ends_from_both_states_and_never_changes_again(
    status: Status, is_waiting: bool
) -> None:
    before = add_question(NEW, 101.0, "a", QUESTION) if is_waiting else NEW
    over = end(before, 102.0, status, result={"content": []})
    assert (over.status, over.is_over, over.requests) == (status, True, {})
    assert end(over, 103.0, "completed", result={"late": True}) is over
    assert add_question(over, 103.0, "b", QUESTION) is over
    assert add_answers(over, 103.0, {"a": {}}) is over
    assert add_report(over, 103.0, "late", 1.0) is over


def test_a_question_that_nobody_waits_for_is_withdrawn() -> None:
    waiting = add_question(add_question(NEW, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    one = withdraw_question(waiting, 103.0, "a")
    assert (one.status, one.requests) == ("input_required", {"b": QUESTION})
    assert withdraw_question(one, 104.0, "b").status == "working"


def test_a_message_says_how_far_it_is() -> None:
    assert add_report(NEW, 101.0, "half", 1.0).message == "half"
    assert add_report(NEW, 101.0, "half", 1.0).status == "working"
