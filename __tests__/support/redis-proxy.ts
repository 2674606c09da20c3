import { EventEmitter, once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy in front of a Redis, or of a Postgres, that breaks connections as a network does. */
export type RedisProxy = Awaited<ReturnType<typeof startRedisProxy>>;

/** Starts a proxy in front of the server on this port. */
export async function startRedisProxy(port: number) {
  const clients = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  let dropped: { text: string; resolve: () => void } | undefined;
  const closings = new EventEmitter();
  let lost: { text: string; resolve: () => void } | undefined;
  let awaited: { text: string; resolve: () => void } | undefined;

  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    let losing: typeof lost;
    clients.add(client);
    client.on("error", () => {}).on("close", () => upstream.destroy());
    client.on("close", () => closings.emit("close"));
    upstream.on("error", () => {}).on("close", () => client.destroy());
    client.on("data", (chunk) => {
      if (swallowed.has(client)) return;
      if (dropped !== undefined && chunk.includes(dropped.text)) return dropped.resolve();
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
        if (awaited !== undefined && chunk.includes(awaited.text)) awaited.resolve();
        return;
      }
      client.destroy();
      losing.resolve();
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const proxyPort = (proxy.address() as AddressInfo).port;

  return {
    url: `redis://127.0.0.1:${proxyPort}`,
    port: proxyPort,
    /** Drops all further data of the connections that are open now, without closing them. */
    swallow() {
      for (const client of clients) swallowed.add(client);
    },
    /** Closes the connections that are open now; commands that were sent before still run. */
    cut() {
      for (const client of clients) client.destroy();
    },
    /**
     * Passes the next command with this text on to Redis and, once Redis has replied, closes the
     * connection in place of the reply. Resolves then.
     */
    loseReplyTo(text: string): Promise<void> {
      return new Promise((resolve) => {
        lost = { text, resolve };
      });
    },
    /**
     * Drops every further command with this text: it gets no reply. Without a text, none. Resolves
     * when the first was dropped.
     */
    async drop(text?: string): Promise<void> {
      dropped = undefined;
      if (text === undefined) return;
      await new Promise<void>((resolve) => {
        dropped = { text, resolve };
      });
    },
    /** Passes on the next reply with this text, and resolves. */
    passes(text: string): Promise<void> {
      return new Promise((resolve) => {
        awaited = { text, resolve };
      });
    },
    /** Resolves after so many further connections have been closed. */
    async closes(count: number): Promise<void> {
      for (let left = count; left > 0; left--) await once(closings, "close");
    },
    close() {
      proxy.close();
      for (const client of clients) client.destroy();
    },
  };
}
