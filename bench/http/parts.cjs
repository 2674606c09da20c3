"use strict";
/**
 * The parts of a request, each alone and without a socket, and the whole receiver beside them: run
 * with --single-threaded, so that the collector and the compilers of V8 count.
 */
const { pushWebhooks, createMemoryDedupe } = require("../../dist");
const { createMemoryOutcomes } = require("../../dist/core/delivery/memory-outcomes.js");
const { toOutcome } = require("../../dist/core/delivery/outcome.js");
const { parseEvent } = require("../../dist/core/event/parse.js");
const { decodeForm } = require("../../dist/core/event/form.js");
const { AmbiguityCheck } = require("../../dist/core/receiver/ambiguity.js");
const { createTokenKey } = require("../../dist/core/signature/hmac.js");
const { findMatch } = require("../../dist/core/signature/signature.js");
const { makeExchange } = require("./exchange.cjs");
const { median } = require("./median.cjs");
const { AUTH_TOKEN, PUBLIC_URL, signRequest } = require("./requests.cjs");

const ROUNDS = 9;
const REQUESTS_PER_ROUND = 3_000;
/** V8 has compiled most of the request path then. */
const WARM_UP_ROUNDS = 6;

function readAndRespond({ req, res }) {
  return new Promise((resolve) => {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => {
      Buffer.concat(chunks);
      res.writeHead(200).end();
      resolve();
    });
  });
}

const keys = [createTokenKey(AUTH_TOKEN)];
const ambiguityCheck = new AmbiguityCheck([]);
const dedupe = createMemoryDedupe();
const outcomes = createMemoryOutcomes();
const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
push.on("challenge.approved", () => {});

function claimAndComplete({ event: { account_sid: accountSid, uuid }, signature }) {
  const claim = { accountSid, uuid, contentHash: signature, owner: "", leaseMs: 60_000 };
  if (dedupe.claim(claim) === "new") void dedupe.complete(claim);
}

const PARTS = {
  "node:http: objects, body and an empty 200": (request) => readAndRespond(makeExchange(request)),
  "form: decoded, sorted and joined": ({ bytes }) => decodeForm(bytes),
  "signature: HMAC and comparison": ({ signature, joined }) =>
    findMatch(signature, keys, [PUBLIC_URL], joined),
  "event: all JSON and the schema": ({ params }) => parseEvent(params),
  "other readings of the signed text": ({ event, joined }) => ambiguityCheck.find(event, joined),
  "uuid claimed and kept, within bounds": claimAndComplete,
  "outcome kept, within bounds": ({ event }) => outcomes.record("", toOutcome(event)),
};
const WHOLE = "the receiver";

function makeRequest() {
  const { signature, body } = signRequest();
  const bytes = Buffer.from(body);
  const { pairs: params, joined } = decodeForm(bytes);
  return { signature, bytes, params, joined, event: parseEvent(params) };
}

async function measureRound(run) {
  const requests = Array.from({ length: REQUESTS_PER_ROUND }, makeRequest);
  const before = process.cpuUsage();
  for (const request of requests) {
    const result = run(request);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS_PER_ROUND;
}

async function receive(request) {
  const { req, res } = makeExchange(request);
  // Its type is void.
  await Promise.resolve(push(req, res));
  if (res.statusCode !== 200) throw new Error(`The response was ${res.statusCode}.`);
}

async function parts() {
  const runs = { ...PARTS, [WHOLE]: receive };
  const micros = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const figure = await measureRound(run);
      if (round >= 0) micros[name].push(figure);
    }
  }
  const print = (figure, name) => console.log(`${figure.toFixed(1).padStart(6)} µs  ${name}`);
  let rest = median(micros[WHOLE]);
  for (const name of Object.keys(PARTS)) {
    rest -= median(micros[name]);
    print(median(micros[name]), name);
  }
  print(rest, "the rest: headers, handlers, channels, promises, and what stays for the collector");
  print(median(micros[WHOLE]), WHOLE);
}

void parts();
