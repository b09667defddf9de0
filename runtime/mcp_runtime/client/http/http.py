"""An HTTP client for one server: requests, responses in chunks, and limits on both.

Nothing is taken from the environment here: no proxy, no certificates, no `.netrc`. Certificates are
checked against those of the system. Redirects are followed within the origin, with method and body.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from http.cookiejar import Cookie, CookieJar
from importlib.util import find_spec
from typing import Final, Protocol

from mcp_runtime.core.http.http_rules import media_type
from mcp_runtime.errors import BadAnswer, BadStatus, Disconnected, NotInstalled, NotReached, TooMuch
from mcp_runtime.limits import Limits
from mcp_runtime.transports.tls import default_tls

try:
    import httpx2

    from mcp_runtime.client.http.early_answer import watch_connections
except ModuleNotFoundError:
    raise NotInstalled("a client over HTTP", "httpx2", "http") from None

_EXTENSIONS: Final = {"trace": watch_connections}

_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_MAX_SHOWN: Final = 200
_MAX_READ: Final = 4096
_MIN_SECRET: Final = 6
_PUBLIC: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "user-agent",
    }
)
"""Headers of requests whose values an error may repeat."""
_UNKNOWN_SESSION: Final = re.compile(rb"valid (?:or missing )?session ID", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title>([^<]+)", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_BROKEN: Final = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
"""Exceptions of a broken connection, or of a failure to connect."""
_NOT_REACHED: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)
"""Exceptions of a failure to connect."""


class HttpResponse:
    """The response to one request; `kind` is its media type in lower case, without parameters."""

    def __init__(self, response: httpx2.Response, limits: Limits) -> None:
        self.status = response.status_code
        self.ok = response.is_success
        self.headers: Mapping[str, str] = response.headers
        self.had_token = "Authorization" in response.request.headers
        self.kind = media_type(response.headers.get("Content-Type"))
        self._response = response
        self._limit = limits.answer_bytes
        self._body = bytearray()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Disconnected, BadAnswer for an unwanted content coding."""
        coding = self.headers.get("Content-Encoding", "identity")
        if coding.strip().lower() != "identity":
            raise BadAnswer(f"the answer has a content coding, {coding[:_MAX_SHOWN]!r}")
        try:
            async for chunk in self._response.aiter_raw():
                yield chunk
        except _BROKEN as error:
            raise _disconnected_error(
                self._response.request.method, self._response.url, error, None
            ) from error

    async def body(self) -> bytes:
        """Return the whole body, however often it is read. Raises TooMuch, and as `chunks` does."""
        if not self._response.is_stream_consumed:
            async for chunk in self.chunks():
                self._body += chunk
                if len(self._body) > self._limit:
                    limit = f"{self._limit} bytes (Limits.answer_bytes)"
                    raise TooMuch(f"an answer of more than {limit}")
        return bytes(self._body)

    async def lost_session(self) -> bool:
        """Return True if the server does not know the session. Older SDKs say so with 400, in
        words.
        """
        if self.status != 400:
            return self.status == 404
        return _UNKNOWN_SESSION.search(await self.body()) is not None

    def within(self, reference: str) -> httpx2.URL:
        """Return the URL of a reference. Raises BadAnswer for one of another origin."""
        return _within(self._response.url, reference)

    def error(self, what: str, body: bytes = b"") -> BadStatus:
        """Return the response's status as an error, whose text ends with the first line of the
        body.
        """
        reason = self._response.reason_phrase[:_MAX_SHOWN]
        detail = self._mask_secrets(_detail(body, self.kind))
        place = f"{reason} from {_origin(self._response.url)}".lstrip()
        return BadStatus(what, self.status, f"{place}: {detail}" if detail else place)

    def _mask_secrets(self, text: str) -> str:
        """Mask the secrets we have sent in a text of the server."""
        for name, value in self._response.request.headers.items():
            if name.lower() not in _PUBLIC:
                for word in value.split():
                    text = text.replace(word, "[redacted]") if len(word) >= _MIN_SECRET else text
        return text


class HttpSender(Protocol):
    """Sends requests to the server at `url`."""

    url: httpx2.URL

    def send(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AbstractAsyncContextManager[HttpResponse]: ...

    async def close(self) -> None: ...


class LimitedCookieJar(CookieJar):
    """The cookies of one server, without cookies that are too large or above the limit."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def set_cookie(self, cookie: Cookie) -> None:
        if len(repr(cookie)) > self._limits.cookie_bytes:  # with attributes that nobody knows
            return
        super().set_cookie(cookie)
        if len(self) > self._limits.cookies:
            self.clear(cookie.domain, cookie.path, cookie.name)


class HttpClient:
    """Asks one server; each request has `headers`. Raises ValueError for a URL not of HTTP."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        tls: ssl.SSLContext | None,
        proxy: str | None,
        limits: Limits,
    ) -> None:
        self.url = _url(url)
        self._limits = limits
        self._proxy = None if proxy is None else _proxy(proxy)
        self._client = httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **headers},
            verify=default_tls() if tls is None else tls,
            proxy=self._proxy,
            cookies=LimitedCookieJar(limits),
            trust_env=False,
            timeout=httpx2.Timeout(None, connect=limits.deadline),
            limits=httpx2.Limits(max_connections=None),
        )

    @asynccontextmanager
    async def send(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncGenerator[HttpResponse]:
        """The response, which is closed on leaving. Headers are sent in UTF-8.

        Raises NotReached; Disconnected, also in the middle of the response; BadAnswer and TooMuch
        for redirects.
        """
        encoded = httpx2.Headers(headers, encoding="utf-8")
        try:
            async with AsyncExitStack() as stack:
                for _ in range(self._limits.redirects + 1):
                    stream = self._client.stream(
                        method, url, headers=encoded, content=content, extensions=_EXTENSIONS
                    )
                    response = await stack.enter_async_context(stream)
                    if (target := _redirect(response)) is None:
                        yield HttpResponse(response, self._limits)
                        return
                    await stack.aclose()
                    url = target
                raise TooMuch(f"over {self._limits.redirects} redirects (Limits.redirects)")
        except _BROKEN as error:
            proxy = None if self._proxy is None else self._proxy.url
            raise _disconnected_error(method, url, error, proxy) from error

    async def close(self) -> None:
        await self._client.aclose()


def _proxy(url: str) -> httpx2.Proxy:
    """Return the proxy. Raise ValueError for a malformed one, and for one whose package is not
    installed.
    """
    from mcp_runtime.client.http.environment import require_proxy

    require_proxy(url, "`proxy`")
    if url.lower().startswith("socks") and find_spec("socksio") is None:
        raise ValueError("a SOCKS proxy needs the package socksio: pip install socksio")
    return httpx2.Proxy(url)


def _disconnected_error(
    method: str, url: httpx2.URL, error: Exception, proxy: httpx2.URL | None
) -> Disconnected:
    why = f"{type(error).__name__} {error}".strip()[:_MAX_SHOWN]
    if isinstance(error, _NOT_REACHED):
        remedy = "check the host and the port, and that the server is running"
        place = _origin(url)
        if proxy is not None:
            place = f"{place} through the proxy {_origin(proxy)}"
            remedy = "check the address of the proxy, and that it is running"
        return NotReached(f"{method} {place}: no connection, {why}; {remedy}")
    return Disconnected(f"{method} {_origin(url)}: {why}")


def _origin(url: httpx2.URL) -> str:
    """Scheme, host and port: the rest of a URL may be secret."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _detail(body: bytes, kind: str) -> str:
    """Return the error in a body: its first line, or the title of a page."""
    text = body[:_MAX_READ].decode(errors="replace")
    if kind == "text/html":
        title = _TITLE.search(text)
        text = title[1] if title else _TAG.sub("", text)
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:_MAX_SHOWN]


def _url(text: str) -> httpx2.URL:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise ValueError(f"not a URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        shown = f"{url.scheme}://{url.host}"[:_MAX_SHOWN]  # the rest may be secret
        raise ValueError(
            f"a server's URL begins with http:// or https://, not as {shown!r} does, and has a host"
        )
    if url.port is not None and url.port > 65_535:
        raise ValueError(f"not a URL: its port is {url.port}, and the largest is 65535")
    return url.copy_with(fragment=None)


def _redirect(response: httpx2.Response) -> httpx2.URL | None:
    """Return the target of a redirect; None for another response."""
    if response.status_code not in _REDIRECTS or "Location" not in response.headers:
        return None
    return _within(response.url, response.headers["Location"])


def _within(base: httpx2.URL, reference: str) -> httpx2.URL:
    try:
        url = base.join(reference)
        is_same = url.origin == base.origin
    except (httpx2.InvalidURL, ValueError) as error:
        raise BadAnswer(f"the server gave an invalid URL: {error}") from None
    if not is_same:
        other = _origin(url)[:_MAX_SHOWN]
        raise BadAnswer(
            f"the server points to another origin, {other}: use that URL if it is meant"
        )
    return url
