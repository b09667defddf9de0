"""Prints the result of a tool, prompt, resource or completion; saves and shows pictures."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from mcp_bindgen.cli import FINDINGS, OK
from mcp_bindgen.cli.show import in_one_line, near, safe, safe_text, say, warn
from mcp_bindgen.errors import OutputError

__all__ = ["Printer"]

_CHUNK: Final = 4096
"""Characters of base64 in one escape sequence of kitty."""


@dataclass(slots=True)
class Printer:
    """Prints to stdout. `as_json` prints results as JSON. `folder` receives pictures, sounds and
    binary contents as files; without it they are named only, and pictures shown by terminals which
    can.
    """

    as_json: bool = False
    folder: Path | None = None

    def tool(self, result: Any) -> int:
        """Print the result of a tool; return the exit status."""
        self._whole(result) if self.as_json else self._blocks(result.content)
        if not self.as_json and not result.content and _is_there(result.structured_content):
            say(safe_text(json.dumps(result.structured_content, ensure_ascii=False)))
        return FINDINGS if result.is_error is True else OK

    def prompt(self, result: Any) -> int:
        """Print the messages of a prompt."""
        if self.as_json:
            self._whole(result)
            return OK
        for message in result.messages:
            say(safe(f"{message.role}:"))
            self._blocks([message.content])
        return OK

    def resource(self, contents: Iterable[Any]) -> int:
        """Print the contents of a resource."""
        from mcp_runtime.revisions import latest

        if self.as_json:
            written = [latest.to_wire(each) for each in contents]
            say(safe_text(json.dumps({"contents": written}, ensure_ascii=False)))
            return OK
        for each in contents:
            self._contents(each)
        return OK

    def completion(self, completion: Any) -> int:
        """Print suggestions, one on each line."""
        from mcp_runtime.revisions import latest

        if self.as_json:
            say(safe_text(json.dumps(latest.to_wire(completion), ensure_ascii=False)))
            return OK
        for value in completion.values:
            say(safe(value))
        if completion.has_more is True:
            total = f" of {completion.total:g}" if isinstance(completion.total, int | float) else ""
            warn(f"mcp-bindgen: these are {len(completion.values)}{total}; there are more")
        return OK

    def _whole(self, result: Any) -> None:
        from mcp_runtime.revisions import latest

        say(safe_text(latest.encode(result).decode()))
        for block in getattr(result, "content", ()):
            contents = getattr(block, "resource", block)
            data = getattr(contents, "blob", getattr(contents, "data", None))
            if self.folder is not None and isinstance(data, str):
                what = "blob" if contents is not block else block.type
                warn(self._save(data, _text(contents.mime_type), what))

    def _blocks(self, blocks: Iterable[Any]) -> None:
        for block in blocks:
            if isinstance(text := getattr(block, "text", None), str):
                say(safe_text(text))
            elif isinstance(data := getattr(block, "data", None), str):
                self._media(data, block.mime_type, block.type)
            elif block.type == "resource":
                self._contents(block.resource)
            else:
                named = " ".join(filter(None, (block.type, _text(getattr(block, "uri", "")))))
                say(safe(f"[{named}]"))

    def _contents(self, contents: Any) -> None:
        if isinstance(text := getattr(contents, "text", None), str):
            say(safe_text(text))
        else:
            self._media(contents.blob, _text(contents.mime_type), "blob", contents.uri)

    def _media(self, data: str, kind: str, what: str, uri: str = "") -> None:
        """Save, show or name binary data."""
        named = " ".join(filter(None, (what, kind, uri)))
        if self.folder is not None:
            say(f"[{safe(named)}: {self._save(data, kind, what)}]")
            return
        say(safe(f"[{named}]"))
        if sys.stdout.isatty() and kind.startswith("image/"):
            shown = _inline(_bytes(data), kind, os.environ)
            if shown:
                click.echo(shown)

    def _save(self, data: str, kind: str, what: str) -> str:
        """Write binary data to a new file; return its path. Raises OutputError."""
        assert self.folder is not None
        suffix = mimetypes.guess_extension(kind) or ".bin"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for number in range(1, 100_000):
                path = self.folder / f"{what}-{number}{suffix}"
                try:
                    with path.open("xb") as file:
                        file.write(_bytes(data))
                except FileExistsError:
                    continue
                return near(path)
        except OSError as error:
            raise OutputError(f"{self.folder} cannot be written: {error.strerror}") from None
        raise OutputError(f"{self.folder} is full of files {what}-N{suffix}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_there(value: Any) -> bool:
    from mcp_runtime.revisions import latest

    return value is not None and value is not latest.UNSET


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise OutputError(f"these data are not base64: {in_one_line(data[:40])}") from None


def _inline(data: bytes, kind: str, environ: Mapping[str, str]) -> str:
    """The escape sequence which shows a picture in kitty, Ghostty, WezTerm or iTerm2.

    Empty for other terminals. The data are encoded anew: nothing of a peer's text is printed.
    """
    text = base64.b64encode(data).decode()
    program = environ.get("TERM_PROGRAM", "")
    if program in ("iTerm.app", "WezTerm"):
        return f"\x1b]1337;File=inline=1;size={len(data)}:{text}\x07"
    is_kitty = "KITTY_WINDOW_ID" in environ or program == "ghostty"
    if not is_kitty or kind != "image/png":
        return ""
    parts = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
    last = len(parts) - 1
    return "".join(
        f"\x1b_G{'a=T,f=100,' if not at else ''}m={int(at < last)};{part}\x1b\\"
        for at, part in enumerate(parts)
    )
