"""Reads a conversation with generated models alone, which refuse unknown members.

python -m tests.support.independent_reader PACKAGE REVISION < WIRE

Each line of WIRE is a JSON array: `sent` or `received`, as a client sees it, and a message's text.
A message is read as the revision that its request names, and otherwise as REVISION. For each
message a line of JSON is printed: its method, its position (params, result or error), its value
there, and the fault, which is null if a reader of that revision takes all of it. The runtime stays
unimported: a leftover member that only its client reads is a fault here.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, Final

__all__ = ["Reader"]

NAMED: Final = "io.modelcontextprotocol/protocolVersion"
UNAGREED: Final = {("server/discover", "params"), ("server/discover", "error")}
"""May be of a revision that the package lacks: it asks a server that does not know it."""
ERRORS: Final = ("JSONRPCErrorResponse", "JSONRPCError")
"""The envelope of an error, by its newer and its older name."""


class Reader:
    """The models of each revision of a package, and the open requests of each direction."""

    def __init__(self, package: str, revision: str) -> None:
        self.package = package
        self.revision = revision
        self.revisions = importlib.import_module(package).REVISIONS
        self.open: dict[tuple[str, str], tuple[str, str]] = {}

    def read(self, direction: str, text: str) -> dict[str, Any]:
        """What is read of one message, and its fault."""
        message = json.loads(text)
        revision, method, position = self.revision, message.get("method"), "params"
        if method is None:
            position = "error" if "error" in message else "result"
            other = "received" if direction == "sent" else "sent"
            method, revision = self.open.pop((other, json.dumps(message.get("id"))))
        else:
            revision = message.get("params", {}).get("_meta", {}).get(NAMED, revision)
            if "id" in message:
                self.open[direction, json.dumps(message["id"])] = method, revision
        fault = self._fault(revision, method, position, message)
        value = message.get(position)
        return {"method": method, "position": position, "value": value, "fault": fault}

    def _fault(self, revision: str, method: str, position: str, message: Any) -> str | None:
        if revision not in self.revisions:
            return None if (method, position) in UNAGREED else f"{revision} was not agreed on"
        models, calls = (self._module(revision, name) for name in ("models", "calls"))
        if position == "error":
            name = next(each for each in ERRORS if hasattr(models, each))
            types, value = {method: getattr(models, name)}, message
        else:
            types = calls.PARAMS if position == "params" else calls.RESULTS
            value = message.get(position, {})
        if method not in types:
            return f"{revision} has no {position} of {method}" if value else None
        try:
            read = models.from_wire(types[method], value)
        except models.DecodeError as error:
            return f"{method} {position} of {revision}: {error}"
        left = sorted(getattr(read, "extra_", ())) if position == "result" else []
        return f"{method} result of {revision}: nobody reads {', '.join(left)}" if left else None

    def _module(self, revision: str, name: str) -> Any:
        home = f"{self.package}.v{revision.replace('-', '_')}"
        return importlib.import_module(f"{home}.{name}_dataclass")


if __name__ == "__main__":
    reader = Reader(*sys.argv[1:])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(reader.read(*json.loads(line))) + "\n")
