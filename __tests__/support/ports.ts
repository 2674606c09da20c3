import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { until } from "./waiting";

/** Below the ports that a system gives to connections, and to servers that ask for any. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/**
 * Returns a port for a process that is told its port; no other call, in any process, returns it before this
 * process ends.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    // Who holds the UDP port has the TCP port of the same number, also until its process listens.
    const mark = createSocket("udp4").unref();
    mark.bind({ port, address: "127.0.0.1", exclusive: true });
    const server = createServer();
    const isFree = await once(mark, "listening")
      .then(() => once(server.listen(port, "127.0.0.1"), "listening"))
      .then(Boolean, () => false);
    if (!isFree) {
      mark.close();
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${LAST_PORT} is free`);
}

export const untilListening = (port: number): Promise<void> =>
  until(async () => {
    const socket = connect(port, "127.0.0.1");
    const isListening = await once(socket, "connect").then(Boolean, () => false);
    socket.destroy();
    return isListening;
  });
