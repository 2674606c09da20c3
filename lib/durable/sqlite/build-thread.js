"use strict";
/** Writes the module start-thread with the code of the thread as text, into the given folder. */
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { buildSync } = require("esbuild");

const [, , folder = ""] = process.argv;
const { outputFiles } = buildSync({
  entryPoints: [join(__dirname, "thread.ts")],
  bundle: true,
  minify: true,
  platform: "node",
  target: "node22",
  write: false,
});
const code = JSON.stringify(outputFiles[0].text);
writeFileSync(
  join(folder, "start-thread.js"),
  `"use strict";
const { Worker } = require("node:worker_threads");
exports.startThread = (workerData) => new Worker(${code}, { eval: true, workerData });
`,
);
