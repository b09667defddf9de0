"""Puts mcp_wire into the wheel: from ../generated in a checkout, from this folder in an sdist."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["WireHook"]


class WireHook(BuildHookInterface[Any]):
    """Runs for wheels. An editable install has ../generated on its path and takes no copy."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        beside = Path(self.root) / "mcp_wire"
        if version == "standard" and not beside.is_dir():
            build_data["force_include"]["../generated/mcp_wire"] = "mcp_wire"
