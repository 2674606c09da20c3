/**
 * Redis (SQLite has no server), the web process and the workers are killed with SIGKILL at random
 * while webhook requests arrive, one in ten of them twice. Every event that got a 200 must be
 * handled; more than once only where a
 * worker was killed between its work and its acknowledgement.
 *
 * npx tsx bench/durable/chaos.ts [runs] [seconds]
 * ENGINE=sqlite npx -y node@24 --import tsx bench/durable/chaos.ts [runs] [seconds]
 *
 * LOAD: how many requests are sent at a time, PAUSE_MS: the pause of each after its response.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue, startStore } from "./engine";
import { deliver, findFreePort, startProcess, type Revivable } from "./processes";

const [, , runs = "3", seconds = "60"] = process.argv;
const { LOAD = "16", PAUSE_MS = "0" } = process.env;

async function run(number: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "push-chaos-"));
  const log = join(folder, "handled");
  writeFileSync(log, "");
  const store = await startStore();
  const port = await findFreePort();
  const env = { ...store.env, PORT: String(port), LOG: log };
  const web = await startProcess("web.ts", env);
  const workers = [await startProcess("worker.ts", env), await startProcess("worker.ts", env)];

  const acknowledged = new Set<string>();
  const answers = new Map<number, number>();
  const stop = new AbortController();
  async function load(): Promise<void> {
    while (!stop.signal.aborted) {
      const uuid = randomUUID();
      const copies = Math.random() < 0.1 ? 2 : 1;
      const sent = Array.from({ length: copies }, () => deliver(port, "factor.created", { uuid }));
      for (const status of await Promise.all(sent)) {
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status === 200) acknowledged.add(uuid);
      }
      // The web process is down.
      if (!acknowledged.has(uuid)) await sleep(20);
      if (PAUSE_MS !== "0") await sleep(Number(PAUSE_MS));
    }
  }
  const kills = { server: 0, web: 0, worker: 0 };
  async function killAtRandom(): Promise<void> {
    const endMs = Date.now() + Number(seconds) * 1_000;
    while (Date.now() < endMs) {
      await sleep(500 + Math.random() * 2_000);
      const victims: [keyof typeof kills, Revivable][] = [
        ["web", web],
        ["worker", workers[Math.floor(Math.random() * 2)] as Revivable],
      ];
      if (store.server !== undefined) victims.push(["server", store.server]);
      const index = Math.floor(Math.random() * victims.length);
      const [name, victim] = victims[index] as (typeof victims)[number];
      kills[name]++;
      await victim.kill();
      await sleep(Math.random() * 1_000);
      await victim.start();
    }
    stop.abort();
  }
  await Promise.all([killAtRandom(), ...Array.from({ length: Number(LOAD) }, load)]);

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
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((uuid) => !counts.has(uuid)).length,
    handledMoreThanOnce: [...counts.values()].filter((count) => count > 1).length,
    deadLetters: stats.deadLetters,
    integrity: store.check(),
    answers: Object.fromEntries([...answers].map(([status, n]) => [status || "none", n])),
  });
  await store.remove();
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  for (let number = 1; number <= Number(runs); number++) await run(number);
}

void main();
