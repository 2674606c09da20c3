/**
 * Packs the package, installs it in new apps, and uses it on every supported version of Node, Express
 * and TypeScript; runs the suites of the queue in Postgres against every supported release of it. A
 * failed installation counts as a failure.
 *
 * npm run matrix [-- --quick | --postgres | --installs]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listCells, type Cell, type Plan } from "./matrix/cells";
import { APPS, INSTALLS, NODES, POSTGRESES, TYPESCRIPTS } from "./matrix/versions";
import { createWorkshop } from "./matrix/workshop";

const PLANS: Record<string, Plan> = {
  "": {
    nodes: NODES,
    apps: APPS,
    typescripts: TYPESCRIPTS,
    postgreses: POSTGRESES,
    installs: INSTALLS,
  },
  "--quick": {
    nodes: [Number.parseInt(process.versions.node, 10)],
    apps: APPS,
    typescripts: [TYPESCRIPTS.at(0)!, TYPESCRIPTS.at(-1)!],
    typedApps: APPS.filter(({ name }) => name === "express 5"),
    installs: INSTALLS.slice(0, 1),
  },
  "--postgres": { postgreses: POSTGRESES },
  "--installs": { installs: INSTALLS },
};

const secondsSince = (startMs: number) => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;

/** Runs several cells at a time, and returns how many failed. */
async function runCells(cells: Cell[], atOnce: number): Promise<number> {
  let failed = 0;
  const queue = cells.values();
  const work = async () => {
    for (const { name, run } of queue) {
      const startMs = performance.now();
      const error = await run().then(() => undefined, String);
      console.log(`${name} ${error === undefined ? "ok" : "FAILED"} ${secondsSince(startMs)}`);
      if (error === undefined) continue;
      failed++;
      console.log(error.replaceAll(/^/gm, "  "));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failed;
}

async function main(): Promise<void> {
  const plan = PLANS[process.argv[2] ?? ""];
  if (plan === undefined) throw new Error(`The plans are: ${Object.keys(PLANS).join(" ")}`);
  const folder = mkdtempSync(join(tmpdir(), "push-matrix-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.once("SIGINT", () => process.exit(130));
  const startMs = performance.now();
  const cells = listCells(plan, createWorkshop(folder));
  const failed = await runCells(cells, 2);
  console.log(`${cells.length - failed} cells ok, ${failed} failed, ${secondsSince(startMs)}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

void main();
