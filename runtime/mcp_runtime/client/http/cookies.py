"""The cookies of one HTTP server, within limits."""

from __future__ import annotations

from http.cookiejar import Cookie, CookieJar

from mcp_runtime.limits import Limits


class LimitedCookieJar(CookieJar):
    """Drops a cookie that is too large, and one more than the limit."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def set_cookie(self, cookie: Cookie) -> None:
        if len(repr(cookie)) > self._limits.cookie_bytes:  # with attributes that nobody knows
            return
        super().set_cookie(cookie)
        if len(self) > self._limits.cookies:
            self.clear(cookie.domain, cookie.path, cookie.name)
