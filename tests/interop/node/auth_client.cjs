// @modelcontextprotocol/client as a client of a protected server.
//
// Usage: auth_client.cjs MODE URL, where MODE is `legacy`, `auto` or a revision. Prints {"visit": URL}
// when a person must sign in, reads the URL that they come back to from stdin, and prints
// {"seen": TEXTS} with what the tools said.
const { createInterface } = require("node:readline");
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = require("@modelcontextprotocol/client");

const say = (document) => process.stdout.write(`${JSON.stringify(document)}\n`);
const redirects = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const kept = {};

const provider = {
  redirectUrl: "http://127.0.0.1:7777/callback",
  clientMetadata: {
    client_name: "v2-client",
    redirect_uris: ["http://127.0.0.1:7777/callback"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (url) => say({ visit: String(url) }),
};

// Does what needs a token; once a person has signed in, does it again.
async function signedIn(transport, act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  const { value } = await redirects.next();
  await transport.finishAuth(new URL(value).searchParams);
  return null;
}

async function connected(mode, url) {
  const versionNegotiation = { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } };
  for (let tries = 0; tries < 3; tries++) {
    const client = new Client({ name: "v2-client", version: "1" }, { versionNegotiation });
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const done = await signedIn(transport, async () => {
      await client.connect(transport);
      return true;
    });
    if (done) return [client, transport];
  }
  throw new Error("signing in does not help");
}

async function main(mode, url) {
  const [client, transport] = await connected(mode, url);
  const seen = [];
  for (const name of ["whoami", "change", "whoami"]) {
    let result = null;
    while (!result) result = await signedIn(transport, () => client.callTool({ name, arguments: {} }));
    seen.push(result.content[0].text);
  }
  await client.close();
  say({ seen });
  process.exit(0);
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
