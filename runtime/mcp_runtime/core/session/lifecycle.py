"""The opening of a session for each role, as a table of states and transitions.

Revisions with `initialize` open with a handshake. With `server/discover` a client may ask first,
and each of its requests names its revision itself.

Source: 2025-11-25 basic/lifecycle; 2026-07-28 basic/versioning and basic/transports/stdio,
"Backward Compatibility".
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from mcp_runtime.core.terms.role import CLIENT, SERVER, Role
from mcp_runtime.errors import NotOpen


class State(Enum):
    NEW = "new"
    ASKED = "asked what the server has"
    OFFERED = "offered a revision"
    AGREED = "agreed on a revision"
    OPEN = "open"
    CLOSED = "closed"


LIFECYCLE: Final[Mapping[tuple[Role, State], Mapping[str, State]]] = {
    (CLIENT, State.NEW): {"send server/discover": State.ASKED, "send initialize": State.OFFERED},
    (CLIENT, State.ASKED): {
        "send server/discover": State.ASKED,
        "send initialize": State.OFFERED,
        "receive server/discover result": State.OPEN,
    },
    (CLIENT, State.OFFERED): {
        "send initialize": State.OFFERED,
        "send server/discover": State.ASKED,
        "receive initialize result": State.AGREED,
    },
    (CLIENT, State.AGREED): {"send notifications/initialized": State.OPEN},
    (CLIENT, State.OPEN): {},
    (SERVER, State.NEW): {"send initialize result": State.AGREED},
    (SERVER, State.AGREED): {"receive notifications/initialized": State.OPEN},
    (SERVER, State.OPEN): {},
}
"""A missing key is an invalid transition."""


def after(role: Role, state: State, what: str) -> State:
    """Return the state after `what`. Raises NotOpen for an invalid transition."""
    following = LIFECYCLE.get((role, state), {}).get(what)
    if following is None:
        raise NotOpen(f"a {role} that is {state.value} does not {what}")
    return following
