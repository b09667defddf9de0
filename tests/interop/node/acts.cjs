// What every peer client here does, whichever package it is; what it saw goes to stdout as one JSON document.

const seen = { progress: [], logs: [], asked: [], sampled: [] };

let changed;
const change = new Promise((resolve) => (changed = resolve));

const handlers = {
  async changed() {
    changed();
  },
  async elicit({ params }) {
    seen.asked.push(params.message);
    return { action: "accept", content: { name: "Ada" } };
  },
  async sample({ params }) {
    const said = [params.messages[0].content].flat()[0].text;
    seen.sampled.push(said);
    return { role: "assistant", content: { type: "text", text: `you said ${said}` }, model: "none" };
  },
  async roots() {
    return { roots: [{ uri: "file:///work", name: "work" }] };
  },
  async logged({ params }) {
    seen.logs.push([params.level, params.data]);
  },
};

async function tried(what) {
  try {
    return await what();
  } catch (error) {
    return { code: error.code };
  }
}

async function giveUp(client, { meta }) {
  const giving = new AbortController();
  const call = { name: "wait", arguments: {}, ...meta };
  setTimeout(() => giving.abort(), 200);
  await tried(() => client.callTool(call, ...client.callOptions({ signal: giving.signal })));
  return giving.signal.aborted ? "given up" : "answered";
}

const names = async (client) => (await client.listTools()).tools.map((tool) => tool.name).sort();

// The tools after they have changed, of which the server tells.
async function watch(client, { revision, meta }) {
  const listening = revision < "2026-07-28" ? undefined : await client.listen({ toolsListChanged: true });
  await client.callTool({ name: "grow", arguments: {}, ...meta });
  await change;
  await listening?.close();
  return names(client);
}

const done = (result) => (result.code === undefined ? "done" : "refused");

async function act(client, agreed) {
  const { revision, meta } = agreed;
  const call = async (name, args, options) => {
    const result = await tried(() => client.callTool({ name, arguments: args, ...meta }, ...options));
    if (result.code !== undefined || result.isError) return result.isError ? "tool error" : result;
    return [result.content.map((block) => block.text), result.structuredContent ?? null];
  };
  const read = async (uri) => {
    const result = await tried(() => client.readResource({ uri }));
    return result.contents?.map((content) => content.text) ?? result;
  };
  const plain = [undefined];
  const progressed = { onprogress: ({ progress, total }) => seen.progress.push([progress, total]) };

  seen.revision = revision;
  seen.server = client.getServerVersion()?.name;
  seen.tools = await names(client);
  seen.resources = (await client.listResources()).resources.map((resource) => resource.uri);
  seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate);
  seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  if (revision < "2026-07-28") {
    seen.level = done(await tried(() => client.setLoggingLevel("debug")));
    seen.ping = done(await tried(() => client.ping()));
  }
  seen.add = await call("add", { a: 2, b: 3 }, plain);
  seen.echo = await call("echo", { text: "é\n\u2028😀" }, plain);
  seen.work = await call("work", { steps: 3 }, client.callOptions(progressed));
  seen.ask = await call("ask", {}, plain);
  seen.sample = await call("sample", { text: "hello" }, plain);
  seen.where = await call("where", {}, plain);
  seen.fail = await call("fail", {}, plain);
  seen.wrong = await call("add", { a: "x" }, plain);
  seen.unknown = await call("absent", {}, plain);
  seen.read = await read("note://today");
  seen.template = await read("greeting://Ada");
  seen.missing = await read("note://absent");
  const prompt = await client.getPrompt({ name: "review", arguments: { language: "python" } });
  seen.prompt = prompt.messages.map((message) => [message.role, message.content.text]);
  const ref = { type: "ref/prompt", name: "review" };
  const completed = await tried(() => client.complete({ ref, argument: { name: "language", value: "py" } }));
  seen.complete = completed.completion?.values ?? completed;
  seen.wait = await giveUp(client, agreed);
  seen.again = await call("add", { a: 1, b: 1 }, plain);
  seen.grown = await watch(client, agreed);
  await client.close();
  console.log(JSON.stringify(seen));
}

// Makes the transport to a URL or a command, of a package's three.
const transportTo = (Stdio, Http, Sse) => (command, ...args) => {
  if (!command.startsWith("http://")) return new Stdio({ command, args });
  return command.endsWith("/sse") ? new Sse(new URL(command)) : new Http(new URL(command));
};

module.exports = { act, handlers, transportTo };
