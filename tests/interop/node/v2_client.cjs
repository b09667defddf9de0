// @modelcontextprotocol/client as a client.
// Usage: v2_client.cjs MODE URL|COMMAND…, where MODE is `legacy`, `auto` or a revision.
const {
  Client,
  LOG_LEVEL_META_KEY,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
const { act, handlers, transportTo } = require("./acts.cjs");

const reached = transportTo(StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport);

async function main(mode, ...server) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const versionNegotiation = { mode: ["legacy", "auto"].includes(mode) ? mode : { pin: mode } };
  const client = new Client({ name: "v2-client", version: "1" }, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", handlers.elicit);
  client.setRequestHandler("sampling/createMessage", handlers.sample);
  client.setRequestHandler("roots/list", handlers.roots);
  client.setNotificationHandler("notifications/message", handlers.logged);
  client.setNotificationHandler("notifications/tools/list_changed", handlers.changed);
  client.callOptions = (options) => [options];
  await client.connect(reached(...server));
  const revision = client.getNegotiatedProtocolVersion();
  const meta = revision < "2026-07-28" ? {} : { _meta: { [LOG_LEVEL_META_KEY]: "debug" } };
  await act(client, { revision, meta });
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
