import { createRetry } from "../../delivery/retry";
import { isChallengeEvent } from "../../event/event";
import {
  CLOSE_RULES,
  settleWithin,
  startDeadline,
  type CloseOptions,
} from "../../receiver/close-options";
import { validateOptions } from "../../validation/validate-options";
import type { DurableQueue } from "../durable-queue";
import { createEventWorker } from "../event-worker";
import { compareContent } from "../stored-content";
import { validateWork } from "../work-options";
import { createFileState } from "./file-state";
import { startHeartbeat } from "./heartbeat";
import { createFileLetters } from "./letters";
import { assertNodeSqlite } from "./node-sqlite";
import { resolveSqliteOptions, type SqliteQueueOptions } from "./options";
import { createFileOutcomes } from "./outcomes";
import type { Argument, OperationName, Result } from "./protocol";
import { QueueError } from "../queue-error";
import { toNewFileEvent } from "./new-event";
import { startThread } from "./thread-client";
import { createWorker, type SqliteWorker } from "./worker";
import { createClosedError } from "../closed-error";

/**
 * Creates a queue that stores events in a SQLite file before the response, and runs their handlers
 * from there, in this process or in others on this machine: an event with a 200 is not lost with a
 * process. It needs no package and no server, but Node.js 22.13 or newer.
 *
 * @example
 * const queue = sqliteQueue({ name: "shop-production", file: "./data/push.db" });
 * const push = pushWebhooks({ authToken, publicUrl, queue });
 * push.on("challenge.approved", async (event) => { … });
 * const worker = queue.work(push.handlers);
 *
 * @throws TypeError for an option that is unknown or impossible, and when Node.js has no
 *   node:sqlite.
 */
export function sqliteQueue(options: SqliteQueueOptions): DurableQueue {
  assertNodeSqlite();
  const settings = resolveSqliteOptions(options);
  const { file, name, storeTimeoutMs, maxPending, logger } = settings;
  const state = createFileState(logger);
  const workers = new Map<number, SqliteWorker>();
  const storing = new Set<Promise<unknown>>();
  let lastWorkerId = 0;
  let closed: Promise<void> | undefined;

  const thread = startThread(
    { file, name },
    {
      onOpen() {
        state.open();
        heartbeat.beat();
        outcomes.watchAgain();
        for (const worker of workers.values()) worker.start();
      },
      onClosed: (error) => state.fail(error),
      onClaimed(events) {
        for (const event of events) workers.get(event.worker)?.run(event);
      },
      onOutcome: (key, params) => outcomes.resolve(key, params),
    },
  );
  const outcomes = createFileOutcomes(
    settings,
    (key, isWanted) => thread.request("watch", key, isWanted),
    (key) => void thread.request("unwatch", key).catch(ignoreClosedFile),
  );
  const retryStore = createRetry({
    what: "the file of the queue",
    retryForMs: storeTimeoutMs,
    maxRetrying: maxPending,
    isNeutral: (error) => error instanceof QueueError,
  });
  const heartbeat = startHeartbeat(thread, state, () =>
    [...workers.values()].some((worker) => worker.isTaking()),
  );

  /** Runs an operation, and again while the file fails, up to `storeTimeoutMs`. */
  async function run<Name extends OperationName>(
    operation: Name,
    argument: Argument<Name>,
    deadlineAtMs?: number,
  ): Promise<Result<Name>> {
    if (closed !== undefined) throw createClosedError();
    let isOver = false;
    try {
      return await retryStore(() => {
        state.assertUsable();
        return thread.request(operation, argument, () => !isOver);
      }, deadlineAtMs);
    } finally {
      isOver = true;
    }
  }

  function track<Value>(stored: Promise<Value>): Promise<Value> {
    storing.add(stored);
    const remove = () => storing.delete(stored);
    stored.then(remove, remove);
    return stored;
  }

  async function drain(closeOptions: CloseOptions): Promise<void> {
    const left = startDeadline(closeOptions);
    const finishing = [...workers.values()].map((worker) => worker.finish());
    await settleWithin(Promise.allSettled([...storing, ...finishing]), left());
    heartbeat.stop();
    const isIdle = [...workers.values()].every((worker) => worker.isIdle());
    for (const worker of workers.values()) worker.abandon();
    await thread.close(isIdle, left());
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
    outcomes.close();
    state.close();
    return (closed ??= drain(closeOptions));
  }

  return {
    ...createFileLetters(run),
    ready: state.ready,
    outcomes: {
      record: (account, event) => run("record", outcomes.toRow(account, event)),
      wait: outcomes.wait,
    },
    async store(queued, deadlineAtMs) {
      const { event, account } = queued;
      const outcome = isChallengeEvent(event) ? outcomes.toRow(account, event) : undefined;
      const added = toNewFileEvent(queued, outcome, settings.dedupeTtlMs);
      return compareContent(queued, await track(run("store", added, deadlineAtMs)));
    },
    work(handlers, workOptions = {}) {
      validateWork(handlers, workOptions);
      if (closed !== undefined) throw createClosedError();
      const id = ++lastWorkerId;
      const running = createWorker(id, settings, thread, handlers, workOptions);
      workers.set(id, running);
      running.start();
      heartbeat.beat();
      return createEventWorker(async () => {
        const idle = running.finish();
        heartbeat.beat();
        await idle;
        workers.delete(id);
      });
    },
    stats: () => run("stats", undefined),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** The thread forgets its watches when the file is closed. */
function ignoreClosedFile(): void {}
