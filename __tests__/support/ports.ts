import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

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

/** Waits until a server accepts connections on a port. */
export async function untilListening(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const isListening = await once(socket, "connect").then(Boolean, () => false);
  socket.destroy();
  if (isListening) return;
  await sleep(5);
  return untilListening(port);
}
