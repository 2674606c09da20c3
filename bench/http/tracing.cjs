"use strict";
/** Cost of subscribers of the channels and of OpenTelemetry for a good webhook request. */
const { join } = require("node:path");
const { instructions } = require("./instructions.cjs");

const OBSERVERS = {
  nobody: "nobody subscribes",
  channels: "functions that do nothing subscribe to all channels",
  "otel-without-sdk": "/otel, without an SDK of OpenTelemetry",
  otel: "/otel, with exporters in memory",
};

async function tracing() {
  console.log("\nInstructions of a good request in the receiver");
  const dist = join(__dirname, "..", "..", "dist");
  const observers = Object.entries(OBSERVERS);
  const counts = await instructions(observers.map(([observer]) => ({ dist, observer })));
  if (counts === undefined) return console.log("not counted: valgrind is not installed");
  const [least] = counts;
  for (const [index, [, name]] of observers.entries()) {
    const kilos = (counts[index] / 1_000).toFixed(0).padStart(6);
    console.log(`${kilos} k  ${(counts[index] / least).toFixed(2)}  ${name}`);
  }
}

module.exports = { tracing };
