import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "pg";
import type { Logger } from "../../observability/logger";
import type { Server, Statement } from "./server";
import type { Session } from "./session";

/** How a statement is repeated. */
export interface RepeatOptions {
  /** Run before each repetition: the statement may have run, and only its reply been lost. */
  undo?: Statement;
  /** Called after a failure; what it returns is the result. */
  giveUp?: () => QueryResult | undefined;
}

/** Runs the statements of a worker, again and again while Postgres does not. */
export interface Persistence {
  /**
   * Runs a statement. Once abandoned, it settles never.
   *
   * @throws the errors that Graphile Worker repeats by itself.
   */
  run(statement: Statement, options?: RepeatOptions): Promise<QueryResult>;
  /** Ends all repetitions. */
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

  return {
    async run(statement, { undo, giveUp } = {}) {
      for (let isRepeated = false; ; isRepeated = true) {
        try {
          await session.wait();
          if (isRepeated && undo !== undefined) await server.run(undo);
          return await server.run(statement);
        } catch (error) {
          if (isAbandoned) break;
          const result = giveUp?.();
          if (result !== undefined) return result;
          if (REPEATED_BY_ENGINE.has((error as { code?: unknown }).code)) throw error;
          log(error);
          await sleep(PAUSE_MS);
        }
      }
      return new Promise<never>(() => {});
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
