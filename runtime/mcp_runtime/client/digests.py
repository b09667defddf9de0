"""The digests of lists in messages: those that a client knows, and the stale ones in answers.

Source: the draft "Definition Digests" of 2026-09-04.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from msgspec import UNSET

from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import latest as t

_KNOWN: Final = "io.modelcontextprotocol/knownDigests"
_STALE: Final = "staleDigests"
_HAS_KNOWN: Final = hasattr(t.RequestMetaObject, "known_digests")
HAS_STALE: Final = hasattr(t.ResultMetaObject, "stale_digests")
"""True if the handlers' revision has results that call lists stale."""


def with_known_digests(meta: Any, digests: Mapping[str, str]) -> Any:
    """Return the `_meta` of a request with the digests by the methods of their lists."""
    if not _HAS_KNOWN:
        return meta
    return t.from_wire(t.RequestMetaObject, {**t.to_wire(meta), _KNOWN: dict(digests)})


def stale_of_result(result: Any) -> Sequence[object]:
    """Return the methods whose lists a result calls stale."""
    stale = getattr(getattr(result, "meta", UNSET), "stale_digests", UNSET)
    return () if stale is UNSET else stale


def stale_of_error(error: RemoteError) -> Sequence[object]:
    """Return the methods whose lists an error calls stale: `staleDigests` of its data."""
    data: Any = error.data if HAS_STALE else None
    stale: Any = cast("dict[str, Any]", data).get(_STALE) if isinstance(data, dict) else ()
    return cast("list[object]", stale) if isinstance(stale, list) else ()
