"""Runs in the peer's environment: what the package `mcp` says of each message on stdin.

A line is [kind, sender, method, revision, body]; the answer whether it is accepted (null: there is
no such method), and the types of pydantic's errors.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def main() -> None:
    methods: Any = importlib.import_module("mcp_types.methods")
    for line in sys.stdin:
        kind, by, method, revision, body = json.loads(line)
        read: Any = getattr(methods, f"parse_{by}_{kind}")
        try:
            read(method, revision, body)
            verdict: dict[str, Any] = {"accepts": True, "errors": []}
        except KeyError:
            verdict = {"accepts": None, "errors": []}
        except Exception as error:
            errors: Any = getattr(error, "errors", list)
            verdict = {"accepts": False, "errors": sorted({str(each["type"]) for each in errors()})}
        print(json.dumps(verdict), flush=True)  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main()
