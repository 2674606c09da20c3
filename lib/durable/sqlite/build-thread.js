"use strict";
/** Writes the module start-thread of the package. */
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { buildSync } = require("esbuild");

/** Returns the code of the thread, which loads no other module of the package. */
function bundleThread() {
  const { outputFiles } = buildSync({
    entryPoints: [join(__dirname, "thread.ts")],
    bundle: true,
    minify: true,
    platform: "node",
    target: "node22",
    write: false,
  });
  return outputFiles[0].text;
}

/** @param {string} folder where the module start-thread gets the code of the thread as text. */
function buildThread(folder) {
  const code = JSON.stringify(bundleThread());
  writeFileSync(
    join(folder, "start-thread.js"),
    `"use strict";
const { Worker } = require("node:worker_threads");
exports.startThread = (workerData) => new Worker(${code}, { eval: true, workerData });
`,
  );
}

module.exports = { buildThread, bundleThread };
