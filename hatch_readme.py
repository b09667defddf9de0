"""Makes the wheel's description from README.md: without links and pictures that only lead somewhere
in the repository, or with an address before them, once there is one (`home` in pyproject.toml)."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["ReadmeHook", "portable"]

_PICTURE = re.compile(r"!\[([^\]]*)\]\((?!https?://)([^)]+)\)\n?")
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`, which pyproject.toml names as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        text = portable(text, self.config.get("home", ""))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def portable(text: str, home: str = "") -> str:
    """The text with `home` before each relative link, or without these links. Code stays."""
    picture, link = (rf"![\1]({home}\2)\n", rf"[\1]({home}\2)") if home else ("", r"\1")
    parts = _FENCE.split(text)
    return "".join(
        part if part.startswith("```") else _LINK.sub(link, _PICTURE.sub(picture, part))
        for part in parts
    )
