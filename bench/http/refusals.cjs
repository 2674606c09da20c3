"use strict";
/** What it costs to reject a request, beside a good one. */
const { makeGoodCall, REFUSED } = require("./calls.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp } = require("./warm-up.cjs");

/** It ends its connection, so it is compared with a good call that does. */
const OVERSIZE = "announced oversize";
const NEW_CONNECTION = "good call on a new connection";
/** The least that it can cost: a server that responds 413 and does nothing else. */
const BARE_REFUSAL = "announced oversize, by a server that only rejects";
const ROUNDS = 9;
const CALLS_PER_ROUND = 800;

async function refusals() {
  const ours = await startServer("g");
  const bare = await startServer("refuse");
  const good = [200, makeGoodCall];
  const kinds = {
    "good call": good,
    ...REFUSED,
    [BARE_REFUSAL]: REFUSED[OVERSIZE],
    [NEW_CONNECTION]: good,
  };
  const cpu = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  await warmUp(ours);
  for (let round = -1; round < ROUNDS; round++) {
    for (const [kind, [status, make]] of Object.entries(kinds)) {
      const server = kind === BARE_REFUSAL ? bare : ours;
      const calls = Array.from({ length: CALLS_PER_ROUND }, make);
      const before = await server.measure();
      const newConnections = status === 413 || kind === NEW_CONNECTION;
      await sendAll(server.port, calls, status, { newConnections });
      const after = await server.measure();
      if (round >= 0) cpu[kind].push((after.cpuMicros - before.cpuMicros) / calls.length);
    }
  }
  console.log(`\nRefusing, in node:http: CPU per call, and of a good call`);
  for (const kind of Object.keys(kinds)) {
    const micros = median(cpu[kind]);
    const base = median(cpu[kind.startsWith(OVERSIZE) ? NEW_CONNECTION : "good call"]);
    console.log(`${micros.toFixed(0).padStart(4)} µs  ${(micros / base).toFixed(2)}  ${kind}`);
  }
  ours.stop();
  bare.stop();
}

module.exports = { refusals };
