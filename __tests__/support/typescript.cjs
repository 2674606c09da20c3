"use strict";

/** `node --require` of this file runs TypeScript in a test's process, in a fifth of the time of tsx. */
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { join } = require("node:path");
const { threadId } = require("node:worker_threads");

const ROOT = join(__dirname, "..", "..");
/** As in the package, this module is a bundle: hundreds of threads would load the modules of it. */
const THREAD = join(ROOT, "lib", "durable", "sqlite", "thread.ts");
const NAME = /^express-push-verification(?=\/|$)/;
const { PUSH_TEST_RUN } = process.env;
/** The processes of a run of tests transform each file once. */
const cache = PUSH_TEST_RUN === undefined ? undefined : join(PUSH_TEST_RUN, "javascript");
if (cache !== undefined) mkdirSync(cache, { recursive: true });

require.extensions[".ts"] = (module, file) => {
  // oxlint-disable-next-line no-underscore-dangle
  module._compile(cache === undefined ? transform(file) : readTransformed(file), file);
};

function readTransformed(file) {
  const transformed = join(cache, `${encodeURIComponent(file)}.js`);
  if (existsSync(transformed)) return readFileSync(transformed, "utf8");
  const code = transform(file);
  const unfinished = `${transformed}.${process.pid}.${threadId}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, transformed);
  return code;
}

function transform(file) {
  if (file === THREAD) return require("../../lib/durable/sqlite/build-thread").bundleThread();
  const { transformFileSync } = require("@swc/core");
  return transformFileSync(file, {
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
    module: { type: "commonjs" },
    sourceMaps: "inline",
  }).code;
}

const { _resolveFilename: resolve } = Module;
// oxlint-disable-next-line no-underscore-dangle
Module._resolveFilename = (request, ...rest) =>
  resolve(request.replace(NAME, join(ROOT, "lib")), ...rest);
