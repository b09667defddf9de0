"""Stand-in for `fastmcp.utilities.logging`: loggers."""

from __future__ import annotations

import logging
from typing import Any


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(f"fastmcp.{name}")


def configure_logging(level: Any = "INFO", **_: Any) -> None:
    """Write log records of a level to standard error."""
    logging.basicConfig(level=level, format="%(message)s")
