// @modelcontextprotocol/server as a server, in both eras. Usage: v2_server.cjs [http PORT]
const { createServer } = require("node:http");
const { randomUUID } = require("node:crypto");
const { Readable } = require("node:stream");
const {
  McpServer,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  isLegacyRequest,
} = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { z } = require("zod");
const { offer } = require("./offers.cjs");

const interaction = {
  shape: (shape) => z.object(shape),
  grow: (server) => server.registerTool("grown", {}, async () => ({ content: [{ type: "text", text: "grown" }] })),
  async tell(server, { mcpReq }, step, steps) {
    const progressToken = mcpReq._meta?.progressToken;
    const params = { progressToken, progress: step, total: steps };
    if (progressToken !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
    await mcpReq.log("info", `step ${step}`);
  },
  async elicit(server, { mcpReq }, question, answer) {
    const content = acceptedContent(mcpReq.inputResponses, "who");
    if (content) return answer(content);
    return inputRequired({ inputRequests: { who: inputRequired.elicit(question) } });
  },
  async roots(server, { mcpReq }, answer) {
    const places = mcpReq.inputResponses?.places;
    if (places) return answer(places);
    return inputRequired({ inputRequests: { places: inputRequired.listRoots() } });
  },
  async sample(server, { mcpReq }, question, answer) {
    const message = mcpReq.inputResponses?.thought;
    if (message) return answer(message);
    return inputRequired({ inputRequests: { thought: inputRequired.createMessage(question) } });
  },
};

function make() {
  const server = new McpServer({ name: "v2-server", version: "1" }, { capabilities: { logging: {} } });
  offer(server, { ResourceTemplate, completable, interaction });
  return server;
}

// Over HTTP each request of the newer era has a server of its own: what has grown is kept beside them.
let grown = false;
const handler = createMcpHandler(
  () => {
    const server = make();
    if (grown) interaction.grow(server);
    return server;
  },
  { legacy: "reject" },
);
const sessions = new Map();

async function answer(request) {
  if (!(await isLegacyRequest(request))) return handler.fetch(request);
  const known = sessions.get(request.headers.get("mcp-session-id"));
  if (known) return known.handleRequest(request);
  const onsessioninitialized = (id) => sessions.set(id, transport);
  const options = { sessionIdGenerator: randomUUID, onsessioninitialized };
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await make().connect(transport);
  return transport.handleRequest(request);
}

async function overHttp(incoming, outgoing) {
  const leaving = new AbortController();
  outgoing.on("close", () => leaving.abort());
  const { method, headers, url } = incoming;
  const body = method === "POST" ? { body: Readable.toWeb(incoming), duplex: "half" } : {};
  const request = new Request(`http://${headers.host}${url}`, { method, headers, signal: leaving.signal, ...body });
  const response = await answer(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
  if (response.body) Readable.fromWeb(response.body).on("error", () => outgoing.destroy()).pipe(outgoing);
  else outgoing.end();
}

const [kind, port] = process.argv.slice(2);
if (kind) {
  interaction.grown = () => {
    grown = true;
    handler.notify.toolsChanged();
  };
  createServer(overHttp).listen(Number(port), "127.0.0.1");
} else serveStdio(make);
