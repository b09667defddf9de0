"""Stand-in for `mcp.server.auth.middleware.auth_context`: token of the running request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.auth import AccessToken
from mcp_runtime.compat.auth import access_token as get_access_token
from mcp_runtime.compat.elsewhere import lacking

__all__ = ["AccessToken", "get_access_token"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
