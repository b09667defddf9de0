"""A task goes from state to state as the protocol says, and an end is final."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mcp_runtime.extensions.tasks.record import (
    Call,
    Record,
    Status,
    answered,
    asked,
    ended,
    reported,
    run_again,
    withdrawn,
)

NEW = Record("id", "process", 100.0, 100.0, 60.0)
QUESTION = {"method": "roots/list"}
OVER: tuple[Status, ...] = ("completed", "failed", "cancelled")


def test_a_task_begins_as_working_and_is_kept_for_its_time() -> None:
    assert (NEW.status, NEW.is_over) == ("working", False)
    assert (NEW.left(100.0), NEW.left(130.0), NEW.left(160.0)) == (60.0, 30.0, 0.0)


def test_questions_make_it_wait_until_all_are_answered() -> None:
    waiting = asked(asked(NEW, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    assert (waiting.status, waiting.updated) == ("input_required", 102.0)
    assert waiting.requests == {"a": QUESTION, "b": QUESTION}
    one = answered(waiting, 103.0, {"a": {"roots": []}})
    assert (one.status, one.requests) == ("input_required", {"b": QUESTION})
    both = answered(one, 104.0, {"b": {"roots": []}})
    assert (both.status, both.requests) == ("working", {})
    assert both.answers == {"a": {"roots": []}, "b": {"roots": []}}


def test_answers_to_unknown_keys_are_ignored_and_the_first_answer_counts() -> None:
    waiting = asked(NEW, 101.0, "a", QUESTION)
    assert answered(waiting, 102.0, {"other": {"roots": []}}) is waiting
    done = answered(waiting, 102.0, {"a": {"roots": []}, "other": {}})
    assert done.answers == {"a": {"roots": []}}
    assert answered(done, 103.0, {"a": {"roots": [1]}}) is done
    assert asked(done, 104.0, "a", QUESTION) is done, "what is answered is not asked again"


def test_what_was_answered_is_kept_for_another_process_and_what_was_withdrawn_is_not() -> None:
    begun = replace(NEW, call=Call({"name": "work"}))
    waiting = asked(asked(begun, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    before = withdrawn(answered(waiting, 103.0, {"a": {"roots": []}}), 104.0, "b")
    after = run_again(before, 105.0, "other")
    assert after.run == ("other", 1)
    assert (after.answers, after.updated) == ({"a": {"roots": []}}, 104.0)
    assert run_again(NEW, 105.0, "other") is NEW
    assert run_again(over := ended(begun, 102.0, "failed"), 105.0, "other") is over
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
    before = asked(NEW, 101.0, "a", QUESTION) if is_waiting else NEW
    over = ended(before, 102.0, status, result={"content": []})
    assert (over.status, over.is_over, over.requests) == (status, True, {})
    assert ended(over, 103.0, "completed", result={"late": True}) is over
    assert asked(over, 103.0, "b", QUESTION) is over
    assert answered(over, 103.0, {"a": {}}) is over
    assert reported(over, 103.0, "late", 1.0) is over


def test_a_question_that_nobody_waits_for_is_withdrawn() -> None:
    waiting = asked(asked(NEW, 101.0, "a", QUESTION), 102.0, "b", QUESTION)
    one = withdrawn(waiting, 103.0, "a")
    assert (one.status, one.requests) == ("input_required", {"b": QUESTION})
    assert withdrawn(one, 104.0, "b").status == "working"


def test_a_message_says_how_far_it_is() -> None:
    assert reported(NEW, 101.0, "half", 1.0).message == "half"
    assert reported(NEW, 101.0, "half", 1.0).status == "working"
