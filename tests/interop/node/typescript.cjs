// Says of small programs, { name: { file: text } } on standard input, what the compiler finds wrong in each.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

const cases = JSON.parse(fs.readFileSync(0, "utf8"));
const texts = new Map();
for (const [name, files] of Object.entries(cases)) {
  for (const [file, text] of Object.entries(files)) {
    // Without an export a file would share its names with all others.
    texts.set(path.posix.join("/", name, file), `${text}\nexport {};\n`);
  }
}

const options = {
  strict: true,
  noEmit: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};
const host = ts.createCompilerHost(options);
const { fileExists, readFile } = host;
host.fileExists = (file) => texts.has(file) || fileExists(file);
host.readFile = (file) => texts.get(file) ?? readFile(file);
host.getSourceFile = (file, target) => {
  const text = host.readFile(file);
  return text === undefined ? undefined : ts.createSourceFile(file, text, target);
};
host.directoryExists = undefined;
host.getCurrentDirectory = () => "/";

const program = ts.createProgram([...texts.keys()], options, host);
const found = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
  const file = diagnostic.file?.fileName ?? "";
  const name = Object.keys(cases).find((each) => file.startsWith(`/${each}/`));
  if (name === undefined) throw new Error(`${file}: ${message}`);
  found[name].push(`TS${diagnostic.code} ${message}`);
}
process.stdout.write(JSON.stringify(found));
