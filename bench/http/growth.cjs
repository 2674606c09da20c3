"use strict";
/** Whether the cost of a request is linear in its parameters and its bytes, up to the limits. */
const { frameRequest, signRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp } = require("./warm-up.cjs");

const OWN_PARAMETERS = 13;
const ROUNDS = 7;
const REQUESTS_PER_ROUND = 200;

// A name that sorts after factor_* and before service_sid ends no value, so it needs no declaration.
function makeWithParameters(count) {
  const names = Array.from({ length: count - OWN_PARAMETERS }, (_, index) => `padding_${index}`);
  return frameRequest(signRequest(Object.fromEntries(names.map((name) => [name, "1"]))));
}

function makeWithBytes(kilobytes) {
  const missing = kilobytes * 1_024 - Buffer.byteLength(signRequest().body) - "&padding=".length;
  return frameRequest(signRequest({ padding: "x".repeat(Math.max(missing, 1)) }));
}

async function growth() {
  const server = await startServer("g");
  const sizes = [
    ...[13, 100, 1_000].map((count) => [`${count} parameters`, () => makeWithParameters(count)]),
    ...[2, 8, 16, 32, 64].map((size) => [`${size} kB`, () => makeWithBytes(size)]),
  ];
  const cpu = Object.fromEntries(sizes.map(([name]) => [name, []]));
  await warmUp(server);
  for (let round = -3; round < ROUNDS; round++) {
    for (const [name, make] of sizes) {
      const requests = Array.from({ length: REQUESTS_PER_ROUND }, make);
      const before = await server.measure();
      await sendAll(server.port, requests, 200);
      const after = await server.measure();
      if (round >= 0) cpu[name].push((after.cpuMicros - before.cpuMicros) / requests.length);
    }
  }
  console.log("\nGrowth, in node:http: CPU per request");
  for (const [name, micros] of Object.entries(cpu)) {
    console.log(`${median(micros).toFixed(0).padStart(5)} µs  ${name}`);
  }
  server.stop();
}

module.exports = { growth };
