"""The TLS of clients that were given none."""

from __future__ import annotations

import ssl

import pytest

from mcp_runtime.transports.tls import default_tls


def test_every_client_has_one_that_checks_certificates_against_those_of_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "no such file")
    default_tls.cache_clear()
    context = default_tls()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.cert_store_stats()["x509_ca"] > 0
    assert default_tls() is context
