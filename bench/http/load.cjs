"use strict";
/** Loads of requests over keep-alive connections of raw bytes. */
const { connect } = require("node:net");
const { setTimeout: sleep } = require("node:timers/promises");

const CONNECTIONS = 16;

/** A connection that sends one request at a time; `ask` resolves with the status of its response. */
async function openConnection(port) {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let settle;
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    if (!isWhole(received)) return;
    settle.resolve(Number(received.slice(9, 12)));
    received = "";
  });
  socket.on("error", (error) => settle?.reject(error));
  socket.on("close", () => settle?.reject(new Error("The server closed the connection.")));
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

function isWhole(response) {
  const headEnd = response.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  if (/transfer-encoding: chunked/i.test(response)) return response.endsWith("0\r\n\r\n");
  return response.length >= headEnd + 4 + Number(/content-length: (\d+)/i.exec(response)?.[1] ?? 0);
}

/** Never sleeps meanwhile, or a slow server would also pay for waking the load. */
async function stayAwake(work) {
  let isOver = false;
  const turn = () => isOver || setImmediate(turn);
  turn();
  try {
    return await work();
  } finally {
    isOver = true;
  }
}

/** Sends requests, the next after each response, and resolves with how many a second it took. */
async function sendAll(port, requests, status, { newConnections = false } = {}) {
  let next = 0;
  const lane = async () => {
    let connection;
    while (next < requests.length) {
      const request = requests[next++];
      connection ??= await openConnection(port);
      const got = await connection.ask(request);
      if (got !== status) throw new Error(`A response was ${got} and not ${status}.`);
      if (newConnections) {
        connection.close();
        connection = undefined;
      }
    }
    connection?.close();
  };
  const startMs = performance.now();
  await stayAwake(() => Promise.all(Array.from({ length: CONNECTIONS }, lane)));
  return requests.length / ((performance.now() - startMs) / 1_000);
}

/** Sends requests at a rate over many connections in turn; resolves with the latencies in ms. */
async function sendAtRate(port, requests, perSecond, connectionCount) {
  const free = await openAll(port, connectionCount);
  const latenciesMs = [];
  const startMs = performance.now();
  const work = requests.map(async (request, index) => {
    const dueMs = startMs + (index / perSecond) * 1_000;
    await sleep(dueMs - performance.now());
    const connection = free.shift();
    if (connection === undefined) throw new Error("The server has fallen behind the rate.");
    const status = await connection.ask(request);
    if (status !== 200) throw new Error(`A response was ${status}.`);
    latenciesMs.push(performance.now() - dueMs);
    free.push(connection);
  });
  await Promise.all(work);
  for (const connection of free) connection.close();
  return latenciesMs;
}

async function openAll(port, count) {
  const open = [];
  for (let index = 0; index < count; index++) open.push(await openConnection(port));
  return open;
}

module.exports = { sendAll, sendAtRate };
