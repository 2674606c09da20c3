import { EventEmitter, once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createGate } from "./waiting";

type Gate = ReturnType<typeof createGate>;

/** Starts a proxy in front of a Redis, or of a Postgres, that breaks connections as a network does. */
export async function startRedisProxy(port: number) {
  const clients = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  const closings = new EventEmitter();
  /** What happens to data with a text; the gate opens then. */
  const awaited: Partial<Record<"drop" | "lose" | "pass", Gate & { text: string }>> = {};

  function waitFor(what: keyof typeof awaited, text: string): Promise<void> {
    const gate = createGate();
    awaited[what] = { ...gate, text };
    return gate.opened;
  }
  function find(what: keyof typeof awaited, chunk: Buffer): Gate | undefined {
    const one = awaited[what];
    return one !== undefined && chunk.includes(one.text) ? one : undefined;
  }

  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    let losing: Gate | undefined;
    clients.add(client);
    client.on("error", () => {}).on("close", () => upstream.destroy());
    client.on("close", () => closings.emit("close"));
    upstream.on("error", () => {}).on("close", () => client.destroy());
    client.on("data", (chunk) => {
      if (swallowed.has(client)) return;
      const dropped = find("drop", chunk);
      if (dropped !== undefined) return dropped.open();
      losing ??= find("lose", chunk);
      if (losing !== undefined) delete awaited.lose;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (swallowed.has(client)) return;
      if (losing === undefined) {
        client.write(chunk);
        find("pass", chunk)?.open();
      } else {
        client.destroy();
        losing.open();
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const proxyPort = (proxy.address() as AddressInfo).port;

  return {
    url: `redis://127.0.0.1:${proxyPort}`,
    port: proxyPort,
    /** Drops all further data of the connections that are open now, without closing them. */
    swallow: () => clients.forEach((client) => swallowed.add(client)),
    /** Passes the next command with this text on, and closes its connection in place of the reply. */
    loseReplyTo: (text: string) => waitFor("lose", text),
    /** Drops every further command with this text, or none without one; resolves at the first. */
    async drop(text?: string): Promise<void> {
      delete awaited.drop;
      if (text !== undefined) await waitFor("drop", text);
    },
    passes: (text: string) => waitFor("pass", text),
    async closes(count: number): Promise<void> {
      for (let left = count; left > 0; left--) await once(closings, "close");
    },
    close() {
      proxy.close();
      for (const client of clients) client.destroy();
    },
  };
}
