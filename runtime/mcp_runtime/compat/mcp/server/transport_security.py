"""Stand-in for `mcp.server.transport_security`: the values of Host and Origin that are accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking


@dataclass
class TransportSecuritySettings:
    """`host:*` allows each port."""

    enable_dns_rebinding_protection: bool = True
    allowed_hosts: list[str] = field(default_factory=list[str])
    allowed_origins: list[str] = field(default_factory=list[str])


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
