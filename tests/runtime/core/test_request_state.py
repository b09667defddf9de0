"""What is sealed with one key opens wherever that key is kept."""

from __future__ import annotations

import pytest

from mcp_runtime.core.request_state import KeyRing
from mcp_runtime.errors import RpcError

OLD, NEW = b"o" * 32, b"n" * 32


def test_keys_are_changed_one_process_after_the_other() -> None:
    before, between, after = KeyRing([OLD]), KeyRing([NEW, OLD]), KeyRing([NEW])
    old, new = before.seal(b"state", b"call", 2), between.seal(b"state", b"call", 2)
    for ring, text in ((before, old), (between, old), (between, new), (after, new)):
        assert ring.open(text, b"call", 1) == b"state"
    for ring, text in ((before, new), (after, old)):
        with pytest.raises(RpcError, match="was not made here"):
            ring.open(text, b"call", 1)
