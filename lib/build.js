"use strict";
/** Builds the package into `dist`: `node lib/build.js`. */
const { execFileSync } = require("node:child_process");
const { copyFileSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { buildSync } = require("esbuild");
const { buildPage } = require("./admin/console/page/build");
const { buildThread } = require("./durable/sqlite/build-thread");

const root = join(__dirname, "..");
const dist = join(root, "dist");
const modules = join(root, "node_modules");
const assets = join(dist, "admin", "console", "assets");

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(modules, "typescript", "bin", "tsc"), "-p", root], {
  stdio: "inherit",
});
// The main entry loads no zod: its schema of events has the parts that it uses.
buildSync({
  absWorkingDir: root,
  entryPoints: ["lib/core/event/schema.ts"],
  outbase: "lib",
  outdir: dist,
  bundle: true,
  platform: "node",
  target: "node20",
  external: ["../../kit/*"],
  logLevel: "warning",
});
buildThread(join(dist, "durable", "sqlite"));
buildPage(assets);
copyFileSync(join(modules, "zod", "LICENSE"), join(dist, "core", "event", "zod.LICENSE"));
copyFileSync(join(modules, "preact", "LICENSE"), join(assets, "preact.LICENSE"));
