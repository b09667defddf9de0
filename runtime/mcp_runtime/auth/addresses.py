"""Decides which addresses a server may send us to: none in private networks; https, but for
loopback.

The list of networks is ours, so every version of Python judges alike.

Source: 2026-07-28 docs/tutorials/security/security_best_practices, "Server-Side Request Forgery";
basic/authorization/security-considerations, "Communication Security"; the IANA registries of
special-purpose addresses (RFC 6890), as of November 2026.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit, urlunsplit

from mcp_runtime.auth.errors import DiscoveryFailed

Place: TypeAlias = Literal["public", "loopback", "private", "special"]
"""Where an address leads: the internet, this machine, a network of somebody's own, or none."""

_PLACES: Final[dict[Place, tuple[str, ...]]] = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    "special": (
        *("0.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16"),
        *("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),  # documentation
        *("224.0.0.0/4", "240.0.0.0/4"),
        *("::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23"),
        *("2001:db8::/32", "3fff::/20"),  # documentation
        *("5f00::/16", "fe80::/10", "ff00::/8"),
    ),
}
"""The networks outside the public internet. Only 2000::/3 of IPv6 is public; the IPv6 rows outside
it give the reason for a refusal, and the kind of place.
"""
_INTERNET: Final = ip_network("2000::/3")
_MAX_URL: Final = 4096
_PORTS: Final = {"http": 80, "https": 443}
_NETWORKS: Final[tuple[tuple[IPv4Network | IPv6Network, Place], ...]] = tuple(
    (ip_network(network), place) for place, networks in _PLACES.items() for network in networks
)


def require_secure(url: str, what: str) -> str:
    """Return `url` unchanged if it is secure: https, or http on a loopback host.

    Raises DiscoveryFailed for any other URL, or one with a user, a fragment or no host; the text
    names the purpose of the URL, `what`.
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
    """Return scheme, host and port of a URL, as `https://host:port`, without the usual port.

    Raises DiscoveryFailed for a malformed URL.
    """
    parts = _split(url, "an address")
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{parts.port}"


def shown_host(url: str) -> str:
    """Return the host of a URL, as it is shown to a person before they visit it."""
    return urlsplit(url).netloc.rpartition("@")[2]


def is_loopback(host: str) -> bool:
    """Return True if a host's name, or its address, is this machine's loopback."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return place_of(host.strip("[]")) == "loopback"
    except ValueError:
        return False


_CARRIERS: Final[tuple[tuple[IPv6Network, Callable[[int], tuple[int, ...]]], ...]] = (
    (IPv6Network("::ffff:0:0/96"), lambda bits: (bits,)),  # mapped
    (IPv6Network("::ffff:0:0:0/96"), lambda bits: (bits,)),  # translated, RFC 2765
    (IPv6Network("::/96"), lambda bits: (bits,)),  # compatible, RFC 4291 section 2.5.5.1
    (IPv6Network("64:ff9b::/96"), lambda bits: (bits,)),  # NAT64, RFC 6052 section 2.1
    (IPv6Network("2002::/16"), lambda bits: (bits >> 80,)),  # 6to4, RFC 3056
    (
        IPv6Network("2001::/32"),
        lambda bits: (bits >> 64, ~bits),
    ),  # Teredo, RFC 4380: server, client
)
"""Networks whose addresses carry IPv4 addresses: where packets go is judged by those."""


def place_of(address: str) -> Place:
    """Return the kind of network an IP address belongs to. A mapped IPv4 address counts as the IPv4
    address.

    Raises ValueError for a malformed address.
    """
    plain = ip_address(address)
    if isinstance(plain, IPv6Address):
        plain = plain.ipv4_mapped or plain
    if carried := _embedded_ipv4(plain):
        return "public" if all(is_public(str(one)) for one in carried) else "special"
    for network, place in _NETWORKS:
        if plain in network:
            return place
    return "public" if plain.version == 4 or plain in _INTERNET else "special"


def _embedded_ipv4(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses in an IPv6 address. None are in `::` and `::1`."""
    if isinstance(address, IPv4Address) or int(address) <= 1:
        return ()
    for network, read in _CARRIERS:
        if address in network:
            return tuple(IPv4Address(bits & 0xFFFFFFFF) for bits in read(int(address)))
    return ()


def is_public(address: str) -> bool:
    """Return True if an IP address is one of the public internet.

    Private, loopback, link-local (cloud metadata among them), multicast, reserved and shared
    addresses are not, nor IPv6 addresses containing such an IPv4 address.
    """
    try:
        return place_of(address) == "public"
    except ValueError:
        return False


def require_near_page(url: str, server: str) -> None:
    """Refuse a page in a network of the person's, judged by the URL alone: a name is not resolved.

    Raises DiscoveryFailed if the page is on the loopback or in a private network, and `server` is
    not.
    """
    host, ours = urlsplit(url).hostname or "", urlsplit(server).hostname or ""
    place = _place_of_host(host)
    if place not in (None, "public") and _place_of_host(ours) != place:
        raise private_page(host, host)


def _place_of_host(host: str) -> Place | None:
    """Return the kind of network a host is in; None for a name that must be resolved first."""
    if is_loopback(host):
        return "loopback"
    try:
        return place_of(host)
    except ValueError:
        return None


def private_page(host: str, address: str) -> DiscoveryFailed:
    """Return the refusal of a sign-in page."""
    return DiscoveryFailed(
        f"the sign-in page at {host[:200]!r} is at {address[:200]}, which is not on the public"
        " internet; a server may not send you there; if the page is yours:"
        " allow_private_sign_in=True"
    )


def same_issuer(one: str, other: str) -> bool:
    """Return True if two issuers are one by RFC 3986: `https://a` and `https://A:443/` are."""
    return plain_issuer(one) == plain_issuer(other)


def plain_issuer(issuer: str) -> str:
    """Return an issuer in the form used to compare and to store it.

    Scheme and host in lower case, without the usual port, and without a path of `/` alone. A slash
    after a longer path stays. A text other than a URL is returned unchanged.
    Source: RFC 3986 sections 6.2.2.1 and 6.2.3.
    """
    try:
        parts, root = urlsplit(issuer), origin(issuer)
    except (DiscoveryFailed, ValueError):
        return issuer
    if not parts.hostname or "@" in parts.netloc:
        return issuer
    path = "" if parts.path == "/" else parts.path
    return root + urlunsplit(("", "", path, parts.query, parts.fragment))


def _short(url: str) -> str:
    return repr(url[:200])
