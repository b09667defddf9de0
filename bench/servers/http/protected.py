"""Our server, which demands access tokens; the issuer's public key is its argument, as a JWK."""

import json
import sys

from plain import serve

from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.auth.server.jwt_verifier import JwtVerifier
from mcp_runtime.server.server import Server

ISSUER = "https://as.example"
RESOURCE = "http://127.0.0.1:8000/mcp"

verifier = JwtVerifier(issuer=ISSUER, audience=RESOURCE, keys=[json.loads(sys.argv[1])])
auth = BearerAuth(verifier, issuer=ISSUER, resource=RESOURCE, scopes=("add",))
server = Server("bench", "1", auth=auth)


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


serve(server.asgi())
