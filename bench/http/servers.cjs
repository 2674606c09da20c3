"use strict";
/** Contestants, each a process of its own. */
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { AUTH_TOKEN, PUBLIC_URL } = require("./requests.cjs");
const { pin, SERVER_CORE } = require("./cores.cjs");

/**
 * Starts a contestant; `measure` tells its CPU time in µs and its memory in bytes so far, with
 * "collect" after a collection of garbage.
 */
async function startServer(contestant, mode = "normal", settings = {}) {
  const [command, ...args] = pin(SERVER_CORE, [process.execPath, `${__dirname}/server.cjs`]);
  const child = spawn(command, args, {
    env: {
      ...process.env,
      CONTESTANT: contestant,
      MODE: mode,
      AUTH_TOKEN,
      PUBLIC_URL,
      ...settings,
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [{ port }] = await once(child, "message");
  return {
    port,
    async measure(message = "measure") {
      child.send(message);
      const [figures] = await once(child, "message");
      return figures;
    },
    stop: () => child.kill(),
  };
}

module.exports = { startServer };
