"use strict";
/** Cost of loading and installing the package, beside the SDK. */
const { spawnSync } = require("node:child_process");
const { existsSync, readdirSync, readFileSync, statSync } = require("node:fs");
const path = require("node:path");
const { median } = require("./median.cjs");

const ROOT = path.resolve(__dirname, "../..");
const BENCH = path.resolve(__dirname, "..");
const ROUNDS = 21;
const sdk = JSON.stringify(require.resolve("twilio", { paths: [BENCH] }));
const STARTS = {
  "node alone": "",
  "express alone": 'require("express")',
  "express and this package": `require("express"); require("./dist").pushWebhooks({ authToken: "${"0".repeat(32)}", publicUrl: "https://a.example/b" })`,
  "express, body-parser, zod and the SDK": `require("express"); require("zod"); require(${sdk})`,
};

function timeStart(script) {
  const startMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["-e", script], { cwd: ROOT });
  if (status !== 0) throw new Error(String(stderr));
  return performance.now() - startMs;
}

function starts() {
  const times = Object.fromEntries(Object.keys(STARTS).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, script] of Object.entries(STARTS)) times[name].push(timeStart(script));
  }
  console.log(`\nCold start of the whole process: medians of ${ROUNDS} rounds`);
  const [alone] = Object.values(times).map((values) => median(values));
  for (const [name, values] of Object.entries(times)) {
    console.log(
      `${median(values).toFixed(0).padStart(4)} ms, ${(median(values) - alone).toFixed(0).padStart(4)} over node  ${name}`,
    );
  }
  const ours = measureInstalled(ROOT, ["dist"], ROOT);
  const theirs = measureInstalled(
    path.dirname(require.resolve("twilio/package.json", { paths: [BENCH] })),
    ["."],
    BENCH,
  );
  console.log(
    `Installed with its dependencies: this package ${(ours / 1e6).toFixed(1)} MB, the SDK ${(theirs / 1e6).toFixed(1)} MB: ${(ours / theirs).toFixed(2)}`,
  );
}

/** The bytes of a package's own folders and of everything that it depends on. */
function measureInstalled(packageDir, folders, resolveFrom) {
  const seen = new Set([packageDir]);
  let bytes = 0;
  for (const folder of folders) bytes += measureFolder(path.join(packageDir, folder));
  const visit = (dir) => {
    const { dependencies = {} } = JSON.parse(readFileSync(path.join(dir, "package.json")));
    for (const name of Object.keys(dependencies)) {
      const found = findPackage(name, dir, resolveFrom);
      if (seen.has(found)) continue;
      seen.add(found);
      bytes += measureFolder(found);
      visit(found);
    }
  };
  visit(packageDir);
  return bytes;
}

function findPackage(name, from, top) {
  for (let dir = from; ; dir = path.dirname(dir)) {
    const candidate = path.join(dir, "node_modules", name);
    if (existsSync(candidate)) return candidate;
    if (dir === path.dirname(top)) throw new Error(`${name} is not installed.`);
  }
}

function measureFolder(dir) {
  let bytes = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, entry.name);
    if (entry.name === "node_modules") continue;
    bytes += entry.isDirectory() ? measureFolder(at) : statSync(at).size;
  }
  return bytes;
}

module.exports = { starts };
