import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "pg";
import type { Logger } from "../../observability/logger";
import type { Server, Statement } from "./server";
import type { Session } from "./session";

/** Runs the statements of a worker. Once abandoned, those that fail settle never. */
export interface Persistence {
  /**
   * Runs a statement, again and again while Postgres does not.
   *
   * @throws the errors that Graphile Worker repeats by itself.
   */
  run(statement: Statement): Promise<QueryResult>;
  /**
   * Runs a statement once, as soon as Postgres can be used. Returns undefined when it failed: it may
   * have run, or run on.
   *
   * @throws the errors that Graphile Worker repeats by itself.
   */
  runOnce(statement: Statement): Promise<QueryResult | undefined>;
  abandon(): void;
}

const PAUSE_MS = 100;
const SILENT_MS = 60_000;
/** Serialization failures and deadlocks. */
const REPEATED_BY_ENGINE: ReadonlySet<unknown> = new Set(["40001", "40P01"]);

/** Creates the runner of the statements of a worker. */
export function createPersistence(
  server: Server,
  session: Session,
  logger: Logger | undefined,
): Persistence {
  let isAbandoned = false;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  function log(error: unknown): void {
    if (performance.now() - loggedAtMs < SILENT_MS) return;
    loggedAtMs = performance.now();
    const what = "Postgres fails statements of a worker";
    const reason = describeError(error);
    if (logger !== undefined) logger.error({ reason }, what);
    else {
      process.emitWarning(`postgresQueue: ${what}: ${reason}`, {
        type: "PushWebhooksWarning",
        code: "POSTGRES_FAILED",
      });
    }
  }

  async function runOnce(statement: Statement): Promise<QueryResult | undefined> {
    try {
      await session.wait();
      return await server.run(statement);
    } catch (error) {
      if (isAbandoned) return new Promise<never>(() => {});
      if (REPEATED_BY_ENGINE.has((error as { code?: unknown }).code)) throw error;
      log(error);
      return undefined;
    }
  }

  return {
    runOnce,
    async run(statement) {
      for (;;) {
        const result = await runOnce(statement);
        if (result !== undefined) return result;
        await sleep(PAUSE_MS);
      }
    },
    abandon() {
      isAbandoned = true;
    },
  };
}

/** Of an error that Postgres sent, only the code: its message may hold a parameter of an event. */
function describeError(error: unknown): string {
  const { severity, code, message } = error as Record<string, unknown>;
  return String(severity === undefined ? message : code);
}
