"""Shared by the endpoints of one HTTP application: the server, its limits, the client's
identity.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias
from weakref import WeakValueDictionary

from mcp_runtime.core.session.held import OF_PROCESS, HeldBytes, Process, Share
from mcp_runtime.core.session.session import Session
from mcp_runtime.limits import Limits
from mcp_runtime.server.connection import Dispatcher
from mcp_runtime.server.http.asgi.request import HttpError, HttpRequest, Scope, retry_after
from mcp_runtime.shared.connection import Trace

if TYPE_CHECKING:
    from mcp_runtime.server.http.asgi.protection import Protection

AT_ONCE: Final = 256
"""The part of a peer's entries that makes room in a full table at one time, as a divisor: looking
for them takes a look at each."""

Principal: TypeAlias = Callable[[Scope], str]
"""Names the authenticated client of a request; empty for an anonymous one."""


class OpenSession(Protocol):
    """A session, of whatever transport."""

    principal: str
    session: Session

    def close(self) -> None:
        """End the session, with its responses."""


class HttpService:
    """The objects the endpoints of one application share."""

    def __init__(
        self,
        server: Dispatcher,
        principal: Principal | None,
        trace: Trace | None,
        protection: Protection | None = None,
        process: Process = OF_PROCESS,
    ) -> None:
        self.server: Final = server
        self.limits: Final[Limits] = server.limits
        self.trace: Final = trace
        self.protection: Final = protection
        self.is_anonymous: Final = protection is None and principal is None
        """True if all clients are anonymous."""
        if inspect.iscoroutinefunction(principal):
            raise TypeError("principal is called and not awaited; give a function without `async`")
        self._principal = principal
        self._process = process
        self._held = WeakValueDictionary[str, HeldBytes]()
        self._shares: dict[tuple[str, str], Share] = {}
        """Shares of earlier clients, by principal and network; the oldest is forgotten."""
        self._sessions: list[Mapping[str, OpenSession]] = []

    def count(self, sessions: Mapping[str, OpenSession]) -> None:
        """Count these sessions, too."""
        self._sessions.append(sessions)

    @property
    def sessions(self) -> Iterator[OpenSession]:
        """The open sessions, of each transport."""
        return (one for sessions in self._sessions for one in sessions.values())

    def require_room(self, principal: str) -> None:
        """Raise HttpError if the limit of open sessions is reached, for all or for this
        principal.
        """
        count = sum(map(len, self._sessions))
        if count >= self.limits.sessions:
            why = f"{self.limits.sessions} sessions are open (Limits.sessions)"
            raise HttpError(503, why, headers=retry_after(60))
        if count >= self.limits.principal_sessions and not self.is_anonymous:
            own = sum(one.principal == principal for one in self.sessions)
            if own >= self.limits.principal_sessions:
                raise self.no_share("sessions", 60)

    def no_share(self, what: str, seconds: int) -> HttpError:
        """Return the error 429 for a principal with as many `what` open as allowed."""
        why = f"you have {self.limits.principal_sessions} {what} open (Limits.principal_sessions)"
        return HttpError(429, why, headers=retry_after(seconds))

    def principal(self, request: HttpRequest) -> str:
        """Return the principal of a request; empty for an anonymous one."""
        if self.protection is not None:
            return self.protection.principal()
        return "" if self._principal is None else self._principal(request.scope)

    def share_of(self, request: HttpRequest, principal: str) -> Share:
        """Return the share of the client in the account of bytes: by its principal, or by its
        address.
        """
        client = None if principal else request.scope.get("client")
        key = principal, network_of(client[0]) if client else ""
        share = self._shares.get(key)
        if share is None:
            name = f"principal {principal}" if principal else f"address {key[1]}"
            share = self._shares[key] = self._process.share_of(name)
            if len(self._shares) > self.limits.sessions:
                del self._shares[next(iter(self._shares))]
        return share

    def account_of(self, request: HttpRequest) -> HeldBytes:
        """Return the account of the bodies a principal is sending; anonymous clients have one
        account each.
        """
        principal = "" if self.is_anonymous else self.principal(request)
        share = self.share_of(request, principal)
        if not principal:
            return HeldBytes(share)
        return self._held.setdefault(principal, HeldBytes(share))

    def expires(self) -> float:
        """Return the time when the token of this request expires, by the clock of the event
        loop.
        """
        if self.protection is None:
            return math.inf
        return asyncio.get_running_loop().time() + self.protection.seconds_left()


@lru_cache(1024)
def network_of(host: str) -> str:
    """Return the network taken for one client: an IPv4 address, or 64 bits of an IPv6 address."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    return host if address.version == 4 else str(ip_network((int(address) >> 64 << 64, 64)))


def new_session_id() -> str:
    """Return an id nobody can guess."""
    return secrets.token_urlsafe(32)
