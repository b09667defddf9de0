"""The scenarios of authorization: what the client under test is given, and how each must end."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_runtime.auth.client.authorization_server.client_authentication import KeyPair
from mcp_runtime.auth.client.grants import ClientCredentials, EnterpriseManaged, WorkloadIdentity
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.redirect import PastedRedirect, Visit
from mcp_runtime.auth.errors import (
    AuthorizationError,
    IssuerMismatch,
    RedirectRefused,
    ResourceMismatch,
)

__all__ = ["ENDS", "authorization"]

_DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"

ENDS: Final[Mapping[str, type[Exception]]] = {
    "auth/resource-mismatch": ResourceMismatch,
    "auth/scope-retry-limit": AuthorizationError,
    "auth/iss-supported-missing": RedirectRefused,
    "auth/iss-wrong-issuer": RedirectRefused,
    "auth/iss-unexpected": RedirectRefused,
    "auth/iss-normalized": RedirectRefused,
    "auth/metadata-issuer-mismatch": IssuerMismatch,
}
"""Scenarios in which the client must not get in, and the error by which it says so."""


def authorization(scenario: str, context: Mapping[str, Any], url: str) -> OAuth:
    """What a person who runs the client would configure for that scenario and server.

    Who got a secret knows from whom; the suite says so for one scenario alone.
    """
    given = _GIVEN.get(scenario, lambda _: {})(context)
    if "grant" in given:
        given["client_issuer"] = _issuer(url)
    if "grant" not in given:
        given = {"redirect": _Browser(), "client_metadata_url": _DOCUMENT, **given}
    return OAuth(client_name="conformance-client", **given)


def _issuer(url: str) -> str:
    """The authorization server that the suite has set up for its server."""
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    with urllib.request.urlopen(place, timeout=10) as answer:
        return str(json.load(answer)["authorization_servers"][0])


def _machine(context: Mapping[str, Any]) -> dict[str, Any]:
    pem = context.get("private_key_pem")
    key = KeyPair(pem, context["signing_algorithm"]) if pem else None
    secret = context.get("client_secret")
    return {
        "grant": ClientCredentials(client_id=context["client_id"], client_secret=secret, key=key)
    }


def _employer(context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "grant": EnterpriseManaged(
            client_id=context["client_id"],
            client_secret=context["client_secret"],
            idp_client_id=context["idp_client_id"],
            idp_token_endpoint=context["idp_token_endpoint"],
            id_token=lambda: str(context["idp_id_token"]),
        )
    }


def _workload(context: Mapping[str, Any]) -> dict[str, Any]:
    jwt = str(context["valid_jwt"])
    return {"grant": WorkloadIdentity(client_id=context["client_id"], jwt=lambda: jwt)}


def _registered(context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "client_id": context["client_id"],
        "client_secret": context["client_secret"],
        "client_issuer": context["issuer"],
    }


_GIVEN: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "auth/pre-registration": _registered,
    "auth/client-credentials-jwt": _machine,
    "auth/client-credentials-basic": _machine,
    "auth/enterprise-managed-authorization": _employer,
    "auth/wif-jwt-bearer": _workload,
}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *request: Any, **options: Any) -> None:
        return None


class _Browser:
    """A person who agrees to everything: the page redirects at once, and nobody listens there."""

    @asynccontextmanager
    async def __call__(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        pages: list[str] = []
        uri = preferred or "http://localhost:3333/callback"
        pasted = PastedRedirect(lambda url, _: pages.append(url), lambda: _visited(pages), uri=uri)
        async with pasted(preferred) as visit:
            yield visit


def _visited(pages: list[str]) -> str:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(pages.pop(), timeout=10):
            return ""
    except urllib.error.HTTPError as answer:
        return str(answer.headers["Location"])
