"use strict";
/**
 * Contestants that do the same work, a signed v2 challenge.approved that is answered 200, in
 * interleaved rounds of one run: CPU time of the server per call, and ratios of it.
 *
 * npm run bench
 */
const { fork } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const { connect } = require("node:net");
const { signedRequest } = require("../../dist/testing");

const AUTH_TOKEN = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const PUBLIC_URL = "https://hooks.example.test/push";
const [, , rounds = "9", perRound = "3000"] = process.argv;
const CONNECTIONS = 16;

const NAMES = {
  a: "node:http that reads and answers",
  b: "node:http, querystring, HMAC and JSON.parse by hand",
  c: "Express 5, express.urlencoded(), no verification",
  d: "c and the SDK's validateRequest",
  e: "d, zod and a switch: the whole job today",
  f: "this package in Express 5",
  g: "this package in node:http",
};
const SDK_HEADER = "x-service-signature";

function makeCall(kind) {
  const options = {
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    contentType: "application/x-www-form-urlencoded",
  };
  const details = {
    message: "Approve the payment of 250 €?",
    date: "2024-03-05T10:20:30Z",
    fields: Array.from({ length: 5 }, (_, index) => ({
      label: `Label ${index}`,
      value: `Value ${index} & more`,
    })),
  };
  const { headers, body } = signedRequest(
    "challenge.approved",
    { uuid: randomUUID(), challenge_details: details },
    options,
  );
  let signature = headers["X-Service-Signature"];
  let sent = body;
  if (kind === "bad signature") signature = "spltyRVLIB+qQr/llzKRKlLsVRc=";
  if (kind === "malformed signature") signature = "x";
  if (kind === "broken escapes") sent = "%zz".repeat(4_000);
  if (kind === "repeated names") sent = "a=1&".repeat(900);
  const lines = [
    "POST /push HTTP/1.1",
    "host: hooks.example.test",
    `content-type: ${options.contentType}`,
    `content-length: ${Buffer.byteLength(sent)}`,
  ];
  if (kind !== "no signature") lines.push(`${SDK_HEADER}: ${signature}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${sent}`);
}

async function start(contestant, mode) {
  const env = { ...process.env, CONTESTANT: contestant, MODE: mode, AUTH_TOKEN, PUBLIC_URL };
  const child = fork(`${__dirname}/server.cjs`, { env });
  const [{ port }] = await once(child, "message");
  const ask = async () => {
    child.send("cpu");
    const [answer] = await once(child, "message");
    return answer;
  };
  return { child, port, ask };
}

/** Sends calls over several connections, one at a time on each; the status of every answer counts. */
async function send(port, calls, status) {
  let next = 0;
  let wrong = 0;
  const lane = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      let received = "";
      const step = () => {
        if (next >= calls.length) return socket.end();
        received = "";
        socket.write(calls[next++]);
      };
      socket.setNoDelay(true).on("connect", step).on("error", reject).on("close", resolve);
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
        const end = received.indexOf("\r\n\r\n");
        if (end === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
        const isChunked = /transfer-encoding: chunked/i.test(received);
        if (isChunked ? !received.endsWith("0\r\n\r\n") : received.length < end + 4 + length)
          return;
        if (Number(received.slice(9, 12)) !== status) wrong++;
        step();
      });
    });
  const startMs = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  if (wrong > 0) throw new Error(`${wrong} answers were not ${status}.`);
  return calls.length / ((performance.now() - startMs) / 1_000);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function compare(mode) {
  const servers = {};
  for (const contestant of Object.keys(NAMES)) servers[contestant] = await start(contestant, mode);
  const cpu = Object.fromEntries(Object.keys(NAMES).map((name) => [name, []]));
  const rate = Object.fromEntries(Object.keys(NAMES).map((name) => [name, []]));
  for (let round = -1; round < Number(rounds); round++) {
    for (const [contestant, { port, ask }] of Object.entries(servers)) {
      const calls = Array.from({ length: Number(perRound) }, () => makeCall());
      const { cpuMicros: before } = await ask();
      const perSecond = await send(port, calls, 200);
      const { cpuMicros: after } = await ask();
      // The first one warms up.
      if (round < 0) continue;
      cpu[contestant].push((after - before) / calls.length);
      rate[contestant].push(perSecond);
    }
  }
  console.log(
    `\nNode ${process.version}, ${mode} mode: CPU of the server per call, requests per second`,
  );
  const of = (name) => median(cpu[name]);
  for (const [name, what] of Object.entries(NAMES)) {
    const { rss } = await servers[name].ask();
    console.log(
      `${name}  ${of(name).toFixed(0).padStart(4)} µs ${median(rate[name]).toFixed(0).padStart(6)}/s ${(rss / 1e6).toFixed(0).padStart(4)} MB  ${what}`,
    );
  }
  const ratio = (x, y) => (of(x) / of(y)).toFixed(2);
  console.log(
    `f: ${ratio("c", "f")} of c, ${ratio("e", "f")} of e; g: ${ratio("b", "g")} of b, ${ratio("e", "g")} of e (above 1 is faster)`,
  );
  for (const { child } of Object.values(servers)) child.kill();
}

async function compareRefusals() {
  const { child, port, ask } = await start("g", "normal");
  const kinds = {
    good: 200,
    "bad signature": 403,
    "no signature": 403,
    "malformed signature": 403,
    "broken escapes": 400,
    "repeated names": 403,
  };
  const cpu = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  for (let round = -1; round < Number(rounds); round++) {
    for (const [kind, status] of Object.entries(kinds)) {
      const calls = Array.from({ length: 1_500 }, () => makeCall(kind));
      const { cpuMicros: before } = await ask();
      await send(port, calls, status);
      const { cpuMicros: after } = await ask();
      if (round >= 0) cpu[kind].push((after - before) / calls.length);
    }
  }
  console.log("\nRefusing, in node:http: CPU per call, and of a good call");
  for (const kind of Object.keys(kinds)) {
    console.log(
      `${median(cpu[kind]).toFixed(0).padStart(4)} µs  ${(median(cpu[kind]) / median(cpu.good)).toFixed(2)}  ${kind}`,
    );
  }
  child.kill();
}

async function main() {
  await compare("normal");
  await compare("fast");
  await compareRefusals();
}

void main();
