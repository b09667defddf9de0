// @modelcontextprotocol/sdk as a server over stdio.
const { McpServer, ResourceTemplate } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { completable } = require("@modelcontextprotocol/sdk/server/completable.js");
const { offer } = require("./offers.cjs");

const interaction = {
  shape: (shape) => shape,
  async tell(server, { _meta, sendNotification }, step, steps) {
    const progressToken = _meta?.progressToken;
    const params = { progressToken, progress: step, total: steps };
    if (progressToken !== undefined) await sendNotification({ method: "notifications/progress", params });
    await server.sendLoggingMessage({ level: "info", data: `step ${step}` });
  },
  async elicit(server, context, question, answer) {
    return answer((await server.server.elicitInput(question)).content);
  },
  async roots(server, context, answer) {
    return answer(await server.server.listRoots());
  },
  async sample(server, context, question, answer) {
    return answer(await server.server.createMessage(question));
  },
};

const server = new McpServer({ name: "sdk-server", version: "1" }, { capabilities: { logging: {} } });
offer(server, { ResourceTemplate, completable, interaction });
server.connect(new StdioServerTransport());
