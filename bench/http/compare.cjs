"use strict";
/** The contestants side by side: CPU time of the server per request, requests a second, memory. */
const { makeGoodRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp, WARM_UP_REQUESTS } = require("./warm-up.cjs");

const NAMES = {
  a: "node:http that reads and responds",
  b: "node:http, querystring, HMAC and JSON.parse by hand",
  c: "Express 5, express.urlencoded(), no verification",
  d: "c and the SDK's validateRequest",
  e: "d, zod and a switch: the whole job today",
  f: "this package in Express 5",
  k: "f without deduplication",
  g: "this package in node:http",
  j: "this package in front of Express, for its path",
  h: "b, and by hand all that g does: zod, all JSON, uuids and outcomes kept",
  i: "h in Express 5",
  l: "b in Express 5",
};
/** After these, V8 compiles no more. */
const STEADY_REQUESTS = 60_000;
const ROUNDS = 15;
const REQUESTS_PER_ROUND = 1_500;

async function compareIn(mode, warmUpRequests) {
  const contestants = [];
  for (const [name, what] of Object.entries(NAMES)) {
    contestants.push({ name, what, server: await startServer(name, mode), cpu: [], rate: [] });
  }
  for (const { server } of contestants) await warmUp(server, warmUpRequests);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { server, cpu, rate } of contestants) {
      const requests = Array.from({ length: REQUESTS_PER_ROUND }, makeGoodRequest);
      const before = await server.measure();
      const perSecond = await sendAll(server.port, requests, 200);
      const after = await server.measure();
      cpu.push((after.cpuMicros - before.cpuMicros) / requests.length);
      rate.push(perSecond);
    }
  }
  console.log(
    `\nNode ${process.version}, ${mode} mode, after ${warmUpRequests} requests: CPU of the server per request, requests per second, RSS after ${warmUpRequests + ROUNDS * REQUESTS_PER_ROUND} requests`,
  );
  const of = {};
  for (const { name, what, server, cpu, rate } of contestants) {
    const { rss } = await server.measure();
    of[name] = { cpu: median(cpu), rss };
    console.log(
      `${name}  ${of[name].cpu.toFixed(0).padStart(4)} µs ${median(rate).toFixed(0).padStart(6)}/s ${(rss / 1e6).toFixed(0).padStart(4)} MB  ${what}`,
    );
    server.stop();
  }
  const ratio = (x, y) => (of[x].cpu / of[y].cpu).toFixed(2);
  console.log(
    `f: ${ratio("c", "f")} of c, ${ratio("e", "f")} of e; k: ${ratio("c", "k")} of c, ${ratio("e", "k")} of e; g: ${ratio("b", "g")} of b, ${ratio("e", "g")} of e; the same work: f ${ratio("i", "f")} of i, g ${ratio("h", "g")} of h; work by hand: i ${ratio("c", "i")} of c, h ${ratio("b", "h")} of b, i ${ratio("e", "i")} and l ${ratio("e", "l")} of e (above 1 is faster); RSS of f: ${(of.f.rss / of.c.rss).toFixed(2)} of c, ${(of.f.rss / of.e.rss).toFixed(2)} of e, ${(of.f.rss / of.i.rss).toFixed(2)} of i`,
  );
}

async function compare() {
  await compareIn("normal", WARM_UP_REQUESTS);
  await compareIn("normal", STEADY_REQUESTS);
  // Request and response have the app's prototypes from the start: without the cost of Express itself.
  await compareIn("fast", WARM_UP_REQUESTS);
}

module.exports = { compare };
