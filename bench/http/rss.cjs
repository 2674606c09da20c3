"use strict";
/** The memory of a server after challenge events of as many users. */
const { sendAll } = require("./load.cjs");
const { makeRequestOfUser } = require("./requests.cjs");
const { startServer } = require("./servers.cjs");

const EVENTS = 80_000;
/** The load signs so many requests before it sends them. */
const SLICE = 4_000;
const CONTESTANTS = {
  c: "express.urlencoded() alone",
  e: "c, the SDK, zod and a switch",
  f: "this package in Express 5",
  i: "the same work by hand in Express 5",
  k: "f without deduplication",
};

const show = (bytes) => `${(bytes / 1e6).toFixed(0).padStart(5)} MB`;

async function rss() {
  console.log(`\nMemory after ${EVENTS} challenge events of distinct users`);
  console.log("RSS at start, RSS, heap, heap in use after a collection");
  for (const [contestant, name] of Object.entries(CONTESTANTS)) {
    const server = await startServer(contestant);
    const atStart = await server.measure();
    for (let sent = 0; sent < EVENTS; sent += SLICE) {
      await sendAll(server.port, Array.from({ length: SLICE }, makeRequestOfUser), 200);
    }
    const { rss: atEnd, heapTotal } = await server.measure();
    const { heapUsed } = await server.measure("collect");
    console.log(...[atStart.rss, atEnd, heapTotal, heapUsed].map(show), ` ${name}`);
    server.stop();
  }
}

module.exports = { rss };
