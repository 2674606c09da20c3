import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ModelBug } from "./simulation/model-storage";
import { BrokenInvariant, runSchedule } from "./simulation/schedule";

// `npm run simulate` runs 100,000: each runs the whole queue, about 1 ms of CPU.
const SCHEDULES = 4_000;
/** Each bug is found within so many. */
const SEARCHED = 20_000;

const root = join(__dirname, "..", "..");

it(`keeps its promises in ${SCHEDULES} schedules`, () => {
  const args = ["run", "--silent", "simulate", "--", String(SCHEDULES)];
  const output = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
  expect(output).toContain(`0 of ${SCHEDULES} schedules failed`);
}, 600_000);

it("runs a seed as it ran before", async () => {
  const runs: string[][] = [];
  for (let run = 0; run < 2; run++) {
    const lines: string[] = [];
    await runSchedule(7, { trace: (line) => lines.push(line) });
    runs.push(lines);
  }
  expect(runs[0]?.length).toBeGreaterThan(10);
  expect(runs[1]).toEqual(runs[0]);
});

it.each<ModelBug>([
  "ignoresStarted",
  "ignoresHeld",
  "forgetsLostClaims",
  "trustsClock",
  "reusesRuns",
  "forgetsFailures",
  "forgetsOutcomes",
])(
  "finds a store that %s",
  async (bug) => {
    let found: unknown;
    for (let seed = 1; seed <= SEARCHED && found === undefined; seed++) {
      found = await runSchedule(seed, { bug }).catch((error: unknown) => error);
    }
    expect(found).toBeInstanceOf(BrokenInvariant);
  },
  120_000,
);
