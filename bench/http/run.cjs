"use strict";
/**
 * Runs the benches over HTTP, all of them or those that are named:
 *
 * npm run bench -- [compare] [rejections] [growth] [latency] [uploads] [console] [starts] [memory] [rss] [parts] [allocation] [tracing]
 * npm run bench -- against=<commit>
 */
const { spawnSync } = require("node:child_process");
const { canPin, IS_PINNED, isPinned, LOAD_CORE, pin } = require("./cores.cjs");

const BENCHES = {
  compare: () => require("./compare.cjs").compare(),
  rejections: () => require("./rejections.cjs").rejections(),
  growth: () => require("./growth.cjs").growth(),
  latency: () => require("./latency.cjs").latency(),
  uploads: () => require("./uploads.cjs").uploads(),
  console: () => require("./console.cjs").consolePage(),
  starts: () => require("./starts.cjs").starts(),
  tracing: () => require("./tracing.cjs").tracing(),
  memory: () =>
    runAlone("Memory of uuids and outcomes, in the heap and beside it", ["--expose-gc"], "memory"),
  rss: () => require("./rss.cjs").rss(),
  parts: () =>
    runAlone("CPU of a request without a socket, part by part", ["--single-threaded"], "parts"),
  allocation: () =>
    runAlone(
      "Heap and promises of a request without a socket",
      ["--expose-gc", "--min-semi-space-size=64"],
      "allocation",
    ),
};

/** Runs a bench that needs options of V8. */
function runAlone(title, options, name) {
  console.log(`\n${title}`);
  const args = [...options, `${__dirname}/${name}.cjs`];
  if (spawnSync(process.execPath, args, { stdio: "inherit" }).status !== 0) process.exitCode = 1;
}

async function main(names) {
  const commit = names.find((name) => name.startsWith("against="))?.slice("against=".length);
  if (commit !== undefined) return require("./against.cjs").against(commit);
  const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) {
    throw new Error(`There is no bench ${unknown}: ${Object.keys(BENCHES).join(", ")}.`);
  }
  if (!canPin)
    console.log("taskset or a second core is missing: the load disturbs what it measures.");
  for (const name of names.length > 0 ? names : Object.keys(BENCHES)) await BENCHES[name]();
}

if (canPin && !isPinned) {
  const [command, ...args] = pin(LOAD_CORE, [
    process.execPath,
    __filename,
    ...process.argv.slice(2),
  ]);
  const env = { ...process.env, [IS_PINNED]: "1" };
  process.exitCode = spawnSync(command, args, { env, stdio: "inherit" }).status ?? 1;
} else {
  void main(process.argv.slice(2));
}
