"""The shared server as an ASGI application, for servers that are given an import string."""

from __future__ import annotations

from tests.support.shared_server import server

app = server.asgi()
