// @modelcontextprotocol/server as a server over stdio, in both eras.
const { McpServer, ResourceTemplate, acceptedContent, completable, inputRequired } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { z } = require("zod");
const { offer } = require("./offers.cjs");

const interaction = {
  shape: (shape) => z.object(shape),
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

serveStdio(() => {
  const server = new McpServer({ name: "v2-server", version: "1" }, { capabilities: { logging: {} } });
  offer(server, { ResourceTemplate, completable, interaction });
  return server;
});
