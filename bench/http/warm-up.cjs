"use strict";
/** Requests before the first measured one. */
const { makeGoodRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");

/** At 1,500 requests, V8 still compiles JavaScript of the request path. */
const WARM_UP_REQUESTS = 10_000;

/** Sends requests until the speed of a server is steady. */
async function warmUp({ port }) {
  await sendAll(port, Array.from({ length: WARM_UP_REQUESTS }, makeGoodRequest), 200);
}

module.exports = { warmUp, WARM_UP_REQUESTS };
