"""The cookies of one HTTP server: no more of them, and no larger ones, than is worth keeping."""

from __future__ import annotations

from http.cookiejar import Cookie, CookieJar

from mcp_runtime.limits import Limits

__all__ = ["FewCookies"]


class FewCookies(CookieJar):
    """A jar that keeps nothing above the limits."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def set_cookie(self, cookie: Cookie) -> None:
        """Keeps it, also in place of one of its name, if there is room."""
        if len(repr(cookie)) > self._limits.cookie_bytes:  # attributes that nobody knows are kept
            return
        place = _place(cookie)
        if len(self) < self._limits.cookies or any(_place(kept) == place for kept in self):
            super().set_cookie(cookie)


def _place(cookie: Cookie) -> tuple[str, str, str]:
    return cookie.domain, cookie.path, cookie.name
