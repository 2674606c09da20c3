/**
 * The store is stopped, killed and frozen for 2 s and for 5 s under load (a file of SQLite is locked):
 * how many webhook requests fail, how long the slowest took, and how soon waiting requests got their
 * responses when the store was back. Then a server is started 3 s and 6 s after the app.
 *
 * npx tsx bench/durable/outages.ts
 * ENGINE=postgres npx tsx bench/durable/outages.ts
 * ENGINE=sqlite npm run node24 -- --import tsx bench/durable/outages.ts
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startStore, type Outage } from "./engine";
import { deliver, findFreePort, percentile, startProcess } from "./processes";

const REQUESTS_PER_SECOND = 200;
const OUTAGES_MS = [2_000, 5_000];

async function measure(port: number, outage: Outage, outageMs: number): Promise<void> {
  const responses: { startMs: number; endMs: number }[] = [];
  let failed = 0;
  const send = async () => {
    const startMs = performance.now();
    const status = await deliver(port, "factor.created", { uuid: randomUUID() });
    responses.push({ startMs, endMs: performance.now() });
    if (status !== 200) failed++;
  };
  const requests: Promise<void>[] = [];
  const timer = setInterval(() => requests.push(send()), 1_000 / REQUESTS_PER_SECOND);
  await sleep(1_000);
  await outage.begin();
  await sleep(outageMs);
  await outage.end();
  const returnedMs = performance.now();
  await sleep(2_000);
  clearInterval(timer);
  await Promise.all(requests);
  const durationsMs = responses.map(({ startMs, endMs }) => endMs - startMs);
  const held = responses.filter(({ startMs, endMs }) => startMs < returnedMs && endMs > returnedMs);
  const lastMs = Math.max(returnedMs, ...held.map(({ endMs }) => endMs)) - returnedMs;
  const [p99, longest] = [percentile(durationsMs, 0.99), percentile(durationsMs, 1)];
  console.log(
    `${outage.name} for ${outageMs / 1_000} s: ${requests.length} webhook requests, ${failed} failed, p99 ${p99} ms, longest ${longest} ms; ${held.length} were held and had responses ${Math.round(lastMs)} ms after its return`,
  );
}

async function main(): Promise<void> {
  const store = await startStore();
  const port = await findFreePort();
  const web = await startProcess("web.ts", { ...store.env, PORT: String(port) });
  for (const outage of store.outages) {
    for (const outageMs of OUTAGES_MS) await measure(port, outage, outageMs);
  }
  const { server } = store;
  if (server !== undefined) {
    for (const outageMs of OUTAGES_MS) {
      await server.kill();
      await web.kill();
      await web.start();
      const late: Outage = { name: "started after the app", begin() {}, end: server.start };
      await measure(port, late, outageMs);
    }
  }
  await web.kill();
  await store.remove();
}

void main();
