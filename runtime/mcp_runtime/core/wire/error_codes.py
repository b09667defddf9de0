"""The error codes of JSON-RPC and of the protocol.

Source: 2026-07-28 basic/index, "Error Codes"; for retired codes the revisions named with them.
"""

from __future__ import annotations

from typing import Final

PARSE_ERROR: Final = -32700
"""The text is not JSON."""
INVALID_REQUEST: Final = -32600
"""The JSON is not a message."""
METHOD_NOT_FOUND: Final = -32601
"""The method is unknown, or needs a capability that was not offered."""
INVALID_PARAMS: Final = -32602
"""Parameters are missing, of a wrong type or out of range."""
INTERNAL_ERROR: Final = -32603
"""The receiver failed."""
BUSY: Final = -32000
"""Too many requests are running; a code of ours, from a range free for it. See `sendable`."""
RESOURCE_NOT_FOUND: Final = -32002
"""The resource is unknown; up to 2025-11-25, INVALID_PARAMS after that."""
HEADER_MISMATCH: Final = -32020
"""A header differs from the body; from 2026-07-28 on."""
MISSING_CLIENT_CAPABILITY: Final = -32021
"""The request needs a capability not declared by its client; from 2026-07-28 on."""
UNSUPPORTED_VERSION: Final = -32022
"""The receiver does not speak the version; from 2026-07-28 on."""
URL_ELICITATION_REQUIRED: Final = -32042
"""The user must visit URLs first; 2025-11-25 only."""

MODERN: Final = frozenset({HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION})
"""Errors sent by peers of the per-request era only."""
_KEPT: Final = range(-32768, -31999)
_DEFINED: Final = MODERN | {
    PARSE_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    INVALID_PARAMS,
    INTERNAL_ERROR,
}


def sendable(code: int, era: str) -> int:
    """Return `code`, or INTERNAL_ERROR if the per-request era reserves it for later.

    Source: 2026-07-28 basic/index, "Error Codes".
    """
    is_free = era == "handshake" or code not in _KEPT or code in _DEFINED
    return code if is_free else INTERNAL_ERROR
