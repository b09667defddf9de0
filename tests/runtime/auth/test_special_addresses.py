"""Where each kind of address leads is told by our own table, whatever the version of Python."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final

import pytest

from mcp_runtime.auth.addresses import is_loopback, is_public, place_of

NOT_PUBLIC: Final = {
    "this network": "0.0.0.0/8",
    "private 10": "10.0.0.0/8",
    "shared": "100.64.0.0/10",
    "loopback": "127.0.0.0/8",
    "link-local and metadata": "169.254.0.0/16",
    "private 172": "172.16.0.0/12",
    "protocol assignments": "192.0.0.0/24",
    "documentation 1": "192.0.2.0/24",
    "6to4 relays": "192.88.99.0/24",
    "private 192": "192.168.0.0/16",
    "benchmarks": "198.18.0.0/15",
    "documentation 2": "198.51.100.0/24",
    "documentation 3": "203.0.113.0/24",
    "multicast": "224.0.0.0/4",
    "reserved": "240.0.0.0/4",
    "unspecified": "::/128",
    "loopback 6": "::1/128",
    "local NAT64": "64:ff9b:1::/48",
    "discard": "100::/64",
    "dummy": "100:0:0:1::/64",
    "benchmarks 6": "2001:2::/48",
    "old ORCHID": "2001:10::/28",
    "ORCHID": "2001:20::/28",
    "documentation 6": "2001:db8::/32",
    "new documentation 6": "3fff::/20",
    "segment routing": "5f00::/16",
    "not allocated": "4000::/3",
    "unique local": "fc00::/7",
    "link-local 6": "fe80::/10",
    "site-local": "fec0::/10",
    "multicast 6": "ff00::/8",
}
INSIDE: Final = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "0.0.0.0", "100.64.0.1")
OUTSIDE: Final = ("8.8.8.8", "1.1.1.1", "198.17.255.255", "172.32.0.0", "100.128.0.0")


def number(address: str) -> int:
    return int(IPv4Address(address))


CARRIERS: Final = {
    "mapped": lambda v4: 0xFFFF << 32 | v4,
    "translated": lambda v4: 0xFFFF << 48 | v4,
    "compatible": lambda v4: v4,
    "NAT64": lambda v4: 0x64FF9B << 96 | v4,
    "6to4": lambda v4: 0x2002 << 112 | v4 << 80 | 1,
    "Teredo client": lambda v4: 0x20010000 << 96 | number("8.8.4.4") << 64 | v4 ^ 0xFFFFFFFF,
    "Teredo server": lambda v4: 0x20010000 << 96 | v4 << 64 | number("8.8.4.4") ^ 0xFFFFFFFF,
}


@pytest.mark.parametrize("network", NOT_PUBLIC.values(), ids=NOT_PUBLIC.keys())
def test_no_address_of_a_special_network_is_public(network: str) -> None:
    whole = ip_network(network)
    middle = whole[whole.num_addresses // 2]
    assert not any(is_public(str(one)) for one in (whole[0], middle, whole[-1]))


@pytest.mark.parametrize("network", ["8.0.0.0/7", "1.0.0.0/8", "2606:4700::/32", "2a00::/12"])
def test_addresses_of_the_internet_are_public(network: str) -> None:
    whole = ip_network(network)
    assert is_public(str(whole[0]))
    assert is_public(str(whole[-1]))


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("carried", [*INSIDE, *OUTSIDE])
def test_an_ipv6_address_that_carries_an_ipv4_address_is_judged_by_it(
    carrier: str, carried: str
) -> None:
    if (carrier, carried) == ("compatible", "0.0.0.0"):
        carried = "0.0.0.9"  # `::` itself carries nothing
    address = IPv6Address(CARRIERS[carrier](number(carried)))
    assert is_public(str(address)) == (carried in OUTSIDE), address


@pytest.mark.parametrize("address", ["64:ff9b:1::808:808", "64:ff9b:1:7f00:1::", "fe80::1%eth0"])
def test_what_only_one_network_knows_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("host", ["2002:7f00:1::", "64:ff9b::7f00:1", "::7f00:1", "0.0.0.0"])
def test_only_addresses_that_stay_on_this_machine_are_the_loopback(host: str) -> None:
    assert not is_loopback(host)
    assert place_of("::ffff:127.9.9.9") == "loopback"
