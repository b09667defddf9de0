"""The values of the headers Host and Origin that a server accepts: those in its options and in the
environment variables.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from mcp_runtime.core.http import http_rules
from mcp_runtime.option_checks import texts
from mcp_runtime.server.http.asgi.request import HttpError, HttpRequest

_ENV_HOSTS: Final = "MCP_ALLOWED_HOSTS"
_ENV_ORIGINS: Final = "MCP_ALLOWED_ORIGINS"


def allowed_hosts(hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> http_rules.Hosts:
    """Return `hosts` and `origins` with those of the environment; without any host, the loopback
    names.

    Raises ValueError for a name a header cannot contain, or if one text is given instead of a list.
    """
    names = [*texts("hosts", hosts), *_read_list(_ENV_HOSTS)]
    sites = [*texts("origins", origins), *_read_list(_ENV_ORIGINS)]
    return http_rules.Hosts(names or http_rules.LOOPBACK, sites)


def _read_list(variable: str) -> list[str]:
    return [part.strip() for part in os.environ.get(variable, "").split(",") if part.strip()]


def require_allowed(allowed: http_rules.Hosts, request: HttpRequest, *, forwarded: bool) -> None:
    """Raise HttpError unless the request's `Host` and `Origin` are allowed.

    `forwarded` reads the host from `X-Forwarded-Host`.
    Source: 2025-11-25 basic/transports, "Security Warning".
    """
    host = request.headers.get("host")
    if forwarded:
        host = request.headers.get("x-forwarded-host", host)
    if not allowed.admits_host(host):
        ways = f"`hosts` of asgi(), {_ENV_HOSTS}, or --allow-host"
        raise HttpError(403, f"Host {(host or '')[:200]!r} is not allowed; to allow it: {ways}")
    origin = request.headers.get("origin")
    if not allowed.admits_origin(origin):
        ways = f"`origins` of asgi(), {_ENV_ORIGINS}, or --allow-origin"
        raise HttpError(403, f"Origin {(origin or '')[:200]!r} is not allowed; to allow it: {ways}")
