"""A client as one authorization server knows it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

AuthMethod: TypeAlias = Literal[
    "none", "client_secret_basic", "client_secret_post", "private_key_jwt"
]


class ClientRegistration(msgspec.Struct, frozen=True, kw_only=True):
    """A client as one authorization server knows it. `redirect_uri` is the registered one;
    `expires_at` is in seconds since 1970, 0 for never. `is_doubted` is set after a sign-in that
    ended on a page of the authorization server, which may have forgotten the client.
    """

    client_id: str
    client_secret: str | None = None
    auth_method: AuthMethod = "none"
    redirect_uri: str | None = None
    expires_at: int = 0
    is_doubted: bool = False

    def __repr__(self) -> str:
        return f"ClientRegistration(client_id={self.client_id!r}, auth_method={self.auth_method!r})"

    def is_usable(self, now: float) -> bool:
        return not self.expires_at or self.expires_at > now
