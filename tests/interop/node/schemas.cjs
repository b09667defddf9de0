// Says what the schemas that `@modelcontextprotocol/core` exports make of each message on stdin. A
// line is [kind, sender, method, revision, body]; the answer is whether the body is accepted (null:
// no schema of that name is exported), and the codes of zod's issues. All revisions have one schema.
'use strict';

const readline = require('node:readline');
const core = require('@modelcontextprotocol/core');

const NAMES = new Map();
for (const [name, schema] of Object.entries(core)) {
  const method = schema.shape?.method?.value;
  if (method !== undefined) NAMES.set(method, name.replace(/(Request|Notification)Schema$/, ''));
}

function schemaOf(kind, method) {
  const name = NAMES.get(method);
  if (name === undefined) return undefined;
  if (kind === 'request') return core[`${name}RequestSchema`];
  if (kind === 'notification') return core[`${name}NotificationSchema`];
  if (name === 'CreateMessage') return core.CreateMessageResultWithToolsSchema;
  return core[`${name}ResultSchema`] ?? core.EmptyResultSchema;
}

// `too_big:int`, `invalid_format:datetime`, `custom:Invalid Base64 string`; of a union those of its arms.
function codes(issues) {
  return issues.flatMap((issue) => {
    const detail = issue.format ?? issue.expected ?? issue.origin ?? issue.message;
    return [`${issue.code}:${detail}`, ...(issue.errors ?? []).flatMap(codes)];
  });
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const [kind, , method, , body] = JSON.parse(line);
  const schema = schemaOf(kind, method);
  const read = schema?.safeParse(kind === 'result' ? body : { method, params: body });
  const errors = read?.success === false ? codes(read.error.issues) : [];
  const verdict = { accepts: read?.success ?? null, errors: [...new Set(errors)].sort() };
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
});
