"use strict";
/** Cost of a console for its receiver: CPU per request, with its page closed and open. */
const { get } = require("node:http");
const { makeGoodRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");

const REQUESTS = 1_000;
const ROUNDS = 15;

/** Reads the events as an open page does; resolves with the function that closes it. */
async function openStream(port) {
  const sent = get({ host: "127.0.0.1", port, path: "/admin/console/live", agent: false });
  sent.on("error", () => "closed below");
  const response = await new Promise((resolve) => sent.once("response", resolve));
  if (response.statusCode !== 200) throw new Error(`The stream was ${response.statusCode}.`);
  response.on("error", () => "closed below").resume();
  return () => sent.destroy();
}

async function measureRound({ port, measure }) {
  const requests = Array.from({ length: REQUESTS }, makeGoodRequest);
  const before = await measure();
  await sendAll(port, requests, 200);
  const after = await measure();
  return (after.cpuMicros - before.cpuMicros) / REQUESTS;
}

async function consolePage() {
  const without = await startServer("f");
  const shown = await startServer("console");
  const micros = { "no console": [], "page closed": [], "page open": [] };
  const ratios = [];
  for (let round = -2; round < ROUNDS; round++) {
    const bare = await measureRound(without);
    const closed = await measureRound(shown);
    const close = await openStream(shown.port);
    const open = await measureRound(shown);
    close();
    if (round < 0) continue;
    micros["no console"].push(bare);
    micros["page closed"].push(closed);
    micros["page open"].push(open);
    ratios.push(open / closed);
  }
  console.log(
    `\nConsole: CPU per request in Express 5, medians of ${ROUNDS} rounds of ${REQUESTS}`,
  );
  for (const [name, values] of Object.entries(micros)) {
    console.log(`${median(values).toFixed(1).padStart(6)} µs  ${name}`);
  }
  console.log(`${median(ratios).toFixed(3).padStart(6)}     page open / page closed`);
  without.stop();
  shown.stop();
}

module.exports = { consolePage };
