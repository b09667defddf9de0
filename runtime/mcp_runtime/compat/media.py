"""Images, audio and files as `mcp` 1.x and `fastmcp` return them from tools."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from mcp_runtime.compat import models
from mcp_runtime.compat.models import Model

_TYPES: Final[Mapping[str, str]] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
    ".aac": "audio/aac",
    ".m4a": "audio/mp4",
}


class Media:
    """Data of a file or in memory; `format`, else the file's name, gives the MIME type."""

    kind: ClassVar[str]
    default: ClassVar[str]
    """The MIME type of data in memory without a format."""

    def __init__(
        self,
        path: str | Path | None = None,
        data: bytes | None = None,
        format: str | None = None,
        annotations: Any = None,
    ) -> None:
        """Raises ValueError unless one of `path` and `data` is given."""
        if (path is None) == (data is None):
            raise ValueError("give either path or data")
        self.path = None if path is None else Path(os.path.expandvars(str(path))).expanduser()
        self.data = data
        self.annotations = annotations
        self._format = format
        self._mime_type = self._type()

    def _type(self) -> str:
        if self._format:
            return f"{self.kind}/{self._format.lower()}"
        if self.path is None:
            return self.default
        return _TYPES.get(self.path.suffix.lower(), "application/octet-stream")

    def _bytes(self) -> bytes:
        return self.data or b"" if self.path is None else self.path.read_bytes()

    def _base64(self) -> str:
        return base64.b64encode(self._bytes()).decode()

    def block(self) -> Model:
        """Return the content block."""
        raise NotImplementedError


class Image(Media):
    """An image, such as `Image(path="plot.png")` or `Image(data=data, format="png")`."""

    kind = "image"
    default = "image/png"

    def block(self) -> Model:
        return self.to_image_content()

    def to_image_content(self, mime_type: str | None = None, annotations: Any = None) -> Model:
        return models.model("ImageContent")(
            type="image",
            data=self._base64(),
            mimeType=mime_type or self._mime_type,
            annotations=annotations or self.annotations,
        )

    def to_data_uri(self, mime_type: str | None = None) -> str:
        return f"data:{mime_type or self._mime_type};base64,{self._base64()}"


class Audio(Media):
    """Audio, such as `Audio(path="voice.wav")`."""

    kind = "audio"
    default = "audio/wav"

    def block(self) -> Model:
        return self.to_audio_content()

    def to_audio_content(self, mime_type: str | None = None, annotations: Any = None) -> Model:
        return models.model("AudioContent")(
            type="audio",
            data=self._base64(),
            mimeType=mime_type or self._mime_type,
            annotations=annotations or self.annotations,
        )


class File(Media):
    """A file, which becomes an embedded resource."""

    kind = "application"
    default = "application/octet-stream"

    def __init__(
        self,
        path: str | Path | None = None,
        data: bytes | None = None,
        format: str | None = None,
        name: str | None = None,
        annotations: Any = None,
    ) -> None:
        super().__init__(path, data, format, annotations)
        self._name = name

    def _type(self) -> str:
        if self._format and self._format.lower() in ("plain", "txt", "text"):
            return "text/plain"
        if self._format or self.path is None:
            return super()._type()
        import mimetypes

        return mimetypes.guess_type(self.path)[0] or self.default

    def block(self) -> Model:
        return self.to_resource_content()

    def to_resource_content(self, mime_type: str | None = None, annotations: Any = None) -> Model:
        mime, data = mime_type or self._mime_type, self._bytes()
        name = f"{self._name or 'resource'}.{mime.partition('/')[2]}"
        uri = f"file:///{name}" if self.path is None else self.path.resolve().as_uri()
        resource: Model
        if mime.startswith("text/"):
            text = _text(data)
            resource = models.model("TextResourceContents")(text=text, mimeType=mime, uri=uri)
        else:
            blob = base64.b64encode(data).decode()
            resource = models.model("BlobResourceContents")(blob=blob, mimeType=mime, uri=uri)
        return models.model("EmbeddedResource")(
            type="resource", resource=resource, annotations=annotations or self.annotations
        )


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
