"""The default TLS settings of clients, made once, as reading the certificates takes long."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def default_tls() -> ssl.SSLContext:
    """Return the context of httpx2, which ignores SSL_CERT_FILE and its like.

    All clients of this process share the object: do not change it.
    """
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)
