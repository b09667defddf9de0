"""A server in plain Python, started as a command, that answers whatever a test says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["raw"]

SERVER: Final = """
import json, sys
KINDS = ["tools", "resources", "prompts"]
script = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if script.get("log"):
        with open(script["log"], "a") as file:
            print(method, message.get("params", {}).get("protocolVersion", ""), file=file)
    if "stderr" in script:
        print(script["stderr"], file=sys.stderr, flush=True)
    if method == script.get("ends") or (method == "server/discover" and script.get("dies")):
        sys.exit(1)
    if method == "initialize":
        answer = {"result": {
            "protocolVersion": script.get("speaks", "2024-11-05"),
            "serverInfo": script.get("info", {"name": "raw", "version": "1"}),
            "capabilities": script.get("capabilities", dict.fromkeys(KINDS, {})),
        }}
    else:
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        answer = script["answers"].get(method, unknown)
    for said in script.get("before", {}).get(method, []):
        print(said, flush=True)
    if id is not None and answer is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, **answer}), flush=True)
"""


def raw(folder: Path, **script: Any) -> list[str]:
    """The command of a server that answers as `script` says.

    `before` are lines that it says before the answer to a method.
    """
    path = folder / "raw.py"
    path.write_text(SERVER, "utf-8")
    return [sys.executable, "-S", str(path), json.dumps({"answers": {}, **script})]
