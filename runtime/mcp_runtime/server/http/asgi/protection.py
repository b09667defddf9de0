"""Lets in clients that have a token for this server, and tells others where to get one."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

import msgspec

from mcp_runtime.auth.server.bearer import AccessDenied, BearerAuth
from mcp_runtime.auth.server.current import current_token
from mcp_runtime.auth.server.verifier import PROOF_AGE
from mcp_runtime.core.wire.jsonrpc import Batch, Frame, Request
from mcp_runtime.errors import SessionError
from mcp_runtime.revisions import first_name
from mcp_runtime.server.http.asgi.request import JSON, HttpError, HttpRequest, retry_after
from mcp_runtime.stores import TaskStore, TooManyTasks

log: Final = logging.getLogger("mcp_runtime.http")


class _Named(msgspec.Struct):
    name: str = ""


_named: Final = msgspec.json.Decoder(_Named)


class Protection:
    """Guards one application. `tool_scopes` are the scopes tools need, by name, beside
    `auth.scopes`.

    `shared` remembers the proofs accepted by any of several processes.

    The handlers of an admitted request read its token from `current_token`.
    """

    def __init__(
        self,
        auth: BearerAuth,
        tool_scopes: Mapping[str, Collection[str]],
        shared: TaskStore | None = None,
    ) -> None:
        self.auth: Final = auth
        self._tool_scopes = tool_scopes
        self._shared = shared

    async def admit(self, request: HttpRequest) -> None:
        """Raise HttpError for a request without a valid token; 503 if nobody can verify it now."""
        root = request.scope.get("root_path", "")
        path = request.scope["path"]
        try:
            token = await self.auth.authenticate(
                request.headers,
                method=request.method,
                path=path if path.startswith(root) else f"{root}{path}",
            )
            if self._shared is not None and token.key_thumbprint is not None:
                await self._require_first(request.headers["dpop"], self._shared)
        except AccessDenied as denied:
            raise _http_error(denied) from None
        except SessionError as error:
            log.warning("a token cannot be verified, so its request is answered 503: %s", error)
            why = "tokens cannot be verified now; try again"
            raise HttpError(503, why, headers=retry_after(5)) from None
        current_token.set(token)

    async def _require_first(self, proof: str, shared: TaskStore) -> None:
        """Raise AccessDenied for a proof any process has accepted before.

        A signature can be written in several ways, and the signed content in one: the content is
        remembered.
        """
        owner = f"proof:{sha256(proof.rpartition('.')[0].encode()).hexdigest()}"
        with suppress(TooManyTasks):  # Limits.tasks is 0: each process remembers its own
            if not await shared.put(owner, "", b"", 0, 2 * PROOF_AGE):
                raise self.auth.refuse_proof("the proof was used before")

    def principal(self) -> str:
        """The principal of the request being handled."""
        token = current_token.get()
        return "" if token is None else token.principal

    def seconds_left(self) -> float:
        """The seconds for which the token of the request being handled is still valid."""
        token = current_token.get()
        return math.inf if token is None else self.auth.seconds_left(token)

    def require_tool_scopes(self, frame: Frame) -> None:
        """Raise HttpError for a call of a tool if the token lacks a scope of the tool."""
        if isinstance(frame, Batch):
            for part in frame.frames:
                self.require_tool_scopes(part)
        elif isinstance(frame, Request) and first_name(frame.method) == "tools/call":
            if (token := current_token.get()) is None:
                raise HttpError(401, "a token is needed")
            if self._tool_scopes and (scopes := self._tool_scopes.get(_tool_name(frame))):
                try:
                    self.auth.require_scopes(token, (*self.auth.scopes, *scopes))
                except AccessDenied as denied:
                    raise _http_error(denied) from None

    async def metadata(self, request: HttpRequest) -> None:
        """Serve the protected resource metadata, which any page of a browser may read."""
        any_origin = (b"access-control-allow-origin", b"*")
        await request.reply(200, self.auth.metadata, (JSON, any_origin))


def _tool_name(frame: Request) -> str:
    try:
        return _named.decode(frame.params).name
    except msgspec.DecodeError:
        return ""


def _http_error(denied: AccessDenied) -> HttpError:
    headers = [(b"www-authenticate", denied.challenge.encode())]
    return HttpError(denied.status, str(denied), headers=headers)
