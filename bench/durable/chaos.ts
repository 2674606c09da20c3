/**
 * Redis (SQLite has no server), the web process and the workers are killed with SIGKILL at random
 * while 100 events a second arrive, one in ten of them twice. Every event that got a 200 must be
 * handled; more than once only where a worker was killed between its work and its acknowledgement.
 *
 * npx tsx bench/durable/chaos.ts [runs] [seconds]
 * ENGINE=sqlite npm run node24 -- --import tsx bench/durable/chaos.ts [runs] [seconds]
 *
 * RATE: how many events arrive a second. WORKERS: how many processes handle them; with 0, the web
 * process does.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue, startStore } from "./engine";
import { deliver, findFreePort, startProcess, type Revivable } from "./processes";

const [, , runs = "3", seconds = "60"] = process.argv;
const { RATE = "100", WORKERS = "2" } = process.env;
/** About 30 kills a minute: a process takes a second to start. */
const LONGEST_PAUSE_MS = 800;
const LONGEST_DOWN_MS = 500;

async function run(number: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "push-chaos-"));
  const log = join(folder, "handled");
  writeFileSync(log, "");
  const store = await startStore();
  const port = await findFreePort();
  const env = { ...store.env, PORT: String(port), LOG: log };
  const web = await startProcess("web.ts", WORKERS === "0" ? { ...env, WORKS: "yes" } : env);
  const workers = await Promise.all(
    Array.from({ length: Number(WORKERS) }, () => startProcess("worker.ts", env)),
  );

  const acknowledged = new Set<string>();
  const responses = new Map<number, number>();
  async function sendEvent(): Promise<void> {
    const uuid = randomUUID();
    const copies = Math.random() < 0.1 ? 2 : 1;
    const sent = Array.from({ length: copies }, () => deliver(port, "factor.created", { uuid }));
    for (const status of await Promise.all(sent)) {
      responses.set(status, (responses.get(status) ?? 0) + 1);
      if (status === 200) acknowledged.add(uuid);
    }
  }
  const sending: Promise<void>[] = [];
  const load = setInterval(() => sending.push(sendEvent()), 1_000 / Number(RATE));
  const kills = { server: 0, web: 0, worker: 0 };
  async function killAtRandom(): Promise<void> {
    const endMs = Date.now() + Number(seconds) * 1_000;
    while (Date.now() < endMs) {
      await sleep(Math.random() * LONGEST_PAUSE_MS);
      const victims: [keyof typeof kills, Revivable][] = [["web", web]];
      const worker = workers[Math.floor(Math.random() * workers.length)];
      if (worker !== undefined) victims.push(["worker", worker]);
      if (store.server !== undefined) victims.push(["server", store.server]);
      const index = Math.floor(Math.random() * victims.length);
      const [name, victim] = victims[index] as (typeof victims)[number];
      kills[name]++;
      await victim.kill();
      await sleep(Math.random() * LONGEST_DOWN_MS);
      await victim.start();
    }
  }
  await killAtRandom();
  clearInterval(load);
  await Promise.all(sending);

  const queue = openQueue(store.env);
  await queue.ready();
  let stats = await queue.stats();
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; await sleep(200)) {
    stats = await queue.stats();
    if (stats.waiting + stats.active + stats.delayed === 0) break;
  }
  await queue.close();
  await Promise.all([web, ...workers].map((one) => one.kill()));
  const counts = new Map<string, number>();
  for (const line of readFileSync(log, "utf8").trim().split("\n")) {
    const [uuid = ""] = line.split(" ");
    counts.set(uuid, (counts.get(uuid) ?? 0) + 1);
  }
  console.log({
    run: number,
    kills,
    sent: sending.length,
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((uuid) => !counts.has(uuid)).length,
    handledMoreThanOnce: [...counts.values()].filter((count) => count > 1).length,
    deadLetters: stats.deadLetters,
    integrity: store.check(),
    responses: Object.fromEntries([...responses].map(([status, n]) => [status || "none", n])),
  });
  await store.remove();
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  for (let number = 1; number <= Number(runs); number++) await run(number);
}

void main();
