"""Traces of the wire as JSON lines, without secrets.

Each line has `at` (seconds since the start), `direction` (`sent` or `received`, seen from us) and
`message`, or `text` if it is not JSON. A line with the direction `forgiven` names a tolerance
(docs/TOLERANCES.md) used for the previous message, and a line with `dropped` has the beginning of a
message above the limit.
"""

from __future__ import annotations

import re
import time
from io import TextIOBase
from typing import IO, Any, Final, cast

import msgspec

SECRET: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:authorization|cookie|credentials?|passphrase|passwd|password|private[_-]?key"
    r"|api[_-]?key|secrets?|(?:access|refresh|id|auth|bearer|session)[_-]?token|requeststate)$"
    r"|(?:Key|Password|Secret|AccessToken|RefreshToken|ApiKey)$"
    r"|^token$"
)
"""Names of members whose values are left out of a trace."""
_MARK: Final = "[redacted]"
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_dump: Final = msgspec.json.Encoder().encode


class TraceFile:
    """A `trace` of a connection; it writes to a binary file and flushes each line.

    Raises TypeError for a text file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        if isinstance(cast("object", file), TextIOBase):
            raise TypeError('a trace is bytes: open the file as in open("wire.jsonl", "wb")')
        self._file = file
        self._began = time.monotonic()

    def __call__(self, direction: str, data: bytes) -> None:
        at = round(time.monotonic() - self._began, 6)
        line: dict[str, Any] = {"at": at, "direction": direction}
        try:
            line["message"] = redacted(msgspec.json.decode(data))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            line["text"] = _BEARER.sub(r"\1 " + _MARK, data.decode("utf-8", "backslashreplace"))
        self._file.write(_dump(line) + b"\n")
        self._file.flush()


def redacted(value: Any) -> Any:
    """Return parsed JSON without the values of secret names, and without tokens in texts."""
    if value.__class__ is dict:
        return {
            key: _hide(item) if SECRET.search(key) else redacted(item)
            for key, item in value.items()
        }
    if value.__class__ is list:
        return [redacted(item) for item in value]
    return _BEARER.sub(r"\1 " + _MARK, value) if isinstance(value, str) else value


def _hide(value: Any) -> Any:
    """Hide strings and numbers; objects and arrays keep their shape."""
    is_hidden = isinstance(value, str | int | float) and not isinstance(value, bool)
    return _MARK if is_hidden else redacted(value)
