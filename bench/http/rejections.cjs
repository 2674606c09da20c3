"use strict";
/** Cost of a rejected request, beside a good one. */
const { makeGoodRequest, REJECTED } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp } = require("./warm-up.cjs");

/** It ends its connection, so it is compared with a good request that does. */
const OVERSIZE = "announced oversize";
const NEW_CONNECTION = "good request on a new connection";
/** The least that it can cost: a server that responds 413 and does nothing else. */
const BARE_REJECTION = "announced oversize, by a server that only rejects";
const ROUNDS = 9;
const REQUESTS_PER_ROUND = 800;

async function rejections() {
  const ours = await startServer("g");
  const bare = await startServer("reject");
  const good = [200, makeGoodRequest];
  const kinds = {
    "good request": good,
    ...REJECTED,
    [BARE_REJECTION]: REJECTED[OVERSIZE],
    [NEW_CONNECTION]: good,
  };
  const cpu = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  await warmUp(ours);
  for (let round = -1; round < ROUNDS; round++) {
    for (const [kind, [status, make]] of Object.entries(kinds)) {
      const server = kind === BARE_REJECTION ? bare : ours;
      const requests = Array.from({ length: REQUESTS_PER_ROUND }, make);
      const before = await server.measure();
      const newConnections = status === 413 || kind === NEW_CONNECTION;
      await sendAll(server.port, requests, status, { newConnections });
      const after = await server.measure();
      if (round >= 0) cpu[kind].push((after.cpuMicros - before.cpuMicros) / requests.length);
    }
  }
  console.log(`\nRejecting, in node:http: CPU per request, and of a good request`);
  for (const kind of Object.keys(kinds)) {
    const micros = median(cpu[kind]);
    const base = median(cpu[kind.startsWith(OVERSIZE) ? NEW_CONNECTION : "good request"]);
    console.log(`${micros.toFixed(0).padStart(4)} µs  ${(micros / base).toFixed(2)}  ${kind}`);
  }
  ours.stop();
  bare.stop();
}

module.exports = { rejections };
