"""The everything server behind a bridge: it speaks one revision, and the bridge offers another.

Usage: bridged.py OFFERED SPOKEN HOST:PORT
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from mcp_runtime.bridge import Bridge, Upstream

SERVER: Final = Path(__file__).parents[2] / "examples" / "everything.py"


def main(offered: str, spoken: str, address: str) -> None:
    server = Upstream.of([sys.executable, str(SERVER)], revisions=[spoken])
    Bridge(server, revisions=[offered]).server.run(http=address)


if __name__ == "__main__":
    main(*sys.argv[1:])
