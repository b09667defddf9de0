"""The default TLS settings of clients, made once, as reading the certificates takes long."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def default_tls() -> ssl.SSLContext:
    """Check certificates against those of the system, whatever the environment says.

    All clients of this process share the object: do not change it.
    """
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)
