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
import { parseArgs } from "node:util";
import { listCells, type Cell, type Plan } from "./matrix/cells";
import { APPS, INSTALLS, NODES, POSTGRESES, TYPESCRIPTS } from "./matrix/versions";
import { createWorkshop } from "./matrix/workshop";

const WHOLE: Plan = {
  nodes: NODES,
  apps: APPS,
  typescripts: TYPESCRIPTS,
  typedApps: APPS,
  postgreses: POSTGRESES,
  installs: INSTALLS,
};

/** The quick selection: this Node, the first and last version of TypeScript, one install, and no PostgreSQL. */
const QUICK: Plan = {
  nodes: [Number.parseInt(process.versions.node, 10)],
  apps: APPS,
  typescripts: [TYPESCRIPTS.at(0)!, TYPESCRIPTS.at(-1)!],
  typedApps: APPS.filter(({ name }) => name === "express 5"),
  postgreses: [],
  installs: INSTALLS.slice(0, 1),
};

const NOTHING: Plan = {
  nodes: [],
  apps: [],
  typescripts: [],
  typedApps: [],
  postgreses: [],
  installs: [],
};

function readPlan(): Plan {
  const options = { quick: { type: "boolean" }, postgres: { type: "boolean" } } as const;
  const { quick, postgres, installs } = parseArgs({
    options: { ...options, installs: { type: "boolean" } },
  }).values;
  if (postgres === true) return { ...NOTHING, postgreses: POSTGRESES };
  if (installs === true) return { ...NOTHING, installs: INSTALLS };
  return quick === true ? QUICK : WHOLE;
}

const secondsSince = (startMs: number) => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;

/** The outputs that were printed: a failed installation fails many cells. */
const told = new Set<string>();

async function runCell({ name, run }: Cell): Promise<boolean> {
  const startMs = performance.now();
  try {
    await run();
    console.log(`${name} ok ${secondsSince(startMs)}`);
    return true;
  } catch (error) {
    console.log(`${name} FAILED ${secondsSince(startMs)}`);
    const { message } = error as Error;
    console.log(told.has(message) ? "  as above" : message.replaceAll(/^/gm, "  "));
    told.add(message);
    return false;
  }
}

/** Runs several cells at a time, and returns how many failed. */
async function runCells(cells: Cell[], atOnce: number): Promise<number> {
  let failed = 0;
  const queue = cells.values();
  const work = async () => {
    for (const cell of queue) if (!(await runCell(cell))) failed++;
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return failed;
}

async function main(): Promise<void> {
  const plan = readPlan();
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
