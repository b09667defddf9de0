"""Serves clients of any revision in front of servers of any revision, one or several.

from mcp_runtime.bridge import Bridge

Bridge(["python", "server.py"]).server.run(http="127.0.0.1:8000")
"""

from mcp_runtime.bridge.bridge import Bridge
from mcp_runtime.bridge.config import ConfigError, read_config
from mcp_runtime.bridge.hooks import Access, Crossing, Loss
from mcp_runtime.bridge.losses import LossFile
from mcp_runtime.bridge.names import Names
from mcp_runtime.bridge.upstream import Upstream

__all__ = [
    "Access",
    "Bridge",
    "ConfigError",
    "Crossing",
    "Loss",
    "LossFile",
    "Names",
    "Upstream",
    "read_config",
]
