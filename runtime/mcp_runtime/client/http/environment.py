"""The environment's settings of the network: proxies, and certificates to trust.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, in capitals or not, as curl reads them; the
loopback is never asked through a proxy. SSL_CERT_FILE and SSL_CERT_DIR, as OpenSSL reads them.
"""

from __future__ import annotations

import os
import ssl
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from mcp_runtime.auth.addresses import is_loopback

_PORTS: Final = {"http": 80, "https": 443}
_SCHEMES: Final = ("http", "https", "socks5", "socks5h")


def proxy_for(url: str) -> str | None:
    """Return the proxy the environment names for a URL; None for none.

    Raises ValueError for a proxy that is no URL, which names the variable.
    """
    from urllib.request import getproxies_environment

    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:  # whoever asks it says so
        return None
    host = (parts.hostname or "").rstrip(".")
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme.lower()) or proxies.get("all")
    if not proxy or is_loopback(host) or _is_excepted(host, port, proxies.get("no", "")):
        return None
    variable = f"{parts.scheme.upper()}_PROXY or ALL_PROXY"
    return require_proxy(proxy if "://" in proxy else f"http://{proxy}", variable)


def _is_excepted(host: str, port: int | None, excepted: str) -> bool:
    """Return True if NO_PROXY has the host: by its name or the end of it, or by its network.

    An entry may have a port. `*` stands for every host.
    """
    for entry in (entry.strip().lower() for entry in excepted.split(",")):
        name, colon, number = entry.rpartition(":")
        if colon and number.isdigit() and "]" not in number and ":" not in name.strip("[]"):
            if port != int(number):
                continue
            entry = name
        entry = entry.strip("[]").removeprefix("*.").removeprefix(".")
        if entry == "*" or (entry and (host == entry or host.endswith(f".{entry}"))):
            return True
        if _is_within(host, entry):
            return True
    return False


def _is_within(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


def require_proxy(proxy: str, what: str) -> str:
    """Return the URL of a proxy. Raises ValueError for anything else; the text has no password."""
    try:
        parts = urlsplit(proxy)
        is_fit = parts.scheme.lower() in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fit = False
    if not is_fit:
        known = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise ValueError(f"{what} is not the URL of a proxy: it begins with one of {known}")
    return proxy


def trusted() -> ssl.SSLContext | None:
    """Return a context with the certificates the environment names; None if it names none.

    Raises ValueError for a file or folder that cannot be read, which names the variable.
    """
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if not file and not folder:
        return None
    if file and not os.path.exists(file):
        raise ValueError(f"SSL_CERT_FILE names {file!r}, which is not there")
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"SSL_CERT_FILE or SSL_CERT_DIR cannot be read: {error}") from None
