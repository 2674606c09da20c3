import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a Redis that breaks connections as a network does. */
export interface RedisProxy {
  url: string;
  /** Drops all further data of the connections that are open now, without closing them. */
  swallow(): void;
  /**
   * Passes the next command with this text on to Redis and, once Redis has replied, closes the
   * connection in place of the reply. Resolves then.
   */
  loseReplyTo(text: string): Promise<void>;
  close(): void;
}

/** Starts a proxy in front of the Redis on this port. */
export async function startRedisProxy(port: number): Promise<RedisProxy> {
  const clients = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  let lost: { text: string; resolve: () => void } | undefined;

  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    let losing: typeof lost;
    clients.add(client);
    client.on("error", () => {}).on("close", () => upstream.destroy());
    upstream.on("error", () => {}).on("close", () => client.destroy());
    client.on("data", (chunk) => {
      if (swallowed.has(client)) return;
      if (lost !== undefined && chunk.includes(lost.text)) {
        losing = lost;
        lost = undefined;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (swallowed.has(client)) return;
      if (losing === undefined) {
        client.write(chunk);
        return;
      }
      client.destroy();
      losing.resolve();
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");

  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    swallow() {
      for (const client of clients) swallowed.add(client);
    },
    loseReplyTo(text) {
      return new Promise((resolve) => {
        lost = { text, resolve };
      });
    },
    close() {
      proxy.close();
      for (const client of clients) client.destroy();
    },
  };
}
