// @modelcontextprotocol/server as a protected server. Usage: auth_server.cjs PORT ISSUER
const { createServer } = require("node:http");
const { Readable } = require("node:stream");
const {
  McpServer,
  OAuthError,
  OAuthErrorCode,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  oauthMetadataResponse,
  requireBearerAuth,
} = require("@modelcontextprotocol/server");
const { createRemoteJWKSet, jwtVerify } = require("jose");

const [port, issuer] = process.argv.slice(2);
const resource = new URL(`http://127.0.0.1:${port}/mcp`);
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

const verifier = {
  async verifyAccessToken(token) {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource.href });
      const scopes = payload.scope.split(" ");
      const claims = { expiresAt: payload.exp, resource, extra: { subject: payload.sub } };
      return { token, clientId: payload.client_id, scopes, ...claims };
    } catch (error) {
      throw new OAuthError(OAuthErrorCode.InvalidToken, error.message);
    }
  },
};

const gate = requireBearerAuth({
  verifier,
  requiredScopes: ["read"],
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
  expectedResource: resource,
});

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "v2-server", version: "1" });
  server.registerTool("whoami", {}, async ({ http }) => {
    const { extra, scopes } = http.authInfo;
    return { content: [{ type: "text", text: `${extra.subject} ${scopes.sort().join(" ")}` }] };
  });
  return server;
});

async function answer(request, oauthMetadata) {
  const options = { oauthMetadata, resourceServerUrl: resource, scopesSupported: ["read", "write"] };
  const metadata = await oauthMetadataResponse(request, options);
  if (metadata) return metadata;
  const authInfo = await gate(request);
  return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
}

async function overHttp(incoming, outgoing) {
  const { method, headers, url } = incoming;
  const body = method === "POST" ? { body: Readable.toWeb(incoming), duplex: "half" } : {};
  const request = new Request(`http://${headers.host}${url}`, { method, headers, ...body });
  const oauthMetadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  const response = await answer(request, oauthMetadata);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
  if (response.body) Readable.fromWeb(response.body).on("error", () => outgoing.destroy()).pipe(outgoing);
  else outgoing.end();
}

createServer(overHttp).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
