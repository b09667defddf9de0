"""The TLS of clients that were given none: made once, since reading the certificates takes long."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def default_tls() -> ssl.SSLContext:
    """Check certificates against those of the system, whatever the environment says.

    Every client of this process has the same object: no one may change it.
    """
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)
