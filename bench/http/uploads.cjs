"use strict";
/** An upload of 10 MB: time and cost of its rejection, and whether the 413 arrives. */
const { connect } = require("node:net");
const { setTimeout: sleep } = require("node:timers/promises");
const { frameRequest, makeGoodRequest, WRONG_SIGNATURE } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");

const BYTES = 10_000_000;
const CHUNK = Buffer.alloc(65_536, "a");
const ROUNDS = 11;

/** Sends until it is told to stop, as a client does that reads only at the end. */
function upload(port, isChunked) {
  const framed = Buffer.concat([Buffer.from("10000\r\n"), CHUNK, Buffer.from("\r\n")]);
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let sent = 0;
    let response = "";
    let respondedMs;
    const startMs = performance.now();
    const pump = () => {
      while (sent < BYTES && socket.writable) {
        sent += CHUNK.length;
        if (!socket.write(isChunked ? framed : CHUNK)) return;
      }
    };
    socket.on("connect", () => {
      const length = isChunked ? "chunked" : BYTES;
      socket.write(frameRequest({ signature: WRONG_SIGNATURE, body: "", length }));
      pump();
    });
    socket.on("drain", pump).on("error", () => {});
    socket.on("data", (chunk) => {
      respondedMs ??= performance.now() - startMs;
      response += chunk.toString("latin1");
    });
    socket.on("close", () => resolve({ respondedMs, status: Number(response.slice(9, 12)) }));
  });
}

async function uploads() {
  console.log("\nAn upload of 10 MB, rejected in node:http");
  for (const isChunked of [false, true]) {
    const server = await startServer("g");
    await sendAll(server.port, Array.from({ length: 1_000 }, makeGoodRequest), 200);
    const respondedMs = [];
    const cpuMs = [];
    const goodCpuMs = [];
    const statuses = new Set();
    const { rss: rssBefore } = await server.measure();
    for (let round = 0; round < ROUNDS; round++) {
      const before = await server.measure();
      const outcome = await upload(server.port, isChunked);
      await sleep(50);
      const after = await server.measure();
      statuses.add(outcome.status);
      respondedMs.push(outcome.respondedMs);
      cpuMs.push((after.cpuMicros - before.cpuMicros) / 1_000);
      // An idle process is slow to wake: the cost of a good request, measured in the same way.
      await sendAll(server.port, [makeGoodRequest()], 200);
      await sleep(50);
      const afterGood = await server.measure();
      goodCpuMs.push((afterGood.cpuMicros - after.cpuMicros) / 1_000);
    }
    const { rss } = await server.measure();
    console.log(
      `${isChunked ? "chunked  " : "announced"}  got ${[...statuses].join(", ")} after ${median(respondedMs).toFixed(1)} ms, CPU ${median(cpuMs).toFixed(1)} ms (a good request: ${median(goodCpuMs).toFixed(1)} ms), RSS changed by ${ROUNDS} of them: ${((rss - rssBefore) / 2 ** 20).toFixed(1)} MiB`,
    );
    server.stop();
  }
}

module.exports = { uploads };
