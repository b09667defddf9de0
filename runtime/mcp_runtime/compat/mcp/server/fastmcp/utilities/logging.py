"""Stand-in for `mcp.server.fastmcp.utilities.logging`: loggers."""

from __future__ import annotations

import logging


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(name)


def configure_logging(level: str = "INFO") -> None:
    """Write log records of a level to standard error."""
    logging.basicConfig(level=level, format="%(message)s")
