/**
 * Runs schedules of the queue's worker and waits over a store in memory, with lost replies, killed
 * processes and clocks that are set: `npm run simulate -- 100000 [first seed]`. Prints each seed that
 * breaks an invariant. `npm run simulate -- 1 <seed>` runs it again, and prints each step.
 */
import { runSchedule } from "./schedule";

const [, , count = "10000", first = "1"] = process.argv;
const trace = count === "1" ? (line: string) => console.log(line) : undefined;

async function main(): Promise<void> {
  const startMs = performance.now();
  let broken = 0;
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    try {
      await runSchedule(seed, trace);
    } catch (error) {
      broken++;
      console.log(String(error));
    }
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const cpuSeconds = process.cpuUsage().user / 1e6;
  const speed = `${Math.round(Number(count) / seconds)}/s, ${Math.round(Number(count) / cpuSeconds)} a second of CPU`;
  console.log(`${broken} of ${count} schedules failed, ${speed}`);
  process.exitCode = broken === 0 ? 0 : 1;
}

void main();
