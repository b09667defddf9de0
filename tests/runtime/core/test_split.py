"""However a stream is cut, a session finds the same in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any, Final

import pytest

from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.session import Session
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from tests.support.frames import frame
from tests.support.seeds import seed
from tests.support.session_pair import (
    answered,
    cancelled,
    client_session,
    cut,
    notification,
    refused,
    request,
    server_session,
    shown,
    with_meta,
)

LINE: Final = 4096
SMALL: Final = Limits(line_bytes=LINE, answer_bytes=LINE)


def stream(role: str, spoken: str, random: Random) -> bytes:
    """Good and bad lines, blank ones, other line ends, lines at and over the limit, and a rest."""
    params = with_meta(spoken, {"name": "é\u2028😀"}, token=1)
    good = [
        request("a", "tools/call", params),
        request("r", "roots/list"),
        cancelled("a"),
        cancelled("r"),
        notification("notifications/progress", {"progressToken": "p", "progress": 1}),
        notification("notifications/roots/list_changed"),
        answered(2, {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}),
        refused(3),
        answered("2", {}),
        b"",
        b" \t\r",
        b"x" * LINE,
        b" " * (LINE + 1),
        b"x" * (LINE + 1),
        b"y" * (3 * LINE),
        request("b", "ping", with_meta(spoken, {})) + b"\r",
        b"[" + request("c", "ping") + b"]",
    ]
    bad = [frame(random, 100 + number, spoken).replace(b"\n", b" ")[:LINE] for number in range(20)]
    lines = good + bad
    random.shuffle(lines)
    return b"\n".join([*lines, b'{"jsonrpc":"2.0"'])


def events_of(role: str, spoken: str, chunks: Iterable[bytes]) -> list[tuple[Any, ...]]:
    session: Session
    if role == "server":
        session = server_session(spoken, SMALL)
    else:
        session = client_session(spoken, SMALL)
        for token in ("p", "q"):
            params = t.PaginatedRequestParams(meta=session.meta(token=token))
            session.call("tools/list", params, now=0.0, token=token)
    events: list[tuple[Any, ...]] = []
    for chunk in chunks:
        for event in session.receive(chunk, 0.0):
            events.append(shown(event))
            if isinstance(event, Called) and event.id == "b":
                events.append(("refused", session.refuse(event.id, 1, "no")))
    return events


def splits(random: Random, length: int) -> list[int]:
    most = random.choice((1, 2, 5, 50, 500))
    return [random.randrange(length + 1) for _ in range(random.randint(1, most))]


@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("spoken", ALL)
def test_any_cut_of_a_stream_gives_the_same_events(role: str, spoken: str) -> None:
    check(role, spoken, Random(seed("splits")), 20)


@pytest.mark.long
@pytest.mark.parametrize("role", ["server", "client"])
@pytest.mark.parametrize("spoken", ALL)
def test_ten_thousand_cuts_of_streams_give_the_same_events(role: str, spoken: str) -> None:
    for _ in range(10):
        check(role, spoken, Random(seed("splits")), 100)


def check(role: str, spoken: str, random: Random, times: int) -> None:
    text = stream(role, spoken, random)
    whole = events_of(role, spoken, [text])
    kinds = {event[0] for event in whole}
    assert {"server": "called", "client": "answered"}[role] in kinds
    one_by_one = (text[at : at + 1] for at in range(len(text)))
    assert events_of(role, spoken, one_by_one) == whole
    for _ in range(times):
        places = splits(random, len(text))
        assert events_of(role, spoken, cut(text, places)) == whole, places


def test_what_is_cut_is_told_apart_by_its_line_end_alone() -> None:
    session = server_session(ALL[0])
    events = [*session.receive(request(1, "ping") + b"\n" + request(2, "ping"), 0.0)]
    assert [json.loads(event.data)["id"] for event in events] == [1]
    events = [*session.receive(b"\n", 0.0)]
    assert [json.loads(event.data)["id"] for event in events] == [2]
