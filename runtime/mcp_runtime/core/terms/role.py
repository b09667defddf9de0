"""The two roles in a session."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["client", "server"]
CLIENT: Final = "client"
SERVER: Final = "server"
