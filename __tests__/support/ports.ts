import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { until } from "./waiting";

/** Below the ports that a system gives to connections, and to servers that ask for any. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** Returns a port that is free now, for a process that is told its port. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").catch(() => undefined);
    if (isFree === undefined) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Waits until an HTTP server responds on a port, for up to 30 s. */
export const untilListening = (port: number): Promise<void> =>
  until(() => fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false));
