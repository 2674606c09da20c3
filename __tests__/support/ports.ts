import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { until } from "./waiting";

/** Below the ports that a system gives to connections, and to servers that ask for any. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** Returns a port that is free now, for a process that is told its port. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").catch(() => undefined);
    if (isFree === undefined) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${LAST_PORT} is free`);
}

/** Waits until a server accepts connections on a port. */
export const untilListening = (port: number): Promise<void> =>
  until(async () => {
    const socket = connect(port, "127.0.0.1");
    const isListening = await once(socket, "connect").then(Boolean, () => false);
    socket.destroy();
    return isListening;
  });
