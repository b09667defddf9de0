"""Stand-in for `fastmcp.server.middleware.timing`: middleware for the time of each message."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import Any

from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)


class TimingMiddleware(Middleware):
    """Logs how many milliseconds each message took."""

    def __init__(self, logger: logging.Logger | None = None, log_level: int = logging.INFO) -> None:
        self.logger = logger or logging.getLogger("fastmcp.timing")
        self.log_level = log_level

    async def on_request(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        begin = perf_counter()
        try:
            return await call_next(context)
        finally:
            milliseconds = (perf_counter() - begin) * 1000
            self.logger.log(self.log_level, "%s took %.2f ms", context.method, milliseconds)


DetailedTimingMiddleware = TimingMiddleware
