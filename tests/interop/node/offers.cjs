// What every peer server here offers, whichever package serves it; `interaction` is how it asks its client.
const { z } = require("zod");

const text = (said, more) => ({ content: [{ type: "text", text: said }], ...more });
const languages = ["perl", "python"];
const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

function offer(server, { ResourceTemplate, completable, interaction }) {
  const sum = z.object({ result: z.number() });
  server.registerTool(
    "add",
    { inputSchema: z.object({ a: z.number().int(), b: z.number().int() }), outputSchema: sum },
    async ({ a, b }) => text(String(a + b), { structuredContent: { result: a + b } }),
  );
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async (call) => text(call.text));
  server.registerTool("work", { inputSchema: z.object({ steps: z.number().int() }) }, async ({ steps }, context) => {
    for (let step = 1; step <= steps; step++) await interaction.tell(server, context, step, steps);
    return text("done");
  });
  server.registerTool("ask", {}, (...call) => {
    const question = { message: "Who are you?", requestedSchema: schema };
    return interaction.elicit(server, call.at(-1), question, ({ name }) => text(`hello ${name}`));
  });
  server.registerTool("sample", { inputSchema: z.object({ text: z.string() }) }, (call, context) => {
    const messages = [{ role: "user", content: { type: "text", text: call.text } }];
    return interaction.sample(server, context, { messages, maxTokens: 100 }, ({ content }) => text(content.text));
  });
  server.registerTool("where", {}, (...call) =>
    interaction.roots(server, call.at(-1), ({ roots }) => text(roots.map((root) => root.uri).join(" "))),
  );
  server.registerTool("grow", {}, async () => {
    server.registerTool("grown", {}, async () => text("grown"));
    interaction.grown?.();
    return text("done");
  });
  server.registerTool("wait", {}, () => new Promise(() => {}));
  server.registerTool("fail", {}, async () => {
    throw new Error("broken");
  });

  const words = async (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "words" }] });
  server.registerResource("today", "note://today", { mimeType: "text/plain" }, words);
  const template = new ResourceTemplate("greeting://{name}", { list: undefined });
  server.registerResource("greeting", template, { mimeType: "text/plain" }, async (uri, { name }) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: `hello ${name}` }],
  }));

  const language = completable(z.string(), (prefix) => languages.filter((name) => name.startsWith(prefix)));
  server.registerPrompt("review", { argsSchema: interaction.shape({ language }) }, (call) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review this ${call.language}` } }],
  }));
}

module.exports = { offer };
