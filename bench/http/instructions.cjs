"use strict";
/** Instructions of a good webhook request in the receiver: a figure that other programs cannot disturb. */
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { connect } = require("node:net");
const { join } = require("node:path");
const { AUTH_TOKEN, makeGoodRequest, PUBLIC_URL } = require("./requests.cjs");

/** V8 has compiled the request path after the first. */
const COUNTS = [8_000, 20_000];
const VALGRIND = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
/** V8 writes machine code while it runs. */
const SELF_MODIFYING = "--smc-check=all-non-file";

const CONNECTIONS = 8;

/** Sends requests to a server, one after the other on each connection, until it ends. */
function sendRequests(port, requests) {
  const rest = requests.values();
  for (let index = 0; index < CONNECTIONS; index++) {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    const sendNext = () => {
      const { value } = rest.next();
      if (value !== undefined) socket.write(value);
    };
    // The server ends without closing its connections.
    socket
      .on("connect", sendNext)
      .on("data", sendNext)
      .on("error", () => {});
  }
}

async function countInstructions({ dist, observer = "nobody" }, requests) {
  const script = join(__dirname, "counted-server.cjs");
  // One thread: the work of compilers and collectors on others would be counted at random.
  const node = [process.execPath, "--single-threaded", script, String(requests.length), observer];
  const env = { ...process.env, DIST: dist, AUTH_TOKEN, PUBLIC_URL };
  const server = spawn("valgrind", [...VALGRIND, SELF_MODIFYING, ...node], { env });
  let text = "";
  server.stderr.on("data", (chunk) => (text += chunk));
  server.stdout.once("data", (port) => sendRequests(Number(port), requests));
  await once(server, "close");
  const refs = /I\s+refs:\s+([\d,]+)/.exec(text)?.[1];
  if (refs === undefined) throw new Error(text);
  return Number(refs.replaceAll(",", ""));
}

/**
 * Counts the instructions per request of several builds, each with an observer of counted-server.cjs.
 *
 * @param {{ dist: string, observer?: string }[]} builds
 * @returns {Promise<number[] | undefined>} undefined without valgrind
 */
async function instructions(builds) {
  const requests = Array.from({ length: COUNTS[1] }, makeGoodRequest);
  const countPerRequest = async (build) => {
    const few = await countInstructions(build, requests.slice(0, COUNTS[0]));
    const many = await countInstructions(build, requests);
    return (many - few) / (COUNTS[1] - COUNTS[0]);
  };
  try {
    return await Promise.all(builds.map(countPerRequest));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

module.exports = { instructions };
