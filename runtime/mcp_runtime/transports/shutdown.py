"""The steps to end a server process: close its input, terminate it, kill it.

                 late                late                late
    RUNNING ──close──▸ CLOSING ──────▸ TERMINATING ──────▸ KILLING ──────▸ GONE
       └────────died──────┴─────────────────▸┴──────empty──────┴─────────────▸┘

Signals go to the process group. Processes left in the group of a dead server are terminated and
killed too: a server is gone when its group is empty. Times are seconds on the caller's clock.

Source: 2025-11-25 basic/lifecycle, "Shutdown"; 2026-07-28 basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final


class State(Enum):
    """The last step done."""

    RUNNING = auto()
    CLOSING = auto()
    TERMINATING = auto()
    KILLING = auto()
    GONE = auto()


class Event(Enum):
    """A reason for the next step."""

    CLOSE = auto()
    """The owner wants the process to end."""
    HURRY = auto()
    """The owner cannot wait."""
    DIED = auto()
    """The process itself is dead; its group may not be."""
    EMPTY = auto()
    """The group has no processes any more."""
    LATE = auto()
    """`Shutdown.due` has passed."""


class Action(Enum):
    """The next step."""

    NOTHING = auto()
    CLOSE_INPUT = auto()
    TERMINATE = auto()
    KILL = auto()


TABLE: Final[Mapping[tuple[State, Event], tuple[Action, State]]] = {
    (State.RUNNING, Event.CLOSE): (Action.CLOSE_INPUT, State.CLOSING),
    (State.RUNNING, Event.HURRY): (Action.KILL, State.KILLING),
    (State.RUNNING, Event.DIED): (Action.TERMINATE, State.TERMINATING),
    (State.CLOSING, Event.HURRY): (Action.KILL, State.KILLING),
    (State.CLOSING, Event.DIED): (Action.TERMINATE, State.TERMINATING),
    (State.CLOSING, Event.LATE): (Action.TERMINATE, State.TERMINATING),
    (State.TERMINATING, Event.HURRY): (Action.KILL, State.KILLING),
    (State.TERMINATING, Event.DIED): (Action.NOTHING, State.TERMINATING),
    (State.TERMINATING, Event.EMPTY): (Action.NOTHING, State.GONE),
    (State.TERMINATING, Event.LATE): (Action.KILL, State.KILLING),
    (State.KILLING, Event.HURRY): (Action.NOTHING, State.KILLING),
    (State.KILLING, Event.DIED): (Action.NOTHING, State.KILLING),
    (State.KILLING, Event.EMPTY): (Action.NOTHING, State.GONE),
    # Not even SIGKILL ends a process that hangs inside the kernel.
    (State.KILLING, Event.LATE): (Action.NOTHING, State.GONE),
}


class Shutdown:
    """The shutdown of one process and its group.

    `due` is the time of `Event.LATE`, unless another event changes `state` first; None for never.
    """

    def __init__(self, close_wait: float, terminate_wait: float, kill_wait: float) -> None:
        self.state = State.RUNNING
        self.due: float | None = None
        self._waits = {
            State.CLOSING: close_wait,
            State.TERMINATING: terminate_wait,
            State.KILLING: kill_wait,
        }

    def step(self, event: Event, now: float) -> Action:
        """Return the next action. Raises KeyError for an event impossible in this state."""
        action, state = TABLE[self.state, event]
        if state is not self.state:
            self.state = state
            self.due = now + self._waits[state] if state in self._waits else None
        return action
