/**
 * Redis is stopped for 2 s and for 5 s, and frozen for 2 s, under load: how many webhook requests fail, and how
 * long the slowest took.
 *
 * npx tsx bench/durable/outages.ts
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deliver, findFreePort, percentile, startProcess, startRedis } from "./processes";

const REQUESTS_PER_SECOND = 200;

async function main(): Promise<void> {
  const redis = await startRedis();
  const port = await findFreePort();
  const web = await startProcess("web.ts", { REDIS_URL: redis.url, PORT: String(port) });
  for (const [what, outageMs, begin, end] of [
    ["stopped for 2 s", 2_000, () => redis.kill("SIGTERM"), () => redis.start()],
    ["stopped for 5 s", 5_000, () => redis.kill("SIGTERM"), () => redis.start()],
    ["killed for 2 s", 2_000, () => redis.kill("SIGKILL"), () => redis.start()],
    ["frozen for 2 s", 2_000, () => redis.child.kill("SIGSTOP"), () => redis.child.kill("SIGCONT")],
    ["frozen for 5 s", 5_000, () => redis.child.kill("SIGSTOP"), () => redis.child.kill("SIGCONT")],
  ] as const) {
    const durationsMs: number[] = [];
    let failed = 0;
    const send = async () => {
      const startMs = performance.now();
      const status = await deliver(port, "factor.created", { uuid: randomUUID() });
      durationsMs.push(performance.now() - startMs);
      if (status !== 200) failed++;
    };
    const requests: Promise<void>[] = [];
    const timer = setInterval(() => requests.push(send()), 1_000 / REQUESTS_PER_SECOND);
    await sleep(1_000);
    await begin();
    await sleep(outageMs);
    await end();
    await sleep(2_000);
    clearInterval(timer);
    await Promise.all(requests);
    const p99 = percentile(durationsMs, 0.99);
    console.log(`${what}: ${requests.length} webhook requests, ${failed} failed, p99 ${p99} ms`);
  }
  await web.kill();
  await redis.remove();
}

void main();
