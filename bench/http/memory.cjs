"use strict";
/** The memory that uuids and outcomes take: run with --expose-gc. */
const { randomUUID } = require("node:crypto");
const { createMemoryDedupe } = require("../../dist");
const { createMemoryOutcomes } = require("../../dist/core/delivery/memory-outcomes.js");
const { toOutcome } = require("../../dist/core/delivery/outcome.js");
const { decodeForm } = require("../../dist/core/event/form.js");
const { parseEvent } = require("../../dist/core/event/parse.js");
const { signRequest } = require("./requests.cjs");

function holdOutcome(outcomes) {
  const { body } = signRequest();
  outcomes.record("", toOutcome(parseEvent(decodeForm(body).pairs)));
}

function holdUuid(dedupe) {
  const contentHash = randomUUID().slice(0, 28);
  const key = { accountSid: "AC3c39f4e8dd93bc08628b7433542b06e2", uuid: randomUUID(), owner: "" };
  dedupe.claim({ ...key, contentHash, leaseMs: 60_000 });
  dedupe.complete(key);
}

// Alive to the end: memory that is freed would be taken off the next figure.
const kept = [];

function measureBytes() {
  // Some of it, buffers above all, only the next collection frees.
  for (let round = 0; round < 3; round++) globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The bytes of a memory that holds `count`, in words. */
function measureHeld(memory, hold, count) {
  kept.push(memory);
  const before = measureBytes();
  for (let index = 0; index < count; index++) hold(memory);
  return `${((measureBytes() - before) / 1e6).toFixed(0).padStart(4)} MB  ${count}`;
}

console.log(measureHeld(createMemoryOutcomes(), holdOutcome, 100_000), "outcomes of challenges");
console.log(measureHeld(createMemoryDedupe(), holdUuid, 100_000), "uuids");
