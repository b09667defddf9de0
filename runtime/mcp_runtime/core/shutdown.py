"""The steps that end a server process: close its input, terminate it, kill it.

                 late                late                late
    RUNNING ──close──▸ CLOSING ──────▸ TERMINATING ──────▸ KILLING ──────▸ GONE
       └────────died──────┴─────────────────▸┴──────empty──────┴─────────────▸┘

Signals go to the process group. What a dead server left running in its group is terminated as well,
and killed as well: only an empty group is gone. Times are seconds on the caller's clock.

Source: 2025-11-25 basic/lifecycle, "Shutdown"; 2026-07-28 basic/transports/stdio, "Shutdown".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final


class State(Enum):
    """What was done last."""

    RUNNING = auto()
    CLOSING = auto()
    TERMINATING = auto()
    KILLING = auto()
    GONE = auto()


class Event(Enum):
    """What happened."""

    CLOSE = auto()
    """Its owner wants it to end."""
    HURRY = auto()
    """Its owner cannot wait."""
    DIED = auto()
    """The process itself is dead."""
    EMPTY = auto()
    """So is all that it left in its group."""
    LATE = auto()
    """`Shutdown.due` has passed."""


class Action(Enum):
    """What to do now."""

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
    """One process and its group, on the way out.

    `due` is when `Event.LATE` happens unless another event changes `state` before; None: never.
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
        """Raises KeyError for an event that cannot happen in this state."""
        action, state = TABLE[self.state, event]
        if state is not self.state:
            self.state = state
            self.due = now + self._waits[state] if state in self._waits else None
        return action
