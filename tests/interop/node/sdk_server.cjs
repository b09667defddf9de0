// @modelcontextprotocol/sdk as a server. Usage: sdk_server.cjs [http|sse PORT]
const { createServer } = require("node:http");
const { randomUUID } = require("node:crypto");
const { McpServer, ResourceTemplate } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { SSEServerTransport } = require("@modelcontextprotocol/sdk/server/sse.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
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

async function serve(transport) {
  const server = new McpServer({ name: "sdk-server", version: "1" }, { capabilities: { logging: {} } });
  offer(server, { ResourceTemplate, completable, interaction });
  await server.connect(transport);
}

const sessions = new Map();

async function overHttp(request, response) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known) return known.handleRequest(request, response);
  const onsessioninitialized = (id) => sessions.set(id, transport);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized });
  await serve(transport);
  await transport.handleRequest(request, response);
}

async function overSse(request, response) {
  const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
  if (pathname === "/messages") return sessions.get(searchParams.get("sessionId")).handlePostMessage(request, response);
  if (request.method !== "GET") return response.writeHead(405).end();
  const transport = new SSEServerTransport("/messages", response);
  sessions.set(transport.sessionId, transport);
  await serve(transport);
}

const [kind, port] = process.argv.slice(2);
if (kind) createServer(kind === "sse" ? overSse : overHttp).listen(Number(port), "127.0.0.1");
else serve(new StdioServerTransport());
