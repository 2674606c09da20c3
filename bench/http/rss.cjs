"use strict";
/** The RSS of a server after challenge events of as many users. */
const { sendAll } = require("./load.cjs");
const { makeRequestOfUser } = require("./requests.cjs");
const { startServer } = require("./servers.cjs");

const EVENTS = 80_000;
/** The load signs so many requests before it sends them. */
const SLICE = 4_000;
const CONTESTANTS = { c: "express.urlencoded() alone", f: "this package in Express 5" };

async function rss() {
  console.log(`\nRSS at the start, and after ${EVENTS} challenge events of distinct users`);
  for (const [contestant, name] of Object.entries(CONTESTANTS)) {
    const server = await startServer(contestant);
    const readMB = async () => `${((await server.measure()).rss / 1e6).toFixed(0)} MB`;
    const atStart = await readMB();
    for (let sent = 0; sent < EVENTS; sent += SLICE) {
      await sendAll(server.port, Array.from({ length: SLICE }, makeRequestOfUser), 200);
    }
    console.log(`${atStart}, ${await readMB()}  ${name}`);
    server.stop();
  }
}

module.exports = { rss };
