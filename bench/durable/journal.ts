/**
 * Webhook requests that a server stores with the journal of its queue, beside those without: how much CPU
 * time of the server each takes. In turns in one run, on each engine; the first quartile of the rounds:
 * other programs make them longer, never shorter. The servers run the built package: in
 * what tsx compiles, each closure takes time to get its name.
 *
 * npm run build && npm run node24 -- --import tsx bench/durable/journal.ts [rounds] [requests]
 */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { signedRequest, type SignedRequest } from "express-push-verification/testing";
import { startStore } from "./engine";
import { findFreePort, percentile, settings, startProcess } from "./processes";

const [, , rounds = "15", requests = "10000"] = process.argv;
const LANES = 64;
const ENGINES = ["redis", "sqlite", "postgres"];

/** Starts a server on a store of its own. */
async function startServer(engine: string, journal: string) {
  const store = await startStore(engine);
  const port = await findFreePort();
  const { child, kill } = await startProcess("web.ts", {
    ...store.env,
    PORT: String(port),
    JOURNAL: journal,
    TSX_TSCONFIG_PATH: join(__dirname, "tsconfig.built.json"),
  });

  async function readCpuUs(): Promise<number> {
    child.send("cpu");
    const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
    return usage.user + usage.system;
  }

  return {
    /** Returns the CPU time of a request in microseconds. */
    async measure(): Promise<number> {
      const signed = Array.from({ length: Number(requests) }, () =>
        signedRequest(settings, "factor.created", { uuid: crypto.randomUUID() }),
      );
      // New connections: the server closes those that were idle.
      const agent = new Agent({ keepAlive: true });
      const startUs = await readCpuUs();
      const sendAll = async () => {
        for (let one = signed.pop(); one !== undefined; one = signed.pop())
          await send({ port, agent }, one);
      };
      await Promise.all(Array.from({ length: LANES }, sendAll));
      agent.destroy();
      return ((await readCpuUs()) - startUs) / Number(requests);
    },
    async close() {
      await kill();
      await store.remove();
    },
  };
}

async function send(
  to: { port: number; agent: Agent },
  { method, path, headers, body }: SignedRequest,
): Promise<void> {
  const sent = request({ ...to, method, path, headers }).end(body);
  const [response] = (await once(sent, "response")) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`responded ${response.statusCode}`);
}

async function compare(engine: string) {
  const beside = await startServer(engine, "kept");
  const without = await startServer(engine, "none");
  const servers = [beside, without];
  const found = servers.map(() => [] as number[]);
  for (const { measure } of servers) await measure();
  for (let round = 0; round < Number(rounds); round++) {
    // Neither is always the first.
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const index of order) found[index]?.push((await servers[index]?.measure()) ?? 0);
  }
  for (const { close } of servers) await close();
  const [kept = 0, none = 0] = found.map((times) => Number(percentile(times, 0.25, 2)));
  return {
    engine,
    "with the journal, µs": kept,
    "without, µs": none,
    ratio: (kept / none).toFixed(3),
  };
}

async function main(): Promise<void> {
  const results: object[] = [];
  for (const engine of ENGINES) results.push(await compare(engine));
  console.table(results);
}

void main();
