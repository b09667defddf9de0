"use strict";
// A real authorization server (oidc-provider) for one protected server.
//
// Usage: issuer.cjs PORT RESOURCE. Prints "ready" when it listens. Anybody may sign in, and every
// client may register itself. Access tokens are JWTs for RESOURCE, bound to a key if a proof came.
const { generateKeyPairSync } = require("node:crypto");
const { default: Provider } = require("oidc-provider");

const [port, resource] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

function key() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "ES256", kid: "es" };
}

const provider = new Provider(issuer, {
  cookies: { keys: ["only for tests"] },
  features: {
    devInteractions: { enabled: true },
    dPoP: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (ctx, indicator) => {
        if (indicator !== resource) throw new Error("another resource");
        return {
          scope: "read write",
          audience: resource,
          accessTokenTTL: 2,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        };
      },
    },
  },
  // A client may ask for more scopes than it named when it registered, as step-up needs.
  extraClientMetadata: {
    properties: ["scope_policy"],
    validator: (ctx, key, value, metadata) => {
      delete metadata.scope;
    },
  },
  issueRefreshToken: () => true,
  jwks: { keys: [key()] },
  pkce: { required: () => true },
  scopes: ["openid", "offline_access", "read", "write"],
  clientDefaults: { token_endpoint_auth_method: "none", id_token_signed_response_alg: "ES256" },
});

provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
