import { createRetry } from "../../delivery/retry";
import { WebhookError } from "../../errors/webhook-error";
import { isChallengeEvent } from "../../event/event";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "../../receiver/close-options";
import { validateOptions } from "../../validation/validate-options";
import type { DurableQueue } from "../durable-queue";
import { createEventWorker } from "../event-worker";
import { compareContent } from "../stored-content";
import { validateWork } from "../work-options";
import { toNewPostgresEvent } from "./job";
import type { Lanes } from "./lanes";
import { createPostgresLetters } from "./letters";
import { resolvePostgresOptions, type PostgresQueueOptions } from "./options";
import { createPostgresOutcomes } from "./outcomes";
import { QueueError } from "../queue-error";
import { createServer, type Statement } from "./server";
import { openSession } from "./session";
import { writeStatistics, type StatisticsRow } from "./statistics";
import { createStoreEvent } from "./store";
import { startUpkeep } from "./upkeep";
import { startPostgresWorker } from "./worker";
import { createClosedError } from "../closed-error";

/** Creates the queue of `postgresQueue`, whose documentation see. */
export function createPostgresQueue(options: PostgresQueueOptions): DurableQueue {
  const settings = resolvePostgresOptions(options);
  const { storeTimeoutMs, maxPending } = settings;
  const server = createServer(settings);
  const session = openSession(server, settings);
  const outcomes = createPostgresOutcomes(server, session, settings);
  const storeEvent = createStoreEvent(server, settings);
  const letters = createPostgresLetters(query, settings);
  const workers = new Set<Lanes>();
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  const retry = createRetry({
    what: "Postgres",
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    longestPauseMs: 200,
    isNeutral: (error) => error instanceof QueueError,
  });
  const upkeep = startUpkeep(server, session, settings, {
    poll() {
      for (const worker of workers) worker.nudge(1);
      outcomes.recheck();
    },
    listLanes: () => [...workers].flatMap((worker) => worker.listIds()),
  });
  session.events.on("open", outcomes.recheck);

  /** Runs an operation, and again while Postgres fails, up to `storeTimeoutMs`. */
  async function run<Value>(
    attempt: (isWanted: () => boolean) => Promise<Value>,
    deadlineAtMs?: number,
  ): Promise<Value> {
    if (closed !== undefined) throw createClosedError();
    let isOver = false;
    const result = retry(() => {
      session.assertOpen();
      return attempt(() => !isOver);
    }, deadlineAtMs);
    running.add(result);
    try {
      return await result;
    } finally {
      isOver = true;
      running.delete(result);
    }
  }

  function query<Row extends object>(statement: Statement): Promise<Row[]> {
    return run(() => server.query<Row>(statement));
  }

  async function drain(closeOptions: CloseOptions): Promise<void> {
    const finishing = [...workers].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...running, ...finishing]), closeOptions);
    for (const worker of workers) worker.abandon();
    upkeep.stop();
    session.close();
    server.close();
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
    outcomes.close();
    return (closed ??= drain(closeOptions));
  }

  return {
    ...letters,
    ready: session.ready,
    outcomes: {
      record: (account, event) => run(() => outcomes.record(outcomes.toRow(account, event))),
      wait: outcomes.wait,
    },
    async store(queued, deadlineAtMs) {
      const { event, account } = queued;
      const outcome = isChallengeEvent(event) ? outcomes.toRow(account, event) : undefined;
      const added = toNewPostgresEvent(queued, settings);
      const store = (isWanted: () => boolean) => storeEvent(added, outcome, isWanted);
      const own = added.content.toString("hex");
      return compareContent(queued, own, (await run(store, deadlineAtMs)) ?? own);
    },
    work(handlers, workOptions = {}) {
      validateWork(handlers, workOptions);
      if (closed !== undefined) throw createClosedError();
      session.setWorking(true);
      const lanes = startPostgresWorker(server, session, settings, handlers, workOptions);
      workers.add(lanes);
      return createEventWorker(async () => {
        await lanes.finish();
        workers.delete(lanes);
        session.setWorking(workers.size > 0);
      });
    },
    async stats() {
      const [row] = await query<StatisticsRow>(writeStatistics(settings));
      if (row === undefined)
        throw new WebhookError("INTERNAL_ERROR", "Postgres counted no events.");
      return row;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
