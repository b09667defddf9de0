"""Secrets are planted wherever one may stand, and are found in nothing that is said."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

import pytest

from mcp_runtime import Client
from mcp_runtime.auth.client.auth_trace import request_line, response_line
from mcp_runtime.auth.client.authorization_server.client_authentication import KeyPair
from mcp_runtime.auth.client.authorization_server.registered import ClientRegistration
from mcp_runtime.auth.client.authorization_server.tokens import TokenSet
from mcp_runtime.auth.client.flows.authorization_code import CodeRequest, read_redirect
from mcp_runtime.auth.client.grants import ClientCredentials, EnterpriseManaged, WorkloadIdentity
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.storage import FileStorage, MemoryStorage
from mcp_runtime.auth.errors import OAuthError
from mcp_runtime.auth.messages import Authorize, AuthRequest, AuthResponse
from mcp_runtime.auth.server.introspection import IntrospectionVerifier
from mcp_runtime.auth.server.verifier import CachedVerifier, StaticVerifier, VerifiedToken
from mcp_runtime.errors import SessionError
from mcp_runtime.revisions import ALL
from tests.runtime.auth.test_authorizer import authorizer, signed_in
from tests.runtime.auth.test_protected_server import serving, text
from tests.support.authorization_server import ISSUER, SERVER, Clock, World, refused, reply

CANARY: Final = "c4n4ry-5ecret"


@contextmanager
def listening() -> Iterator[StringIO]:
    """All that is logged meanwhile, whoever logs it and however fine."""
    said, root = StringIO(), logging.getLogger()
    handler, before = logging.StreamHandler(said), root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield said
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def shown(error: BaseException) -> str:
    """An exception with its causes, as a log has it; its attributes too."""
    return "".join(traceback.format_exception(error)) + repr(vars(error))


# ---- values


class Careless:
    """A part that a user wrote, whose representation holds a secret."""

    def __repr__(self) -> str:
        return CANARY


CARELESS: Final[Any] = Careless()

VALUES: Final[list[object]] = [
    TokenSet(access_token=CANARY, refresh_token=CANARY, issuer=ISSUER, resource=SERVER),
    ClientRegistration(client_id="c", client_secret=CANARY),
    ClientCredentials(client_id="c", client_secret=CANARY),
    WorkloadIdentity(client_id="c", jwt=lambda: CANARY),
    EnterpriseManaged(
        client_id="c",
        client_secret=CANARY,
        idp_token_endpoint=ISSUER,
        idp_client_id="c",
        idp_client_secret=CANARY,
        id_token=lambda: CANARY,
    ),
    OAuth(client_id="c", client_secret=CANARY, storage=CARELESS, redirect=CARELESS),
    OAuth(grant=CARELESS),
    KeyPair(CANARY),
    AuthRequest("POST", ISSUER, "", {"Authorization": CANARY}, CANARY.encode()),
    AuthResponse(200, {"set-cookie": CANARY}, CANARY.encode()),
    Authorize(f"{ISSUER}?state={CANARY}", "as.example"),
    CodeRequest(f"{ISSUER}?x={CANARY}", CANARY, CANARY, "http://127.0.0.1/", ISSUER, True),
    VerifiedToken(subject="ann", issuer=ISSUER, claims={"secret": CANARY}),
    StaticVerifier({CANARY: VerifiedToken(subject="ann", issuer=ISSUER)}, stderr=StringIO()),
    CachedVerifier(StaticVerifier({CANARY: VerifiedToken(subject="a", issuer="b")}), Clock()),
    MemoryStorage(),
    FileStorage("/nowhere"),
    IntrospectionVerifier(
        ISSUER,
        issuer=ISSUER,
        audience=SERVER,
        client_id="c",
        client_secret=CANARY,
        fetch=World(),
    ),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_that_holds_a_secret_does_not_show_it(value: object) -> None:
    assert CANARY not in f"{value!r} {value}"


# ---- steps

MEMBERS: Final = (
    *("access_token", "refresh_token", "id_token", "client_secret", "code", "code_verifier"),
    *("assertion", "client_assertion", "subject_token", "password", "state", "code_challenge"),
    *("registration_access_token", "dpop_jkt", "username", "token", "a_name_of_next_year"),
)


@pytest.mark.parametrize("name", MEMBERS)
def test_a_step_masks_a_secret_in_every_member(name: str) -> None:
    fields = {name: CANARY, "grant_type": "authorization_code"}
    body, kind = urlencode(fields).encode(), "application/x-www-form-urlencoded"
    written = json.dumps({**fields, "nested": {name: CANARY}, "issuer": ISSUER}).encode()
    url = f"https://user:{CANARY}@as.example/authorize?{quote(name)}={CANARY}#{name}={CANARY}"
    lines = [
        request_line(AuthRequest("POST", url, "asks", {"Content-Type": kind}, body)),
        request_line(
            AuthRequest("POST", url, "asks", {"Content-Type": "application/json"}, written)
        ),
        response_line(AuthResponse(200, {}, written)),
        response_line(AuthResponse(400, {}, CANARY.encode())),
    ]
    assert CANARY not in "\n".join(lines)
    assert "grant_type='authorization_code'" in lines[0]
    assert f"issuer='{ISSUER}'" in lines[2]


# ---- exceptions


@pytest.mark.parametrize(
    "answer",
    [
        {"access_token": CANARY},
        {"access_token": CANARY, "token_type": "mac"},
        {"access_token": f"{CANARY}\n", "token_type": "Bearer"},
        {"access_token": CANARY, "token_type": "Bearer", "expires_in": "soon"},
        {"access_token": CANARY, "token_type": "DPoP"},
        [CANARY],
        CANARY,
    ],
)
async def test_an_answer_of_the_token_endpoint_is_not_quoted(answer: Any) -> None:
    world, lines = World(), list[str]()
    world.places[f"{ISSUER}/token"] = lambda _: reply(answer)
    with listening() as said, pytest.raises(SessionError) as caught:
        await signed_in(authorizer(world, report=lines.append))
    assert CANARY not in said.getvalue() + shown(caught.value) + "\n".join(lines)


@pytest.mark.parametrize(
    "query",
    [
        f"code={CANARY}&state=other",
        f"code={CANARY}&state=state&iss=https://evil.example",
        f"code={CANARY}&code={CANARY}&state=state",
        f"code=&state={CANARY}",
    ],
)
def test_a_redirect_that_is_refused_is_not_quoted(query: str) -> None:
    asked = CodeRequest(ISSUER, "state", CANARY, "http://127.0.0.1/", ISSUER, True)
    with pytest.raises(SessionError) as caught:
        read_redirect(asked, f"http://127.0.0.1/?{query}")
    assert CANARY not in shown(caught.value)


# ---- a whole conversation


@pytest.mark.parametrize("revision", [ALL[0], ALL[-2], ALL[-1]])
@pytest.mark.parametrize("dpop", [False, True])
async def test_no_secret_is_said_anywhere(
    revision: str, dpop: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Signed in, renewed, stepped up, refused: what is logged, reported, traced and raised."""
    lines, wire = list[str](), list[str]()
    with listening() as said:
        async with serving() as issuer:
            world = issuer.world
            auth = OAuth(redirect=world.redirect, dpop=dpop, report=lines.append)
            client = Client.http(
                world.resource,
                auth=auth,
                revisions=[revision],
                trace=lambda *event: wire.append(repr(event)),
            )
            async with client as who:
                await text(who, "whoami")
                world.valid.clear()
                await text(who, "whoami")
                with pytest.raises(SessionError) as caught:
                    await text(who, "change")
                wire.append(shown(caught.value) + repr(who) + repr(auth) + repr(vars(who)))
    captured = capsys.readouterr()
    text_of_all = "\n".join([*lines, *wire, said.getvalue(), captured.out, captured.err])
    secrets = {*world.scopes, *world.refresh_tokens}
    for fields in world.token_fields:
        secrets |= {fields[n] for n in ("code", "code_verifier", "refresh_token") if n in fields}
    secrets |= {visited["state"] for visited in world.visited}
    secrets |= {each.headers["DPoP"] for each in world.requests if "DPoP" in each.headers}
    assert len(secrets) > 6
    assert wire
    assert [secret for secret in secrets if secret in text_of_all] == []
    assert any("HTTP 200" in line for line in lines)


async def test_a_refused_token_is_not_said_by_the_server(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with serving() as issuer:
        with listening() as said:
            headers = {"Authorization": f"Bearer {CANARY}"}
            with pytest.raises(SessionError) as caught:
                async with Client.http(issuer.world.resource, headers=headers):
                    pass
    captured = capsys.readouterr()
    assert CANARY not in said.getvalue() + captured.out + captured.err + shown(caught.value)


async def test_a_challenge_that_quotes_a_secret_is_shown_masked() -> None:
    """A careless server repeats the token that it refuses."""
    lines: list[str] = []
    world = World()
    client = authorizer(world, report=lines.append)
    first = await signed_in(client)
    challenge = refused(error="invalid_token", error_description=f"token {first} is over")
    await client.recover(challenge, SERVER, {"Authorization": f"Bearer {first}"})
    assert first not in "\n".join(lines)


@pytest.mark.parametrize("field", ["code", "code_verifier", "refresh_token"])
async def test_an_error_that_repeats_what_was_sent_is_shown_without_it(field: str) -> None:
    world, lines = World(), list[str]()
    client = authorizer(world, report=lines.append)
    place = f"{ISSUER}/token"
    endpoint, sent = world.places[place], list[str]()

    def echo(request: AuthRequest) -> AuthResponse:
        value = dict(parse_qsl(request.body.decode())).get(field)
        if value is None:
            return endpoint(request)
        sent.append(value)
        return reply({"error": "invalid_grant", "error_description": f"unknown: {value}"}, 400)

    world.places[place] = echo
    if field == "refresh_token":
        await signed_in(client)
        client_headers = await client.headers("POST", SERVER)
        assert await client.recover(refused(), SERVER, client_headers)
    else:
        with pytest.raises(OAuthError, match=r"unknown: \*\*\*") as caught:
            await signed_in(client)
        assert sent[0] not in shown(caught.value)
    assert sent
    assert not [line for line in lines if sent[0] in line]


async def test_a_step_is_one_line_whatever_the_peer_names_its_members() -> None:
    world, lines = World(metadata={"a\n\x1b[2Jb": 1}), list[str]()
    await signed_in(authorizer(world, report=lines.append))
    assert [line for line in lines if "[2Jb=***" in line]
    assert all(line.isprintable() for line in lines)
