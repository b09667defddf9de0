"""What is forgiven to servers, in a result of one kind and in one of several."""

from __future__ import annotations

import pytest

from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.revisions import DecodeError, revision

NEWEST = revision("2026-07-28")


def test_a_result_of_several_kinds_is_complete_unless_it_says_otherwise() -> None:
    tolerances = Tolerances("client")
    _, result = tolerances.decode(NEWEST, "result", "tools/call", b'{"content":[]}')
    assert (result.result_type, result.content) == ("complete", [])
    assert tolerances.counts == {"resultType": 1}


@pytest.mark.parametrize(
    "body", [b"[]", b'{"content":1}', b'{"resultType":"complete"}', b'{"resultType":null}']
)
def test_what_no_row_forgives_is_refused(body: bytes) -> None:
    with pytest.raises(DecodeError):
        Tolerances("client").decode(NEWEST, "result", "tools/call", body)
