"""Attacks of more than one step, and the table of threats in docs/THREATS.md, whose tests exist."""

from __future__ import annotations

import ast
import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pytest

from mcp_runtime import Client
from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.client.redirect import Visit
from mcp_runtime.auth.client.storage import MemoryStorage
from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.errors import SessionError
from mcp_runtime.revisions import ALL
from tests.runtime.auth.test_authorizer import authorizer, signed_in
from tests.runtime.auth.test_protected_server import Issuer, serving, text
from tests.support.authorization_server import SERVER, Clock, World, refused
from tests.support.uvicorn_served import served

THREATS: Final = (
    "Confused deputy",
    "Token passthrough",
    "Session hijacking",
    "Mix-up of authorization servers",
    "Open redirect",
    "Server-side request forgery, DNS rebinding",
    "Token theft",
    "Interception of the code",
    "Confusion of signing keys",
    "Replay of a proof",
)


# ---- confused deputy


class TwoIssuers:
    """A server that first names a good issuer, and then an evil one."""

    def __init__(self) -> None:
        self.good = World()
        self.evil = World(issuer="https://evil.example", iss="https://evil.example")
        self.evil._numbers = count(1000)  # so that nothing is the same by chance

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        is_evil = request.url.startswith(self.evil.issuer)
        return await (self.evil if is_evil else self.good)(request)

    async def close(self) -> None:
        """There is nothing to close."""

    @asynccontextmanager
    async def redirect(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        async with (self.evil if self.good.protected else self.good).redirect(preferred) as visit:
            yield visit


async def test_an_issuer_that_the_server_names_later_gets_nothing_of_the_first_one_s() -> None:
    issuers = TwoIssuers()
    good, evil = issuers.good, issuers.evil
    settings = OAuth(redirect=issuers.redirect, now=Clock())
    client = Authorizer(settings, SERVER, issuers)
    first = await signed_in(client)
    good.protected = {"authorization_servers": [evil.issuer]}
    sent = {"Authorization": f"Bearer {first}"}
    assert await client.recover(refused(error="invalid_token"), SERVER, sent)
    assert evil.token_fields[0]["grant_type"] == "authorization_code"
    seen = repr([(each.url, each.headers, each.body) for each in evil.requests])
    (grant,) = good.token_fields
    secrets = [first, *good.refresh_tokens, grant["code"], grant["code_verifier"]]
    assert [secret for secret in secrets if secret in seen] == []


# ---- token passthrough


class Thief:
    """An origin that keeps the headers of every request."""

    def __init__(self) -> None:
        self.seen: list[Mapping[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class Sends:
    """A protected server that has turned evil: it sends its clients to another origin."""

    def __init__(self, to: str) -> None:
        self._to = to

    def asgi(self, **_: Any) -> Callable[..., Any]:
        return self.answer

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] == "GET":
            headers = [(b"content-type", b"text/event-stream")]
            body = f"event: endpoint\ndata: {self._to}/messages\n\n".encode()
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        else:
            headers = [(b"location", f"{self._to}/mcp".encode())]
            body = b""
            await send({"type": "http.response.start", "status": 307, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def turned() -> AsyncGenerator[tuple[Issuer, Thief, MemoryStorage]]:
    """A server that a person has signed in to, and that sends its clients to a thief since."""
    thief, storage = Thief(), MemoryStorage()
    async with served(thief) as theirs, serving() as issuer:
        auth = OAuth(redirect=issuer.world.redirect, storage=storage)
        async with Client.http(issuer.world.resource, auth=auth) as who:
            await text(who, "whoami")
        issuer.serve(Sends(theirs))
        yield issuer, thief, storage


@pytest.mark.parametrize("revision", [ALL[0], ALL[-2], ALL[-1]])
async def test_a_token_does_not_follow_where_the_server_sends_its_clients(revision: str) -> None:
    """By a redirect, or by the address that HTTP+SSE names to post to."""
    async with turned() as (issuer, thief, storage):
        auth = OAuth(redirect=issuer.world.redirect, storage=storage)
        url = issuer.world.resource
        with pytest.raises(SessionError):
            async with Client.http(url, auth=auth, revisions=[revision]) as who:
                await text(who, "whoami")
        assert [headers for headers in thief.seen if "authorization" in headers] == []
        assert not [token for token in issuer.world.valid if token in repr(thief.seen)]


# ---- interception of the code


async def test_a_stolen_code_is_worth_nothing_without_its_verifier() -> None:
    """A thief who sees the page that a person visits, and where they come back to."""
    world, seen = World(), list[str]()
    visit = world.visit

    def watched(url: str) -> str:
        seen.extend((url, redirected := visit(url)))
        return redirected

    world.visit = watched
    await signed_in(authorizer(world))
    (grant,) = world.token_fields
    shown = [value for url in seen for _, value in parse_qsl(urlsplit(url).query)]
    assert grant["code"] in shown
    challenge = world.visited[0]["code_challenge"]
    assert challenge == _s256(grant["code_verifier"])
    assert challenge not in [_s256(value) for value in shown]
    assert grant["code_verifier"] not in "".join(seen)


def _s256(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


# ---- the table


def table() -> Mapping[str, tuple[str, list[str]]]:
    """What stops each threat, and the names of its tests, as docs/THREATS.md has them."""
    page = (Path(__file__).parents[3] / "docs" / "THREATS.md").read_text("utf-8")
    _, _, rest = page.partition("# Threats")
    rows = [line.strip("| ").split(" | ") for line in rest.splitlines() if "`test_" in line]
    return {row[0]: (row[1], re.findall(r"`(test_\w+)`", row[2])) for row in rows if len(row) == 3}


def test_every_threat_has_tests_that_exist() -> None:
    rows, known = table(), _tests()
    assert tuple(rows) == THREATS
    for name in THREATS:
        defence, tests = rows[name]
        assert defence
        assert tests, name
        assert [test for test in tests if test not in known] == []


def _tests() -> set[str]:
    """The names of all tests beside this one."""
    return {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
