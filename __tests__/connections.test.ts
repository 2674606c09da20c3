import { Agent, createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createConnections, type Connections } from "../lib/connections";

let server: Server | undefined;
const agents: Agent[] = [];

afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server whose requests take as long as their path says, in milliseconds. */
async function start(connections: Connections): Promise<(delayMs: number) => Promise<string>> {
  server = createServer((req, res) => {
    const done = new Promise<void>((resolve) => setTimeout(resolve, Number(req.url?.slice(1))));
    void connections.track(req, res, done).then(() => res.end());
  }).listen(0);
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return (delayMs) =>
    new Promise((resolve, reject) => {
      request({ agent, port, path: `/${delayMs}` }, (res) => {
        res.resume().on("end", () => resolve(String(res.headers.connection)));
      })
        .on("error", reject)
        .end();
    });
}

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

describe("createConnections", () => {
  it("waits for running requests, and ends the keep-alive of their connections", async () => {
    const connections = createConnections();
    const send = await start(connections);
    await send(0);
    const response = send(100);
    await new Promise((resolve) => setTimeout(resolve, 30));
    server?.close();
    expect(await timeOf(connections.drain(5_000))).toBeGreaterThan(40);
    expect(await response).toBe("close");
  });

  it("waits for the open connections of a server that no longer listens", async () => {
    const connections = createConnections();
    const send = await start(connections);
    const first = send(60);
    await new Promise((resolve) => setTimeout(resolve, 20));
    server?.close();
    const drained = timeOf(connections.drain(5_000));
    expect(await first).toBe("close");
    expect(await drained).toBeLessThan(1_000);
  });

  it("does not wait for idle connections of a server that still listens", async () => {
    const connections = createConnections();
    const send = await start(connections);
    expect(await send(0)).toBe("keep-alive");
    expect(await timeOf(connections.drain(5_000))).toBeLessThan(500);
  });

  it("resolves at its deadline in any case", async () => {
    const connections = createConnections();
    const send = await start(connections);
    send(2_000).catch(() => "the server is closed after the test");
    await new Promise((resolve) => setTimeout(resolve, 30));
    const tookMs = await timeOf(connections.drain(80));
    expect(tookMs).toBeGreaterThan(70);
    expect(tookMs).toBeLessThan(1_000);
  });

  it("tracks a response without a request, as adapters of serverless platforms have", async () => {
    const connections = createConnections();
    const track = () => connections.track({} as never, { headersSent: false } as never, run);
    const run = new Promise<void>((resolve) => setTimeout(resolve, 30));
    void track();
    const drained = connections.drain(1_000);
    await track();
    await drained;
  });
});
