"""A secret, or an assertion, goes to the authorization server that it is for, and to no other.

Any server can name an authorization server of its own: without `client_issuer`, or tokens of an
earlier sign-in, nothing that proves who the client is leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mcp_runtime.auth.addresses import plain_issuer, same_issuer
from mcp_runtime.auth.client.authorization_server.client_authentication import KeyPair
from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.grants import ClientCredentials, EnterpriseManaged, WorkloadIdentity
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.errors import IssuerMismatch, IssuerNeeded, RegistrationRefused
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from tests.support.authorization_server import ISSUER, SERVER, Clock, World, refused, reply

SECRET: Final = "TOP-SECRET-1"
EVIL: Final = "https://as.evil.example"
PEM: Final = (
    ec.generate_private_key(ec.SECP256R1())
    .private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    .decode()
)
SHOWN: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "a machine's secret": lambda: {
        "grant": ClientCredentials(client_id="job", client_secret=SECRET)
    },
    "a machine's posted secret": lambda: {
        "grant": ClientCredentials(
            client_id="job", client_secret=SECRET, auth_method="client_secret_post"
        )
    },
    "a machine's key": lambda: {"grant": ClientCredentials(client_id="job", key=KeyPair(PEM))},
    "a workload's JWT": lambda: {"grant": WorkloadIdentity(jwt=lambda: SECRET, client_id="w")},
    "an employer's grant": lambda: {
        "grant": EnterpriseManaged(
            client_id="job",
            idp_token_endpoint="https://idp.example/token",
            idp_client_id="c",
            id_token=lambda: SECRET,
        )
    },
    "the secret of a person's client": lambda: {"client_id": "job", "client_secret": SECRET},
}


def world(issuer: str = EVIL, **settings: Any) -> World:
    made = World(issuer=issuer, iss=settings.pop("iss", issuer), **settings)
    id_jag = {
        "access_token": SECRET,
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    }
    made.places["https://idp.example/token"] = lambda _: reply(id_jag)
    return made


def client(served: World, **settings: Any) -> Authorizer:
    return Authorizer(OAuth(redirect=served.redirect, now=Clock(), **settings), SERVER, served)


async def sign_in(authorizer: Authorizer) -> str:
    await authorizer.recover(refused(), SERVER, await authorizer.headers("POST", SERVER))
    return (await authorizer.headers("POST", SERVER))["Authorization"]


def auth_requests(served: World) -> list[AuthRequest]:
    """The requests to any authorization server but those for its metadata."""
    return [one for one in served.requests if one.method != "GET"]


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN.keys())
async def test_without_its_issuer_nothing_secret_is_sent(
    shown: Callable[[], dict[str, Any]],
) -> None:
    served = world()
    with pytest.raises(IssuerNeeded, match=r"write OAuth\(client_issuer='https://as\.evil\.exam"):
        await sign_in(client(served, **shown()))
    assert auth_requests(served) == []
    assert served.visited == []
    assert SECRET not in repr([(r.url, r.headers, r.body) for r in served.requests])


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN.keys())
async def test_with_its_issuer_it_is_sent_there_and_nowhere_else(
    shown: Callable[[], dict[str, Any]],
) -> None:
    good, evil = world(ISSUER), world()
    assert await sign_in(client(good, client_issuer=ISSUER, **shown()))
    with pytest.raises(RegistrationRefused, match="known to"):
        await sign_in(client(evil, client_issuer=ISSUER, **shown()))
    assert auth_requests(evil) == []


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN.keys())
async def test_an_earlier_sign_in_says_whose_client_it_is(
    shown: Callable[[], dict[str, Any]],
) -> None:
    storage, good, evil = MemoryStorage(), world(ISSUER), world()
    await sign_in(client(good, client_issuer=ISSUER, storage=storage, **shown()))
    assert await sign_in(client(good, storage=storage, **shown()))
    with pytest.raises(RegistrationRefused, match=r"https://as\.evil\.example"):
        await sign_in(client(evil, storage=storage, **shown()))
    assert auth_requests(evil) == []


async def test_the_sign_in_of_another_client_says_nothing() -> None:
    """Somebody tried a hostile server before, without a secret, and kept the tokens."""
    storage, evil = MemoryStorage(), world()
    await sign_in(client(evil, storage=storage))
    evil.requests.clear()
    with pytest.raises(IssuerNeeded):
        await sign_in(client(evil, storage=storage, client_id="job", client_secret=SECRET))
    assert auth_requests(evil) == []


async def test_a_client_without_a_secret_needs_no_issuer() -> None:
    assert await sign_in(client(world(), client_id="public"))
    assert await sign_in(client(world()))


# ---- an issuer that states to be another


def impostor() -> World:
    """A hostile authorization server whose metadata names the good one."""
    return world(metadata={"issuer": ISSUER}, iss=ISSUER)


async def test_who_states_our_issuer_elsewhere_gets_no_secret() -> None:
    served = impostor()
    grant = ClientCredentials(client_id="job", client_secret=SECRET)
    with pytest.raises(IssuerMismatch):
        await sign_in(client(served, grant=grant, client_issuer=ISSUER))
    lenient = client(served, grant=grant, client_issuer=ISSUER, allow_issuer_mismatch=True)
    with pytest.raises(RegistrationRefused, match="known to"):
        await sign_in(lenient)
    assert auth_requests(served) == []


async def test_who_states_our_issuer_elsewhere_gets_no_refresh_token_and_no_registration() -> None:
    storage, good, evil = MemoryStorage(), World(), impostor()
    good.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    await sign_in(client(good, storage=storage, allow_issuer_mismatch=True))
    (refresh_token,) = good.refresh_tokens
    later = client(evil, storage=storage, allow_issuer_mismatch=True)
    await sign_in(later)
    seen = repr([(r.url, r.headers, r.body) for r in evil.requests])
    assert refresh_token not in seen
    assert not [one for one in auth_requests(evil) if "Authorization" in one.headers]
    assert "client_secret" not in seen
    assert [fields["grant_type"] for fields in evil.token_fields] == ["authorization_code"]


async def test_a_tenant_that_states_its_own_name_at_our_origin_is_ours() -> None:
    """Some authorization servers name the tenant where the address names all of them."""
    tenant = f"{ISSUER}/tenant"
    served = world(f"{ISSUER}/common", metadata={"issuer": tenant}, iss=tenant)
    grant = ClientCredentials(client_id="job", client_secret=SECRET)
    for issuer in (tenant, f"{ISSUER}/common"):
        settings = {"client_issuer": issuer, "allow_issuer_mismatch": True}
        assert await sign_in(client(served, grant=grant, **settings))


# ---- one issuer, written in several ways


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example", "https://a.example/"),
        ("https://a.example/", "HTTPS://A.Example:443"),
        ("https://a.example:443/x", "https://a.example/x"),
        ("http://127.0.0.1:80/", "http://127.0.0.1"),
        ("https://[2606:4700::1]/", "https://[2606:4700::1]"),
    ],
)
def test_issuers_that_rfc_3986_makes_one_are_one(one: str, other: str) -> None:
    assert same_issuer(one, other)
    assert plain_issuer(one) == plain_issuer(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "https://a.example/x/"),
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example", "http://a.example"),
        ("https://a.example", "https://a.example:8443"),
        ("https://a.example", "https://a.example//"),
        ("https://a.example/?x", "https://a.example/?X"),
        ("https://a.example", "https://u@a.example"),
        ("https://a.example", "a.example"),
        ("https://a.example", ""),
    ],
)
def test_other_issuers_are_not(one: str, other: str) -> None:
    assert not same_issuer(one, other)


@pytest.mark.parametrize("named", [f"{ISSUER}/", "HTTPS://AS.example", f"{ISSUER}:443"])
async def test_a_server_may_write_its_issuer_in_another_way(named: str) -> None:
    storage = MemoryStorage()
    served = World(protected={"authorization_servers": [named]})
    for _ in range(2):
        settings = {"client_issuer": f"{ISSUER}/", "client_id": "job", "client_secret": SECRET}
        assert await sign_in(client(served, storage=storage, **settings))
    assert len(served.visited) == 1, "the second one refreshes: the tokens are of the same issuer"


async def test_the_issuer_in_a_redirect_is_compared_letter_by_letter() -> None:
    """Source: RFC 9207 section 2.4, simple string comparison."""
    from mcp_runtime.auth.errors import RedirectRefused

    with pytest.raises(RedirectRefused, match="iss"):
        await sign_in(client(World(iss=f"{ISSUER}/")))


# ---- what is asked for again


async def test_a_refresh_asks_for_the_scopes_that_were_granted() -> None:
    served = World(grants=("api/mcp", "offline_access"))
    one = client(served, scopes=("api/mcp", "more"))
    await sign_in(one)
    served.valid.clear()
    sent = await one.headers("POST", SERVER)
    one.accepted(sent)
    await one.recover(refused(error="invalid_token"), SERVER, sent)
    fields = served.token_fields[-1]
    assert fields["grant_type"] == "refresh_token"
    assert fields["scope"] == "api/mcp offline_access"


async def test_a_refresh_whose_scopes_are_refused_asks_for_none() -> None:
    served = World(grants=("a",))
    real = served.places[f"{ISSUER}/token"]

    def picky(request: AuthRequest) -> AuthResponse:
        if b"refresh_token&" in request.body and b"scope=" in request.body:
            return reply({"error": "invalid_scope"}, 400)
        return real(request)

    served.places[f"{ISSUER}/token"] = picky
    one = client(served)
    await sign_in(one)
    sent = await one.headers("POST", SERVER)
    one.accepted(sent)
    await one.recover(refused(error="invalid_token"), SERVER, sent)
    assert served.token_fields[-1]["grant_type"] == "refresh_token"
    assert len(served.visited) == 1
