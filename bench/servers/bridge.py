"""Our bridge in front of a command: `bridge.py COMMAND…`."""

import sys

from mcp_runtime.bridge import Bridge

Bridge(sys.argv[1:]).server.run()
