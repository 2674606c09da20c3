/**
 * Runs schedules of the queue's worker over a store in memory, with lost replies, killed processes
 * and clocks that are set: `npm run simulate -- 100000 [first seed]`. Prints each seed that breaks an
 * invariant; the model and its limits are in `model-storage.ts`.
 */
import { BrokenInvariant, runSchedule } from "./schedule";

const [, , count = "10000", first = "1"] = process.argv;

async function main(): Promise<void> {
  const startMs = performance.now();
  let broken = 0;
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    try {
      await runSchedule(seed);
    } catch (error) {
      if (!(error instanceof BrokenInvariant)) throw error;
      broken++;
      console.log(error.message);
    }
  }
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(`${broken} of ${count} schedules failed, ${Math.round(Number(count) / seconds)}/s`);
  process.exitCode = broken === 0 ? 0 : 1;
}

void main();
