"""Stand-in for `fastmcp.server.middleware.rate_limiting`: middleware that refuses a flood."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

from mcp_runtime.compat import models
from mcp_runtime.compat.errors import McpError
from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)
from mcp_runtime.limits import DEFAULT

_ALL: Final = "global"
_CODE: Final = -32000


class RateLimitError(McpError):
    """A client has sent too many requests."""

    def __init__(self, message: str = "Rate limit exceeded") -> None:
        super().__init__(models.model("ErrorData")(code=_CODE, message=message))


class TokenBucketRateLimiter:
    """A bucket with room for `capacity` tokens, and `refill_rate` new ones a second."""

    def __init__(self, capacity: int, refill_rate: float) -> None:
        self.capacity = capacity
        self.refill_rate = refill_rate
        self.tokens = float(capacity)
        self._filled_at = time.monotonic()

    async def consume(self, tokens: int = 1) -> bool:
        """Take tokens out; return False if there are too few, and take none."""
        now = time.monotonic()
        added = (now - self._filled_at) * self.refill_rate
        self.tokens, self._filled_at = min(self.capacity, self.tokens + added), now
        if self.tokens < tokens:
            return False
        self.tokens -= tokens
        return True


class SlidingWindowRateLimiter:
    """At most `max_requests` in any `window_seconds`."""

    def __init__(self, max_requests: int, window_seconds: float) -> None:
        self.max_requests = max_requests
        self.window_seconds = window_seconds
        self.requests: deque[float] = deque(maxlen=max_requests)

    async def is_allowed(self) -> bool:
        """Count a request; return False if the window is full, and do not count it."""
        now = time.monotonic()
        while self.requests and self.requests[0] <= now - self.window_seconds:
            self.requests.popleft()
        if len(self.requests) >= self.max_requests:
            return False
        self.requests.append(now)
        return True


class _Limiting(Middleware, ABC):
    """Counts requests by client; all are one client without `get_client_id`.

    Of more than `Limits.sessions` clients the one longest unseen is forgotten.
    """

    def __init__(self, get_client_id: Callable[[MiddlewareContext], str] | None) -> None:
        self.get_client_id = get_client_id
        self._clients: OrderedDict[str, Any] = OrderedDict()

    @abstractmethod
    def limiter(self) -> Any:
        """Return the limiter of a new client."""

    def limiter_of(self, client: str) -> Any:
        """Return the limiter of a client."""
        limiter = self._clients.pop(client, None) or self.limiter()
        self._clients[client] = limiter
        while len(self._clients) > DEFAULT.sessions:
            self._clients.popitem(last=False)
        return limiter

    def client_of(self, context: MiddlewareContext) -> str:
        return _ALL if self.get_client_id is None else self.get_client_id(context)


class RateLimitingMiddleware(_Limiting):
    """Lets each client send some requests a second, and a burst of them at once.

    `burst_capacity` is twice the rate by default. With `global_limit` all clients share one bucket.
    Raises RateLimitError in place of the answer.
    """

    def __init__(
        self,
        max_requests_per_second: float = 10.0,
        burst_capacity: int | None = None,
        get_client_id: Callable[[MiddlewareContext], str] | None = None,
        global_limit: bool = False,
    ) -> None:
        super().__init__(None if global_limit else get_client_id)
        self.max_requests_per_second = max_requests_per_second
        self.burst_capacity = burst_capacity or int(max_requests_per_second * 2)
        self.global_limit = global_limit

    def limiter(self) -> TokenBucketRateLimiter:
        return TokenBucketRateLimiter(self.burst_capacity, self.max_requests_per_second)

    async def on_request(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        client = self.client_of(context)
        if not await self.limiter_of(client).consume():
            whose = "Global rate limit" if self.global_limit else "Rate limit"
            ending = "" if self.global_limit else f" for client: {client}"
            raise RateLimitError(f"{whose} exceeded{ending}")
        return await call_next(context)


class SlidingWindowRateLimitingMiddleware(_Limiting):
    """Lets each client send `max_requests` in any `window_minutes`.

    Raises RateLimitError in place of the answer.
    """

    def __init__(
        self,
        max_requests: int,
        window_minutes: int = 1,
        get_client_id: Callable[[MiddlewareContext], str] | None = None,
    ) -> None:
        super().__init__(get_client_id)
        self.max_requests = max_requests
        self.window_minutes = window_minutes

    def limiter(self) -> SlidingWindowRateLimiter:
        return SlidingWindowRateLimiter(self.max_requests, self.window_minutes * 60)

    async def on_request(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        client = self.client_of(context)
        if not await self.limiter_of(client).is_allowed():
            most = f"{self.max_requests} requests per {self.window_minutes} minutes"
            raise RateLimitError(f"Rate limit exceeded: {most} for client: {client}")
        return await call_next(context)
