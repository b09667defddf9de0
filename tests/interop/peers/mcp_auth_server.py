"""The package `mcp` as a protected server. Usage: mcp_auth_server.py PORT ISSUER"""

from __future__ import annotations

import sys
from typing import Any

import anyio.to_thread
import jwt
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

PORT, ISSUER = sys.argv[1:]
RESOURCE = f"http://127.0.0.1:{PORT}/mcp"
KEYS = jwt.PyJWKClient(f"{ISSUER}/jwks")


class Verifier:
    """A token verifier of the package."""

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = await anyio.to_thread.run_sync(self.claims, token)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            expires_at=claims["exp"],
            resource=RESOURCE,
            subject=claims["sub"],
        )

    def claims(self, token: str) -> dict[str, Any]:
        key = KEYS.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, ["ES256"], audience=RESOURCE, issuer=ISSUER)


server = MCPServer(
    "mcp-server",
    token_verifier=Verifier(),
    auth=AuthSettings(
        issuer_url=ISSUER,
        resource_server_url=RESOURCE,
        required_scopes=["read"],
        validate_token_resource=True,
    ),
)


@server.tool()
async def whoami() -> str:
    token = get_access_token()
    assert token is not None
    return f"{token.subject} {' '.join(sorted(token.scopes))}"


server.run("streamable-http", port=int(PORT))
