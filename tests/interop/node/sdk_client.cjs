// @modelcontextprotocol/sdk as a client over stdio. Usage: sdk_client.cjs MODE COMMAND…, where MODE is `legacy`.
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");
const { act, handlers } = require("./acts.cjs");

async function main(mode, command, ...args) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = new Client({ name: "sdk-client", version: "1" }, { capabilities });
  client.setRequestHandler(types.ElicitRequestSchema, handlers.elicit);
  client.setRequestHandler(types.CreateMessageRequestSchema, handlers.sample);
  client.setRequestHandler(types.ListRootsRequestSchema, handlers.roots);
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, handlers.logged);
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, handlers.changed);
  client.callOptions = (options) => [undefined, options];
  const transport = new StdioClientTransport({ command, args });
  let revision;
  transport.setProtocolVersion = (version) => (revision = version);
  await client.connect(transport);
  await act(client, { revision });
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
