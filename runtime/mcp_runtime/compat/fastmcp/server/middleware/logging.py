"""Stand-in for `fastmcp.server.middleware.logging`: middleware for a log of each message."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)


class LoggingMiddleware(Middleware):
    """Logs the method of each message, and its failure."""

    def __init__(
        self, logger: logging.Logger | None = None, log_level: int = logging.INFO, **_: Any
    ) -> None:
        self.logger = logger or logging.getLogger("fastmcp.requests")
        self.log_level = log_level

    async def on_message(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        self.logger.log(self.log_level, "%s begins", context.method)
        try:
            result = await call_next(context)
        except Exception:
            self.logger.exception("%s failed", context.method)
            raise
        self.logger.log(self.log_level, "%s ended", context.method)
        return result


StructuredLoggingMiddleware = LoggingMiddleware

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
