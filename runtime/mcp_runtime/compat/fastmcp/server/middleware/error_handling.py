"""Stand-in for `fastmcp.server.middleware.error_handling`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)


class ErrorHandlingMiddleware(Middleware):
    """Logs each failure, counts it by type and method, and calls `error_callback`."""

    def __init__(
        self,
        logger: logging.Logger | None = None,
        include_traceback: bool = False,
        error_callback: Callable[[Exception, MiddlewareContext], None] | None = None,
        transform_errors: bool = True,
    ) -> None:
        self.logger = logger or logging.getLogger("fastmcp.errors")
        self.include_traceback = include_traceback
        self.error_callback = error_callback
        self.error_counts: Counter[str] = Counter()

    async def on_message(self, context: MiddlewareContext, call_next: CallNext[Any, Any]) -> Any:
        try:
            return await call_next(context)
        except Exception as error:
            self.error_counts[f"{type(error).__name__}:{context.method}"] += 1
            self.logger.error(
                "%s failed: %s", context.method, error, exc_info=self.include_traceback
            )
            if self.error_callback is not None:
                self.error_callback(error, context)
            raise

    def get_error_stats(self) -> dict[str, int]:
        return dict(self.error_counts)


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
