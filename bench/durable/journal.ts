/**
 * Requests that a receiver stores with the journal of its queue, beside those without: how much CPU time
 * of the app each takes, which counts no other program, and how many are stored a second. In turns in one
 * run, on each engine; the median of the rounds and of their ratios.
 *
 * npm run node24 -- --import tsx bench/durable/journal.ts [rounds] [events]
 */
import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { openQueue, startStore } from "./engine";
import { percentile, settings } from "./processes";

const [, , rounds = "15", events = "3000"] = process.argv;
const LANES = 64;
const ENGINES = ["redis", "sqlite", "postgres"];

/** Opens a receiver on a store of its own; its function measures a round. */
async function openReceiver(engine: string, journal: boolean) {
  const store = await startStore(engine);
  const queue = openQueue(store.env, { journal });
  await queue.ready();
  const push = pushWebhooks({ ...settings, queue });
  return {
    async measure() {
      const requests = Array.from({ length: Number(events) }, () => {
        const uuid = crypto.randomUUID();
        const { method, headers, body } = signedRequest(settings, "factor.created", { uuid });
        return new Request(settings.publicUrl, { method, headers, body: body ?? null });
      });
      const startMs = performance.now();
      const startCpu = process.cpuUsage();
      const storeAll = async () => {
        for (;;) {
          const request = requests.pop();
          if (request === undefined) return;
          const { status } = await push.fetch(request);
          if (status !== 200) throw new Error(`responded ${status}`);
        }
      };
      await Promise.all(Array.from({ length: LANES }, storeAll));
      const { user, system } = process.cpuUsage(startCpu);
      const seconds = (performance.now() - startMs) / 1_000;
      return { cpuUs: (user + system) / Number(events), perSecond: Number(events) / seconds };
    },
    async close() {
      await push.close();
      await queue.close();
      await store.remove();
    },
  };
}

async function compare(engine: string) {
  const receivers = [await openReceiver(engine, true), await openReceiver(engine, false)] as const;
  const found: Record<"cpu" | "cpuWithout" | "cpuRatio" | "rateRatio", number[]> = {
    cpu: [],
    cpuWithout: [],
    cpuRatio: [],
    rateRatio: [],
  };
  for (const { measure } of receivers) await measure();
  for (let round = 0; round < Number(rounds); round++) {
    // Neither is always the first.
    const order = round % 2 === 0 ? receivers : receivers.toReversed();
    const measured = new Map<unknown, { cpuUs: number; perSecond: number }>();
    for (const receiver of order) measured.set(receiver, await receiver.measure());
    const [beside, without] = receivers.map((receiver) => measured.get(receiver)!);
    found.cpu.push(beside!.cpuUs);
    found.cpuWithout.push(without!.cpuUs);
    found.cpuRatio.push(beside!.cpuUs / without!.cpuUs);
    found.rateRatio.push(beside!.perSecond / without!.perSecond);
  }
  for (const { close } of receivers) await close();
  const median = (values: number[], digits: number) => percentile(values, 0.5, digits);
  return {
    engine,
    "CPU of a request, µs": median(found.cpu, 0),
    "without the journal, µs": median(found.cpuWithout, 0),
    "ratio of CPU": median(found.cpuRatio, 3),
    "ratio of requests/s": median(found.rateRatio, 3),
  };
}

async function main(): Promise<void> {
  const results: object[] = [];
  for (const engine of ENGINES) results.push(await compare(engine));
  console.table(results);
}

void main();
