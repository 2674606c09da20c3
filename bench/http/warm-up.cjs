"use strict";
/** Requests before the first measured one. */
const { makeGoodRequest } = require("./requests.cjs");
const { sendAll } = require("./load.cjs");

/** V8 has compiled most of the request path; it compiles until about 50,000. */
const WARM_UP_REQUESTS = 10_000;

/** Sends requests before the first measured one. */
async function warmUp({ port }, requests = WARM_UP_REQUESTS) {
  await sendAll(port, Array.from({ length: requests }, makeGoodRequest), 200);
}

module.exports = { warmUp, WARM_UP_REQUESTS };
