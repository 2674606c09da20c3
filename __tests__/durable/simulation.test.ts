import { execFileSync } from "node:child_process";
import { join } from "node:path";

// `npm run simulate` runs 100,000: each runs the whole queue, about 1 ms of CPU.
const SCHEDULES = 4_000;

it(`keeps its promises in ${SCHEDULES} schedules`, () => {
  const args = ["run", "--silent", "simulate", "--", String(SCHEDULES)];
  const root = join(__dirname, "..", "..");
  const output = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
  expect(output).toContain(`0 of ${SCHEDULES} schedules failed`);
}, 600_000);
