"""Converts values of handlers of the low-level server, and checks arguments of its tools."""

from __future__ import annotations

import base64
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, cast

from mcp_runtime.compat import models
from mcp_runtime.compat.content import json_text, text_block
from mcp_runtime.compat.mcp.types import ServerResult
from mcp_runtime.compat.models import Model
from mcp_runtime.errors import NotInstalled
from mcp_runtime.json_schema.validator import checker

log: Final = logging.getLogger("mcp_runtime.compat")


class Url(str):
    """A URI, with the parts of a URL of pydantic."""

    @property
    def scheme(self) -> str:
        return self.partition(":")[0]

    @property
    def _parts(self) -> tuple[str, str, str]:
        from urllib.parse import urlsplit

        parts = urlsplit(self)
        return parts.netloc, parts.path, parts.query

    @property
    def host(self) -> str | None:
        return self._parts[0] or None

    @property
    def path(self) -> str | None:
        return self._parts[1] or None

    @property
    def query(self) -> str | None:
        return self._parts[2] or None

    def unicode_string(self) -> str:
        return str(self)


def checker_of(schema: Mapping[str, Any]) -> Callable[[Any], Any] | None:
    try:
        return checker(schema)
    except NotInstalled as error:
        log.warning("arguments are not checked: %s", error)
    except Exception as error:
        log.warning("arguments are not checked, since their schema is invalid: %s", error)
    return None


def failed(text: str) -> Model:
    return models.model("CallToolResult")(content=[text_block(text)], isError=True)


def result_of(value: Any) -> Any:
    """Convert the value of a handler of `tools/call` to a result."""
    made = models.model("CallToolResult")
    if isinstance(value, made):
        return value
    if isinstance(value, tuple) and len(value) == 2:  # pyright: ignore[reportUnknownArgumentType]
        content, structured = cast("tuple[Iterable[Any], Any]", value)
        return made(content=list(content), structuredContent=structured)
    if isinstance(value, dict):
        structured = cast("dict[str, Any]", value)
        return made(content=[text_block(json_text(structured, 2))], structuredContent=structured)
    if isinstance(value, Iterable):
        return made(content=[*value])
    return failed(f"Unexpected return type from tool: {type(value).__name__}")


def wrapped(handler: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    """Wrap the results of a handler, as those who call it by `request_handlers` read `.root`."""

    async def handle(message: Any) -> ServerResult:
        return ServerResult(await handler(message))

    return handle


def contents_of(item: Any, uri: str) -> Model:
    content = getattr(item, "content", item)
    mime_type, meta = getattr(item, "mime_type", None), getattr(item, "meta", None)
    more = {} if meta is None else {"_meta": meta}
    if isinstance(content, bytes):
        blob = base64.b64encode(content).decode()
        mime_type = mime_type or "application/octet-stream"
        return models.model("BlobResourceContents")(uri=uri, blob=blob, mimeType=mime_type, **more)
    mime_type = mime_type or "text/plain"
    return models.model("TextResourceContents")(uri=uri, text=content, mimeType=mime_type, **more)


def takes_request(function: Callable[..., Any]) -> bool:
    """Return True if a function takes the request of its list."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(
        each.default is inspect.Parameter.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in parameters
    )
