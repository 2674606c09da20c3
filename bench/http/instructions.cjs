"use strict";
/** Instructions of a good webhook request in the receiver: a figure that other programs cannot disturb. */
const { execFile } = require("node:child_process");
const { mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { AUTH_TOKEN, PUBLIC_URL, signRequest } = require("./calls.cjs");

/** V8 has compiled the request path after the first. */
const COUNTS = [8_000, 20_000];
const VALGRIND = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
/** V8 writes machine code while it runs. */
const SELF_MODIFYING = "--smc-check=all-non-file";

function countInstructions({ dist, observer = "nobody" }, file, count) {
  const script = join(__dirname, "in-process.cjs");
  // One thread: the work of compilers and collectors on others would be counted at random.
  const node = [process.execPath, "--single-threaded", script, file, String(count), observer];
  const env = { ...process.env, DIST: dist, AUTH_TOKEN, PUBLIC_URL };
  return new Promise((resolve, reject) => {
    execFile("valgrind", [...VALGRIND, SELF_MODIFYING, ...node], { env }, (error, _out, text) => {
      const refs = /I\s+refs:\s+([\d,]+)/.exec(text)?.[1];
      if (error !== null || refs === undefined) reject(error ?? new Error(text));
      else resolve(Number(refs.replaceAll(",", "")));
    });
  });
}

/**
 * Counts the instructions per request of several builds, each with an observer of in-process.cjs.
 *
 * @param {{ dist: string, observer?: string }[]} builds
 * @returns {Promise<number[] | undefined>} undefined without valgrind
 */
async function instructions(builds) {
  const folder = mkdtempSync(join(tmpdir(), "push-instructions-"));
  const file = join(folder, "requests.json");
  writeFileSync(file, JSON.stringify(Array.from({ length: COUNTS[1] }, () => signRequest())));
  const countPerRequest = async (build) => {
    const [few, many] = [
      await countInstructions(build, file, COUNTS[0]),
      await countInstructions(build, file, COUNTS[1]),
    ];
    return (many - few) / (COUNTS[1] - COUNTS[0]);
  };
  try {
    return await Promise.all(builds.map(countPerRequest));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { instructions };
