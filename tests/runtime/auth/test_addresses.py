"""Which URLs and addresses a server may name: the attacks of the security page are refused."""

from __future__ import annotations

import pytest

from mcp_runtime.auth.addresses import is_loopback, is_public, origin, require_secure
from mcp_runtime.auth.errors import DiscoveryFailed


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
        *("64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::"),
        "not an address",
    ],
)
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("https://a.example", "https://a.example:8443/x?y", "http://localhost:1/x"),
        *("http://127.0.0.1:8080", "http://[::1]:80/", "http://app.localhost/"),
    ],
)
@pytest.mark.requirement("security.ssrf.https")
@pytest.mark.requirement("security.url.schemes-allowed")
def test_https_and_the_loopback_are_secure(url: str) -> None:
    assert require_secure(url, "it") == url


@pytest.mark.parametrize(
    "url",
    [
        *("http://a.example", "ftp://a.example", "javascript:alert(1)", "file:///etc/passwd", ""),
        *("https://", "https:///x", "https://u:p@a.example", "https://a.example/#x"),
        *("https://a.example/\n", "https://a.exämple", "https://a.example:99999", "//a.example"),
        *("http://127.0.0.1.evil.example", "http://localhost.evil.example", "https://a b"),
        "http://127.0.0.1%evil.example",
        "https://" + "a" * 5000,
    ],
)
@pytest.mark.requirement("security.url.sanitized")
@pytest.mark.requirement("security.url.dangerous-refused")
@pytest.mark.requirement("security.url.allowlist")
def test_a_url_that_misleads_is_refused(url: str) -> None:
    with pytest.raises(DiscoveryFailed, match="the page"):
        require_secure(url, "the page")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://A.Example:443/x", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("https://a.example:80/", "https://a.example:80"),
        ("http://[::1]:8000/x", "http://[::1]:8000"),
    ],
)
def test_an_origin_has_no_usual_port(url: str, expected: str) -> None:
    assert origin(url) == expected


def test_only_whole_names_are_the_loopback() -> None:
    hosts = ("LOCALHOST.", "127.9.9.9", "::ffff:127.0.0.1", "localhost.example", "10.0.0.1")
    assert [host for host in hosts if is_loopback(host)] == [*hosts[:3]]
