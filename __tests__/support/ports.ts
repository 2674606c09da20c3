import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** Returns a port that is free now, for a process that is told its port. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until an HTTP server responds on a port, for up to 30 s. */
export async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`No server listens on ${port}.`);
}
