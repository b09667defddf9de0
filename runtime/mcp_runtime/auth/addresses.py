"""Which addresses a server may send us to: no private networks, and https but for loopback.

Source: 2026-07-28 docs/tutorials/security/security_best_practices, "Server-Side Request Forgery";
basic/authorization/security-considerations, "Communication Security".
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from mcp_runtime.auth.errors import DiscoveryFailed

_MAX_URL = 4096
_PORTS = {"http": 80, "https": 443}


def require_secure(url: str, what: str) -> str:
    """The URL, if it is https, or http on a loopback host, with nothing that misleads.

    Raises DiscoveryFailed, which says what the URL is for.
    """
    parts = _split(url, what)
    if "@" in parts.netloc or parts.fragment or not parts.hostname:
        raise DiscoveryFailed(f"{what} is {_short(url)}: it needs a host, no user and no fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname)):
        raise DiscoveryFailed(f"{what} is {_short(url)}: https is needed, except on the loopback")
    return url


def _split(url: str, what: str) -> SplitResult:
    if len(url) > _MAX_URL or not all("\x21" <= character <= "\x7e" for character in url):
        raise DiscoveryFailed(f"{what} is not a URL: {_short(url)}")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise DiscoveryFailed(f"{what} is not a URL: {_short(url)}") from None
    return parts


def origin(url: str) -> str:
    """Scheme, host and port of a URL, as `https://host:port` without a port that goes without.

    Raises DiscoveryFailed for what is not a URL.
    """
    parts = _split(url, "an address")
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{parts.port}"


def shown_host(url: str) -> str:
    """The host of a URL, as it is shown to a person before they visit it."""
    return urlsplit(url).netloc.rpartition("@")[2]


def is_loopback(host: str) -> bool:
    """Whether a host's name, or its address, is this machine's loopback."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return plain_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet.

    Private, loopback, link-local (cloud metadata among them), multicast, reserved and shared
    addresses are not, nor IPv6 addresses that carry such an IPv4 address.
    """
    try:
        plain = plain_address(address.partition("%")[0])
    except ValueError:
        return False
    return plain.is_global and not plain.is_multicast


def plain_address(text: str) -> IPv4Address | IPv6Address:
    """An address, of IPv6 ones that carry an IPv4 address that one. Raises ValueError."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour or _nat64(address)
        if carried is None and address.teredo is not None:
            carried = address.teredo[1]
        return carried or address
    return address


def _nat64(address: IPv6Address) -> IPv4Address | None:
    """Of 64:ff9b::/96. Source: RFC 6052 section 2.1."""
    return IPv4Address(int(address) & 0xFFFFFFFF) if int(address) >> 32 == 0x64FF9B << 64 else None


def _short(url: str) -> str:
    return repr(url[:200])
