"""The contents of a resource, as handlers of `mcp` 1.x return them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Self


@dataclass
class ReadResourceContents:
    """Text or bytes with a MIME type."""

    content: str | bytes
    mime_type: str | None = None
    meta: dict[str, Any] | None = None

    @classmethod
    def of(cls, contents: Any) -> Self:
        """Convert native contents."""
        mime_type = contents.mime_type if isinstance(contents.mime_type, str) else None
        if hasattr(contents, "text"):
            return cls(contents.text, mime_type)
        return cls(base64.b64decode(contents.blob), mime_type)
