"""A client's document names itself at an https URL with a path."""

from __future__ import annotations

import json

import pytest

from mcp_runtime.auth.client.authorization_server.client_document import client_document
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.errors import DiscoveryFailed

URL = "https://app.example/client.json"


@pytest.mark.requirement("auth.cimd.fields")
@pytest.mark.requirement("auth.cimd.self-reference")
@pytest.mark.requirement("auth.cimd.draft-followed")
def test_a_document_has_what_it_must_and_names_itself() -> None:
    document = json.loads(
        client_document(URL, name="app", redirect_uris=["http://127.0.0.1/callback"])
    )
    assert document["client_id"] == URL
    assert document["client_name"] == "app"
    assert document["redirect_uris"] == ["http://127.0.0.1/callback"]
    assert document["application_type"] == "native"


@pytest.mark.requirement("auth.dcr.web")
def test_a_client_on_a_remote_host_is_a_web_client() -> None:
    document = client_document(URL, name="app", redirect_uris=["https://app.example/callback"])
    assert json.loads(document)["application_type"] == "web"


@pytest.mark.requirement("auth.cimd.url-form")
@pytest.mark.requirement("auth.cimd.https-hosted")
@pytest.mark.parametrize(
    "url",
    ["https://app.example", "https://app.example/", "http://localhost/c", "https://a/../c.json"],
)
def test_a_url_that_is_no_client_id_is_refused(url: str) -> None:
    with pytest.raises((ValueError, DiscoveryFailed)):
        OAuth(client_metadata_url=url)


@pytest.mark.requirement("auth.redirect.local-or-https")
def test_a_redirect_to_anywhere_else_is_refused() -> None:
    with pytest.raises(DiscoveryFailed):
        client_document(URL, name="app", redirect_uris=["http://app.example/callback"])
