"""A client finds out who issues tokens for a server, in the order of the pages, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime.auth.client.authorization_server.discovery import Discovered, discover
from mcp_runtime.auth.errors import DiscoveryFailed, IssuerMismatch, ResourceMismatch
from mcp_runtime.auth.messages import AuthRequest, AuthResponse, Flow
from mcp_runtime.revisions import LATEST
from tests.support.authorization_server import ISSUER, SERVER, World, reply

HOST = "https://mcp.example"


async def run(flow: Flow[Any], world: World) -> Any:
    """A flow to its end."""
    step = next(flow)
    while True:
        assert isinstance(step, AuthRequest)
        try:
            step = flow.send(await world(step))
        except StopIteration as done:
            return done.value


async def discovered(world: World, named: str | None = None, **options: Any) -> Discovered:
    result: Discovered = await run(discover(SERVER, named, **options), world)
    return result


@pytest.mark.requirement("auth.prm.client")
@pytest.mark.requirement("auth.prm.client-both")
@pytest.mark.requirement("auth.challenge.parsed")
async def test_the_place_in_the_challenge_is_asked_first() -> None:
    world = World()
    place = f"{HOST}/custom/place.json"
    world.places[place] = lambda _: reply(world.protected_metadata)
    assert (await discovered(world, place)).server.issuer == ISSUER
    assert world.asked == [place, f"{ISSUER}/.well-known/oauth-authorization-server"]


@pytest.mark.requirement("auth.prm.client-order")
async def test_without_one_the_path_is_asked_before_the_root() -> None:
    world = World(resource=HOST)
    result = await discovered(world)
    assert world.asked[:2] == [
        f"{HOST}/.well-known/oauth-protected-resource/mcp",
        f"{HOST}/.well-known/oauth-protected-resource",
    ]
    assert result.resource == HOST


async def test_the_root_is_not_asked_where_the_path_answers() -> None:
    world = World()
    await discovered(world)
    assert f"{HOST}/.well-known/oauth-protected-resource" not in world.asked


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (ISSUER, ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]),
        (
            f"{ISSUER}/tenant",
            [
                "/.well-known/oauth-authorization-server/tenant",
                "/.well-known/openid-configuration/tenant",
                "/tenant/.well-known/openid-configuration",
            ],
        ),
    ],
)
@pytest.mark.requirement(
    "auth.asm.order-with-path",
    "auth.asm.order-without-path",
    "auth.asm.several-places",
    "auth.asm.client-both",
    "auth.discovery.client-metadata",
)
async def test_an_issuer_is_asked_at_its_places_in_order(issuer: str, places: list[str]) -> None:
    world = World(issuer=issuer)
    del world.places[f"{ISSUER}{places[0]}"]
    world.places[f"{ISSUER}{places[-1]}"] = lambda _: reply(world.server_metadata)
    await discovered(world)
    assert [url.removeprefix(ISSUER) for url in world.asked[1:]] == places


@pytest.mark.requirement(
    "auth.discovery.base-url", "auth.discovery.metadata-first", "auth.discovery.well-known-at-root"
)
async def test_a_server_without_metadata_is_its_own_issuer() -> None:
    world = World(issuer=HOST, protected=None)
    assert (await discovered(world)).server.token_endpoint == f"{HOST}/token"


@pytest.mark.requirement("auth.discovery.default-paths.client")
async def test_without_any_metadata_the_paths_are_fixed() -> None:
    world = World(issuer=HOST, protected=None)
    world.places.clear()
    server = (await discovered(world)).server
    assert server.authorization_endpoint == f"{HOST}/authorize"
    assert server.registration_endpoint == f"{HOST}/register"
    assert server.has_pkce


@pytest.mark.requirement("auth.asm.issuer-checked")
@pytest.mark.requirement("auth.asm.issuer-differs")
async def test_an_issuer_that_differs_is_refused_and_both_are_named() -> None:
    world = World(issuer=f"{ISSUER}/x", metadata={"issuer": f"{ISSUER}/x/"})
    with pytest.raises(IssuerMismatch) as caught:
        await discovered(world)
    assert f"issuer in the metadata is '{ISSUER}/x/'" in str(caught.value)
    assert f"says '{ISSUER}/x', which differ in the slash at the end alone" in str(caught.value)


@pytest.mark.parametrize("issuer", [HOST, f"{HOST}/"])
async def test_an_issuer_at_the_origin_that_nobody_named_may_end_in_a_slash(issuer: str) -> None:
    world = World(issuer=HOST, protected=None, metadata={"issuer": issuer})
    assert (await discovered(world)).server.issuer == issuer
    world.metadata["issuer"] = f"{HOST}//"
    with pytest.raises(IssuerMismatch):
        await discovered(world)


async def test_a_mismatch_is_taken_only_on_request() -> None:
    world = World(metadata={"issuer": f"{ISSUER}/x"})
    assert (await discovered(world, allow_issuer_mismatch=True)).server.issuer == f"{ISSUER}/x"


async def test_a_slash_at_the_end_of_the_resource_is_sent_as_it_was_written() -> None:
    world = World(protected={"resource": f"{SERVER}/"})
    assert (await discovered(world)).resource == f"{SERVER}/"


async def test_a_page_at_a_place_of_metadata_is_no_metadata() -> None:
    """Some hosts answer each path with the page of their application."""
    world = World(issuer=HOST, protected=None)
    page = AuthResponse(200, {"content-type": "text/html; charset=utf-8"}, b"<!doctype html>")
    world.places[f"{HOST}/.well-known/oauth-protected-resource/mcp"] = lambda _: page
    assert (await discovered(world)).server.issuer == HOST


async def test_a_place_of_metadata_that_is_in_trouble_is_named() -> None:
    world = World()
    place = f"{ISSUER}/.well-known/oauth-authorization-server"
    world.places[place] = lambda _: reply({}, 503)
    with pytest.raises(DiscoveryFailed, match=f"{place} answers HTTP 503"):
        await discovered(world)


def test_a_byte_order_mark_before_a_document_is_left_out() -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        assert AuthResponse(200, {}, mark + b'{"issuer":"a"}').members() == {"issuer": "a"}
    assert AuthResponse(200, {}, b"\xff\xfe{}").members() is None


async def test_a_member_that_is_null_is_left_out() -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("scopes_supported", "dpop_bound_access_tokens_required")
    )
    unsaid: dict[str, Any] = dict.fromkeys(
        ("client_id_metadata_document_supported", "scopes_supported")
    )
    discovery = await discovered(World(protected=nothing, metadata=unsaid))
    assert (discovery.scopes, discovery.dpop_required) == (None, False)
    assert not discovery.server.client_id_metadata_document_supported


@pytest.mark.parametrize(
    "resource",
    [
        *("https://evil.example/mcp", f"{HOST}/other", f"{HOST}/mc", f"{SERVER}#x", "urn:x"),
        *(f"{SERVER}/deeper", "http://mcp.example/mcp", "https://mcp.example:8443/mcp", ""),
    ],
)
async def test_metadata_of_another_resource_is_refused(resource: str) -> None:
    world = World(protected={"resource": resource})
    with pytest.raises(ResourceMismatch, match="resource in the metadata"):
        await discovered(world)


@pytest.mark.parametrize(
    ("protected", "metadata"),
    [
        ({"authorization_servers": []}, {}),
        ({"authorization_servers": ["http://as.example"]}, {}),
        ({"authorization_servers": ["javascript:alert(1)"]}, {}),
        ({"authorization_servers": "x"}, {}),
        ({}, {"token_endpoint": "http://as.example/token"}),
        ({}, {"authorization_endpoint": "file:///etc/passwd"}),
        ({}, {"registration_endpoint": "https://a@b.example/"}),
        ({}, {"token_endpoint": 3}),
    ],
)
async def test_metadata_that_misleads_is_refused(
    protected: dict[str, Any], metadata: dict[str, Any]
) -> None:
    with pytest.raises(DiscoveryFailed):
        await discovered(World(protected=protected, metadata=metadata))


async def test_a_server_in_trouble_is_not_one_without_metadata() -> None:
    world = World()
    world.places[f"{HOST}/.well-known/oauth-protected-resource/mcp"] = lambda _: reply({}, 503)
    with pytest.raises(DiscoveryFailed, match="503"):
        await discovered(world)


async def test_a_challenge_cannot_name_a_place_that_is_not_secure() -> None:
    with pytest.raises(DiscoveryFailed, match="https"):
        await discovered(World(), "http://internal.example/metadata")


@pytest.mark.requirement("auth.discovery.version-header")
async def test_metadata_is_asked_for_with_the_revision() -> None:
    world = World()
    await discovered(world)
    request = next(r for r in world.requests if "authorization-server" in r.url)
    assert request.headers["MCP-Protocol-Version"] == LATEST


@pytest.mark.requirement("auth.resource.case-tolerant")
async def test_the_case_of_a_host_makes_no_difference() -> None:
    world = World(protected={"resource": "HTTPS://MCP.example/mcp"})
    assert (await discovered(world)).resource == "HTTPS://MCP.example/mcp"


@pytest.mark.requirement("auth.token.not-in-query")
async def test_no_url_of_a_flow_has_a_token_in_it() -> None:
    world = World()
    await discovered(world)
    assert all("token=" not in url and "code=" not in url for url in world.asked)
