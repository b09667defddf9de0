"""A server is ended step by step, in bounded time, whatever happens between."""

from __future__ import annotations

import random

import pytest

from mcp_runtime.limits import DEFAULT
from mcp_runtime.transports.shutdown import TABLE, Action, Event, Shutdown, State

Steps = list[tuple[Event, float]]


def actions(steps: Steps) -> tuple[list[Action], State]:
    shutdown = Shutdown(close_wait=1, terminate_wait=2, kill_wait=3)
    return [shutdown.step(event, now) for event, now in steps], shutdown.state


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            [(Event.CLOSE, 0), (Event.DIED, 0.5), (Event.EMPTY, 0.5)],
            [Action.CLOSE_INPUT, Action.TERMINATE, Action.NOTHING],
        ),
        (
            [(Event.CLOSE, 0), (Event.LATE, 1), (Event.DIED, 2), (Event.EMPTY, 2)],
            [Action.CLOSE_INPUT, Action.TERMINATE, Action.NOTHING, Action.NOTHING],
        ),
        (
            [(Event.CLOSE, 0), (Event.LATE, 1), (Event.LATE, 3), (Event.DIED, 3), (Event.EMPTY, 3)],
            [Action.CLOSE_INPUT, Action.TERMINATE, Action.KILL, Action.NOTHING, Action.NOTHING],
        ),
        (
            [(Event.DIED, 0), (Event.LATE, 2), (Event.EMPTY, 2)],
            [Action.TERMINATE, Action.KILL, Action.NOTHING],
        ),
        (
            [(Event.CLOSE, 0), (Event.HURRY, 0.1), (Event.DIED, 0.1), (Event.EMPTY, 0.1)],
            [Action.CLOSE_INPUT, Action.KILL, Action.NOTHING, Action.NOTHING],
        ),
        (
            [(Event.HURRY, 0), (Event.HURRY, 0), (Event.LATE, 3)],
            [Action.KILL, Action.NOTHING, Action.NOTHING],
        ),
    ],
    ids=["obeys", "ignores EOF", "ignores SIGTERM", "dies at once", "hurried", "cannot be killed"],
)
def test_a_server_is_ended_step_by_step(steps: Steps, expected: list[Action]) -> None:
    assert actions(steps) == (expected, State.GONE)


def test_each_step_has_its_time() -> None:
    shutdown = Shutdown(close_wait=1, terminate_wait=2, kill_wait=4)
    dues = [shutdown.due]
    for event, now in [(Event.CLOSE, 10.0), (Event.LATE, 11.0), (Event.LATE, 13.0)]:
        shutdown.step(event, now)
        dues.append(shutdown.due)
    shutdown.step(Event.EMPTY, 14.0)
    assert [*dues, shutdown.due] == [None, 11, 13, 17, None]


def test_what_dies_while_it_terminates_gets_no_more_time_for_its_group() -> None:
    shutdown = Shutdown(close_wait=1, terminate_wait=2, kill_wait=4)
    for event, now in [(Event.CLOSE, 0.0), (Event.LATE, 1.0), (Event.DIED, 2.5)]:
        shutdown.step(event, now)
    assert shutdown.due == 3


def test_what_cannot_happen_is_refused() -> None:
    for event in (Event.LATE, Event.EMPTY):
        with pytest.raises(KeyError):
            Shutdown(1, 1, 1).step(event, 0)
    assert not any(state is State.GONE for state, _ in TABLE)


def test_every_way_out_ends_within_the_sum_of_the_waits() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    draw = random.Random(seed)
    for _ in range(1000):
        shutdown, now = Shutdown(1, 2, 4), 0.0
        shutdown.step(Event.CLOSE, now)
        while shutdown.state is not State.GONE:
            assert shutdown.due is not None
            possible = [event for state, event in TABLE if state is shutdown.state]
            event = draw.choice(possible)
            now = shutdown.due if event is Event.LATE else draw.uniform(now, shutdown.due)
            shutdown.step(event, now)
        assert now <= 7


def test_the_waits_add_up_to_no_more_than_four_seconds() -> None:
    assert DEFAULT.close_wait + DEFAULT.terminate_wait + DEFAULT.kill_wait <= 4
