"use strict";
/** Cost of a console for its receiver: CPU per request, with its page closed and open. */
const { makeGoodRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");

const REQUESTS = 1_000;
const ROUNDS = 15;

const POLL_MS = 3_000;

/** Asks for changes as an open page does; returns the function that closes it. */
function openPage(port) {
  let position;
  async function poll() {
    const response = await fetch(`http://127.0.0.1:${port}/admin/console/view`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ filter: {}, position }),
    });
    if (!response.ok) throw new Error(`The console responded ${response.status}.`);
    ({ position } = await response.json());
  }
  let last = poll();
  const timer = setInterval(() => void (last = poll()), POLL_MS);
  return () => {
    clearInterval(timer);
    return last;
  };
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
    const close = openPage(shown.port);
    const open = await measureRound(shown);
    await close();
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
