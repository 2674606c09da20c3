"use strict";
/** Loads of calls over keep-alive connections of raw bytes. */
const { connect } = require("node:net");
const { setTimeout: sleep } = require("node:timers/promises");

const CONNECTIONS = 16;

/** A connection that sends one call at a time; `ask` resolves with the status of its response. */
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
    ask: (call) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(call);
      }),
    close: () => socket.destroy(),
  };
}

function isWhole(answer) {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  if (/transfer-encoding: chunked/i.test(answer)) return answer.endsWith("0\r\n\r\n");
  return answer.length >= headEnd + 4 + Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0);
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

/** Sends calls, the next after each response, and resolves with how many a second it took. */
async function sendAll(port, calls, status, { newConnections = false } = {}) {
  let next = 0;
  const lane = async () => {
    let connection;
    while (next < calls.length) {
      const call = calls[next++];
      connection ??= await openConnection(port);
      const got = await connection.ask(call);
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
  return calls.length / ((performance.now() - startMs) / 1_000);
}

/** Sends calls at a rate over many connections in turn; resolves with the latencies in ms. */
async function sendAtRate(port, calls, perSecond, connectionCount) {
  const free = await openAll(port, connectionCount);
  const latenciesMs = [];
  const startMs = performance.now();
  const work = calls.map(async (call, index) => {
    const dueMs = startMs + (index / perSecond) * 1_000;
    await sleep(dueMs - performance.now());
    const connection = free.shift();
    if (connection === undefined) throw new Error("The server has fallen behind the rate.");
    const status = await connection.ask(call);
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
