"""What is sealed with one key opens wherever that key is kept."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from mcp_runtime import Limits
from mcp_runtime.core.session.request_state import BoundSealer, InputRequests, KeyRing
from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import latest as t

OLD, NEW = b"o" * 32, b"n" * 32


def test_keys_are_changed_one_process_after_the_other() -> None:
    before, between, after = KeyRing([OLD]), KeyRing([NEW, OLD]), KeyRing([NEW])
    old, new = before.seal(b"state", b"call", 2), between.seal(b"state", b"call", 2)
    for ring, text in ((before, old), (between, old), (between, new), (after, new)):
        assert ring.open(text, b"call", 1) == b"state"
    for ring, text in ((before, new), (after, old)):
        with pytest.raises(RpcError, match="was not made here"):
            ring.open(text, b"call", 1)


def test_a_state_is_of_one_method_one_person_and_one_request() -> None:
    """A prompt and a tool of one name have the same params."""
    yes = t.ElicitResult(action="accept", content={"yes": True})
    mine = BoundSealer(KeyRing([OLD]), "tools/call", yes, "ann", 1, Limits())
    text = mine.seal(b"state")
    assert mine.open(text) == b"state"
    no = t.ElicitResult(action="decline")
    for other in ({"method": "prompts/get"}, {"principal": "eve"}, {"params": no}):
        with pytest.raises(RpcError, match="was not made here for this request"):
            replace(mine, **other).open(text)


def test_an_answer_that_was_used_is_not_replaced_by_a_later_one() -> None:
    """Else what a handler did after the first answer would not fit the second."""
    later = t.ElicitResult(action="accept", content={"sum": 900})
    params = SimpleNamespace(request_state="sealed", input_responses={"a": later, "b": later})
    used = {"a": {"action": "accept", "content": {"sum": 5}}}
    requests = InputRequests.from_params(params, lambda _: json.dumps(used).encode())
    assert requests.answers == used | {"b": t.to_wire(later)}
