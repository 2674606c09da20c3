"use strict";
/** Latency at a steady rate over 1,000 connections. */
const { makeGoodRequest } = require("./requests.cjs");
const { sendAtRate } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp } = require("./warm-up.cjs");

const CONNECTIONS = 1_000;
const PER_SECOND = 1_000;
const REQUESTS = 5_000;
const ROUNDS = 5;

async function latency() {
  const p50 = { c: [], f: [] };
  const p99 = { c: [], f: [] };
  const servers = { c: await startServer("c"), f: await startServer("f") };
  for (const server of Object.values(servers)) await warmUp(server);
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { port }] of Object.entries(servers)) {
      const requests = Array.from({ length: REQUESTS }, makeGoodRequest);
      const latenciesMs = await sendAtRate(port, requests, PER_SECOND, CONNECTIONS);
      if (round < 0) continue;
      p50[name].push(median(latenciesMs));
      p99[name].push(median(latenciesMs, 0.99));
    }
  }
  console.log(
    `\n${CONNECTIONS} connections, ${PER_SECOND} requests a second: medians of ${ROUNDS} rounds`,
  );
  for (const name of ["c", "f"]) {
    console.log(
      `${name}  p50 ${median(p50[name]).toFixed(2)} ms, p99 ${median(p99[name]).toFixed(2)} ms`,
    );
    servers[name].stop();
  }
}

module.exports = { latency };
