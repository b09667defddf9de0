// @modelcontextprotocol/sdk as a client. Usage: sdk_client.cjs MODE URL|COMMAND…, where MODE is `legacy`.
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { SSEClientTransport } = require("@modelcontextprotocol/sdk/client/sse.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = require("@modelcontextprotocol/sdk/types.js");
const { act, handlers, transportTo } = require("./acts.cjs");

const reached = transportTo(StdioClientTransport, StreamableHTTPClientTransport, SSEClientTransport);

async function main(mode, ...server) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = new Client({ name: "sdk-client", version: "1" }, { capabilities });
  client.setRequestHandler(types.ElicitRequestSchema, handlers.elicit);
  client.setRequestHandler(types.CreateMessageRequestSchema, handlers.sample);
  client.setRequestHandler(types.ListRootsRequestSchema, handlers.roots);
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, handlers.logged);
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, handlers.changed);
  client.callOptions = (options) => [undefined, options];
  const transport = reached(...server);
  const told = transport.setProtocolVersion?.bind(transport);
  let revision;
  transport.setProtocolVersion = (version) => {
    revision = version;
    told?.(version);
  };
  await client.connect(transport);
  await act(client, { revision });
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
