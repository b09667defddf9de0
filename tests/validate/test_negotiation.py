"""Which revision a message of a recorded conversation is written in."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_bindgen.validate.negotiation import Negotiation

KNOWN = ("2024-11-05", "2025-11-25", "2026-07-28")
MARK = "io.modelcontextprotocol/protocolVersion"


def negotiated(*conversation: tuple[str, Any]) -> list[str | None]:
    """The revisions of messages, each with `>` for the client's and `<` for the server's."""
    negotiation = Negotiation(KNOWN, KNOWN[:2])
    sides = {">": ("client", "server"), "<": ("server", "client")}
    return [negotiation.revision_of(*sides[side], message) for side, message in conversation]


def asks(method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def marked(method: str, revision: str, id: Any = 1) -> dict[str, Any]:
    return asks(method, id, _meta={MARK: revision})


def answers(id: Any = 1, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


OLD, MIDDLE, NEW = KNOWN
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
REFUSES = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
OFFER = asks("initialize", 2, protocolVersion=MIDDLE)


def test_a_handshake_agrees_for_all_that_follows() -> None:
    agreed = answers(2, protocolVersion=OLD)
    spoken = negotiated(
        (">", OFFER), ("<", agreed), (">", NOTE), (">", asks("ping")), ("<", answers())
    )
    assert spoken == [MIDDLE, OLD, OLD, OLD, OLD]


def test_a_probe_and_its_answer_are_of_the_revision_that_it_names() -> None:
    probe = marked("server/discover", NEW)
    early = [(">", probe), ("<", REFUSES), (">", OFFER)]
    late = [(">", probe), (">", OFFER), ("<", REFUSES)]
    agreed = ("<", answers(2, protocolVersion=MIDDLE))
    assert negotiated(*early, agreed, (">", NOTE)) == [NEW, NEW, MIDDLE, MIDDLE, MIDDLE]
    assert negotiated(*late, agreed, (">", NOTE)) == [NEW, MIDDLE, NEW, MIDDLE, MIDDLE]


def test_a_request_is_of_the_revision_that_it_names_and_its_answer_too() -> None:
    one, two = marked("tools/list", NEW), marked("tools/list", OLD, "1")
    assert negotiated((">", one), (">", two), ("<", answers(1)), ("<", answers("1"))) == [
        *(NEW, OLD),
        *(NEW, OLD),
    ]


def test_both_sides_may_use_one_id() -> None:
    agreed = answers(2, protocolVersion=OLD)
    mine, theirs = marked("tools/list", NEW), asks("roots/list")
    spoken = negotiated((">", OFFER), ("<", agreed), ("<", theirs), (">", mine), (">", answers()))
    assert spoken[-1] == OLD


@pytest.mark.parametrize("odd", [None, 1, "1999-01-01", ["x"], {}])
def test_what_is_no_revision_is_passed_over(odd: Any) -> None:
    offer = asks("initialize", 2, protocolVersion=odd)
    assert negotiated((">", offer), ("<", answers(2, protocolVersion=odd))) == [MIDDLE, MIDDLE]
    assert negotiated((">", marked("ping", odd))) == [None]


@pytest.mark.parametrize("message", [None, 1, "x", [], [{}], {"params": 1}, {"method": 1}])
def test_any_json_has_its_place(message: Any) -> None:
    assert negotiated(("<", message)) == [None]
