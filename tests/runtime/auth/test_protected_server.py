"""A protected server and a client converse over HTTP, and others are kept out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.errors import AuthorizationError
from mcp_runtime.auth.messages import AuthRequest
from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from mcp_runtime.errors import Disconnected, TooMuch, Unauthorized
from mcp_runtime.revisions import ALL
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.visibility import Registry
from tests.support.authorization_server import World
from tests.support.uvicorn_served import served


def _named(header: bytes) -> str:
    return "DPoP" if header == b"dpop" else header.decode().title()


class Issuer:
    """The small authorization server, on the loopback; it verifies tokens too."""

    keeps = 0.0

    def __init__(self, base: str, resource: str) -> None:
        self.world = World(issuer=base, resource=resource, iss=base, grants=("read",))
        self.subject = "ann"
        self.is_down = False
        self.serve: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """As an ASGI application."""
        body = (await receive()).get("body", b"")
        parts = urlsplit(self.world.issuer)
        path = f"{scope.get('root_path', '')}{scope['path']}".removeprefix(parts.path)
        headers = {_named(key): value.decode() for key, value in scope["headers"]}
        url = f"{parts.scheme}://{parts.netloc}{scope['path']}"
        request = AuthRequest(scope["method"], url, path, headers, body)
        answer = await self.world(request)
        raw = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body})

    async def verify(self, token: str, /) -> VerifiedToken:
        if self.is_down:
            raise Disconnected("the issuer cannot be reached")
        if token not in self.world.valid:
            raise InvalidToken("the token is not known")
        return VerifiedToken(
            subject=self.subject,
            issuer=self.world.issuer,
            scopes=self.world.scopes.get(token, frozenset({"read"})),
            key_thumbprint=self.world.keys.get(token),
        )


def protected(issuer: Issuer, includes: Any = None, **settings: Any) -> Server:
    auth = BearerAuth(
        issuer,
        issuer=issuer.world.issuer,
        resource=issuer.world.resource,
        scopes=("read",),
        includes=includes,
    )
    server = Server("protected", "1", auth=auth, **settings)

    @server.tool
    async def whoami(ctx: Context) -> str:
        assert ctx.token is not None
        assert ctx.principal == ctx.token.principal
        return f"{ctx.token.subject} {' '.join(sorted(ctx.token.scopes))}"

    @server.tool(scopes=["write"])
    async def change() -> str:
        return "changed"

    return server


@asynccontextmanager
async def serving(**settings: Any) -> AsyncGenerator[Issuer]:
    """A protected server at /mcp, whose authorization server shares its origin."""
    apps: dict[str, Any] = {}

    async def both(scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        is_issuer = path in ("/token", "/register") or "authorization-server" in path
        await apps["issuer" if is_issuer else "server"](scope, receive, send)

    async with served(both) as origin:
        issuer = apps["issuer"] = Issuer(origin, f"{origin}/mcp")
        issuer.serve = lambda server: apps.update(server=server.asgi(health="/health"))
        issuer.serve(protected(issuer, **settings))
        yield issuer


def client(issuer: Issuer, **settings: Any) -> Client:
    revisions = settings.pop("revisions", ALL)
    auth = OAuth(**{"redirect": issuer.world.redirect, **settings})
    return Client.http(issuer.world.resource, auth=auth, revisions=revisions)


async def text(who: Client, tool: str) -> str:
    return str(getattr((await who.call_tool(tool)).content[0], "text", ""))


@pytest.mark.parametrize("revision", ALL)
@pytest.mark.requirement("auth.http")
async def test_a_person_signs_in_and_the_handler_sees_whom_it_serves(revision: str) -> None:
    async with serving() as issuer, client(issuer, revisions=[revision]) as who:
        assert await text(who, "whoami") == "ann read"
        assert len(issuer.world.visited) == 1
        assert who.revision == revision


@pytest.mark.parametrize("revision", ALL)
async def test_a_tool_that_needs_more_is_asked_for_and_then_called(revision: str) -> None:
    async with serving() as issuer, client(issuer, revisions=[revision]) as who:
        await text(who, "whoami")
        issuer.world.grants = ("read", "write")
        assert await text(who, "change") == "changed"
        assert issuer.world.visited[-1]["scope"] == "read write"


async def test_scopes_that_are_not_granted_end_the_call_and_not_the_session() -> None:
    async with serving() as issuer, client(issuer) as who:
        with pytest.raises(AuthorizationError, match="write"):
            await text(who, "change")
        assert await text(who, "whoami") == "ann read"


async def test_a_tool_that_takes_the_name_of_another_does_not_take_its_scopes() -> None:
    async with serving() as issuer:
        server = protected(issuer)
        server.remove_tool("change")

        @server.tool
        async def change() -> str:
            return "changed by anyone"

        issuer.serve(server)
        async with client(issuer) as who:
            assert await text(who, "change") == "changed by anyone"
            assert await text(who, "whoami") == "ann read"


def test_a_tool_has_its_scopes_before_it_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    server, seen = Server("s", "1"), list[object]()
    dispatcher = dispatcher_of(server)

    def added(registry: Registry[Any], name: str, *item: object) -> None:
        seen.append((dispatcher.tool_scopes[name], name in dispatcher.reruns))

    monkeypatch.setattr(Registry, "add", added)
    server.add_tool(lambda: "", name="guarded", scopes=["write"], rerun=True)
    assert seen == [(("write",), True)]


async def test_a_revoked_token_is_renewed_without_the_person() -> None:
    async with serving() as issuer, client(issuer) as who:
        await text(who, "whoami")
        issuer.world.valid.clear()
        assert await text(who, "whoami") == "ann read"
        assert len(issuer.world.visited) == 1


async def test_without_authorization_the_refusal_says_so() -> None:
    async with serving() as issuer:
        with pytest.raises(Unauthorized, match=r"asks for a token: .*--login"):
            async with Client.http(issuer.world.resource):
                pass
        wrong = {"Authorization": "Bearer wrong"}
        with pytest.raises(Unauthorized, match=r"refuses the token that was sent: .*--login"):
            async with Client.http(issuer.world.resource, headers=wrong):
                pass


async def ask(issuer: Issuer, method: str, path: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as http:
        return await http.request(method, f"{issuer.world.issuer}{path}", headers=headers)


async def test_the_metadata_and_the_health_need_no_token() -> None:
    async with serving() as issuer:
        for path in ("/mcp", ""):
            metadata = await ask(issuer, "GET", f"/.well-known/oauth-protected-resource{path}")
            assert metadata.json()["resource"] == issuer.world.resource
            assert metadata.headers["access-control-allow-origin"] == "*"
        assert (await ask(issuer, "GET", "/health")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("POST", "/messages")],
)
@pytest.mark.requirement("auth.token.no-leak")
@pytest.mark.requirement("auth.token.validated-first")
@pytest.mark.requirement("security.session.verify-all")
async def test_every_other_route_needs_a_token(method: str, path: str) -> None:
    async with serving() as issuer:
        answer = await ask(issuer, method, path)
        assert answer.status_code == 401
        assert "oauth-protected-resource/mcp" in answer.headers["www-authenticate"]


@pytest.mark.requirement("security.session.not-authentication")
@pytest.mark.requirement("security.handle.not-authentication")
@pytest.mark.requirement("security.handle.bound-to-user")
async def test_another_person_s_session_is_no_session() -> None:
    """Session hijacking: the id of a session is worth nothing without its owner's token."""
    async with serving() as issuer, client(issuer, revisions=["2025-11-25"]) as who:
        await text(who, "whoami")
        issuer.subject = "eve"
        issuer.world.valid.add("eves-token")
        session = str(vars(who.connection)["_session_id"])
        headers = {"Authorization": "Bearer eves-token", "Mcp-Session-Id": session}
        for method in ("DELETE", "GET"):
            accept = {"Accept": "text/event-stream"}
            assert (await ask(issuer, method, "/mcp", **headers, **accept)).status_code == 404


@pytest.mark.requirement("auth.token.no-passthrough")
async def test_a_handler_cannot_pass_the_token_on() -> None:
    """Token passthrough: neither the context nor what it holds has the token's text."""
    async with serving() as issuer:
        seen: list[str] = []
        server = protected(issuer)

        @server.tool
        async def look(ctx: Context) -> str:
            seen.append(repr(vars(ctx)) + repr(ctx.token) + repr(ctx.principal))
            return ""

        issuer.serve(server)
        async with client(issuer) as who:
            await who.call_tool("look")
        assert seen
        assert not [token for token in issuer.world.valid if token in seen[0]]


async def test_tools_that_a_token_may_not_call_can_be_hidden() -> None:
    for hides, names in ((True, ["whoami"]), (False, ["whoami", "change"])):
        async with serving(hide_forbidden_tools=hides) as issuer, client(issuer) as who:
            assert [tool.name for tool in await who.list_tools()] == names


async def test_a_tool_that_a_broad_scope_allows_is_not_hidden() -> None:
    async with serving() as issuer:
        issuer.serve(protected(issuer, includes={"read": ["write"]}, hide_forbidden_tools=True))
        async with client(issuer) as who:
            assert [tool.name for tool in await who.list_tools()] == ["whoami", "change"]
            assert await text(who, "change") == "changed"


async def test_other_transports_are_not_asked_for_a_token() -> None:
    async with serving() as issuer:
        server = protected(issuer)
        async with Client(server) as who:
            assert await text(who, "change") == "changed"


async def test_an_issuer_that_cannot_be_asked_is_503_and_not_401(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as issuer:
        issuer.is_down = True
        answer = await ask(issuer, "POST", "/mcp", Authorization="Bearer secret")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        (said,) = [line for line in caplog.messages if "cannot be verified" in line]
        assert said.endswith("the issuer cannot be reached")
        assert "secret" not in caplog.text


async def test_bound_tokens_are_of_no_use_to_a_thief() -> None:
    async with serving() as issuer, client(issuer, dpop=True) as who:
        assert await text(who, "whoami") == "ann read"
        stolen = next(iter(issuer.world.valid))
        for scheme in ("Bearer", "DPoP"):
            answer = await ask(issuer, "POST", "/mcp", Authorization=f"{scheme} {stolen}")
            assert answer.status_code == 401


async def test_metadata_without_end_is_cut_off() -> None:
    limits = Limits(authorization_bytes=100)
    async with serving() as issuer:
        auth = OAuth(redirect=issuer.world.redirect)
        with pytest.raises(TooMuch, match="100 bytes"):
            async with Client.http(issuer.world.resource, auth=auth, limits=limits):
                pass
