"""`InitializationOptions` of `mcp` 1.x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class InitializationOptions:
    """The description of a server in its first answer."""

    server_name: str
    server_version: str
    capabilities: Any = None
    instructions: str | None = None
    website_url: str | None = None
    icons: Any = None
