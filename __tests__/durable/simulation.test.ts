import { execFileSync } from "node:child_process";
import { ROOT } from "../support/docs";
import { npm } from "../support/npm";

// `npm run simulate` runs 100,000: each runs the whole queue, about 1 ms of CPU.
const SCHEDULES = 4_000;

it(`keeps its promises in ${SCHEDULES} schedules`, () => {
  const command = npm("run", "--silent", "simulate", "--", String(SCHEDULES));
  const output = execFileSync(...command, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
  expect(output).toContain(`0 of ${SCHEDULES} schedules failed`);
}, 600_000);
