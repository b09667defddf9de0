"""Errors with which several modules refuse requests."""

from __future__ import annotations

from typing import Any

from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import NotOffered, RpcError


def invalid_params(why: object) -> RpcError:
    return RpcError(error_codes.INVALID_PARAMS, f"Invalid params: {why}")


def method_not_found(method: str, needed: str = "") -> RpcError:
    """Return the error for an unserved method; `needed` is the missing capability, if any."""
    why = f" needs `{needed}`, which is not offered" if needed else ""
    return RpcError(error_codes.METHOD_NOT_FOUND, f"Method not found: {method[:200]}{why}")


def resource_not_found(
    uri: str, code: int = error_codes.RESOURCE_NOT_FOUND, why: str | None = None
) -> RpcError:
    """Return the error for an unknown resource; `why` is the reason if the URI was refused."""
    text = "Resource not found" if why is None else f"Resource not found: {why}"
    return RpcError(code, text, {"uri": uri[:2000]})


def missing_capability(error: NotOffered) -> RpcError:
    """Return the error for a request without a capability its client would have to declare."""
    capabilities: dict[str, Any] = {}
    for name in reversed(error.capability.split(".")):
        capabilities = {name: capabilities}
    return _missing(f"`{error.capability}`", capabilities)


def missing_extension(identifier: str) -> RpcError:
    """Return the error for a request without an extension its client would have to declare."""
    return _missing(f"the extension {identifier}", {"extensions": {identifier: {}}})


def _missing(what: str, capabilities: dict[str, Any]) -> RpcError:
    """Return the error for a capability missing in the client's declaration.

    Source: 2026-07-28 basic/index, "Error Codes".
    """
    why, data = f"the client does not declare {what}", {"requiredCapabilities": capabilities}
    return RpcError(error_codes.MISSING_CLIENT_CAPABILITY, why, data)
