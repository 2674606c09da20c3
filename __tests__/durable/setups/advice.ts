/** What errors and docs tell a person to do, done literally on a store with events. */
import { execFileSync, spawnSync } from "node:child_process";
import type { DurableQueue } from "express-push-verification/durable";
import { storeFactor } from "../../support/durable";
import { listBlocks } from "../../support/docs";
import { needs } from "../../support/needs";
import { until } from "../../support/waiting";

export const EVENTS = 20;
export async function fill(queue: DurableQueue): Promise<void> {
  await queue.ready();
  for (let event = 0; event < EVENTS; event++) await storeFactor(queue, `u${event}`);
  await queue.close();
}

export async function readAdvice(queue: DurableQueue, code: string): Promise<string> {
  const ready = queue.ready();
  const error = await ready.then(undefined, (thrown: unknown) => thrown as Error);
  expect(error).toHaveProperty("code", code);
  return error?.message ?? "";
}

export const isReady = (queue: DurableQueue) =>
  queue.ready().then(
    () => true,
    () => false,
  );

/** Expects that a queue, without a restart of its process, can be used and has every event. */
export async function expectAll(queue: DurableQueue, waiting = EVENTS): Promise<void> {
  await until(() => isReady(queue));
  expect(await queue.stats()).toMatchObject({ waiting });
  expect(await storeFactor(queue, `after ${waiting}`)).toBe("new");
}

/** A test that needs a program. */
export const hasTool = (tool: string) =>
  needs(spawnSync(tool, ["--version"]).status === 0, `${tool} on the PATH`).it;

/** Runs the commands of the section "Restore" of a page, as a person does. */
export function restore(page: string, cwd: string, env: NodeJS.ProcessEnv): void {
  const block = listBlocks(page, "sh").find(({ recipe }) => recipe === "restore");
  execFileSync("sh", ["-ec", block?.code ?? ""], {
    cwd,
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
}
