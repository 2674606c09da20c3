"use strict";
/**
 * npm pack and npm publish run it as prepack and as postpack: the package.json of the tarball has no
 * scripts, because npm warns of `prepare` at each install of a tarball. An install from git needs it.
 */
const { existsSync, readFileSync, renameSync, writeFileSync } = require("node:fs");

const FILE = "package.json";
const KEPT = "node_modules/.package.json";
const PACKED = "node_modules/.package.packed.json";

const text = readFileSync(FILE, "utf8");
const { scripts, ...packed } = JSON.parse(text);
if (process.env.npm_lifecycle_event === "postpack") {
  // It is absent after another npm pack of this folder at the same time.
  if (existsSync(KEPT)) renameSync(KEPT, FILE);
} else if (scripts !== undefined) {
  writeFileSync(KEPT, text);
  writeFileSync(PACKED, `${JSON.stringify(packed, undefined, 2)}\n`);
  // Not written in place: another process may read it.
  renameSync(PACKED, FILE);
}
