import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Handlers } from "../../delivery/handler-registry";
import type { WebhookError } from "../../errors/webhook-error";
import { pauseAfter } from "../backoff";
import { parseJson } from "../../form/json";
import { readEventNames } from "../event-names";
import { createEventRunner } from "../event-runner";
import { describeHandlerFailure, isPermanent } from "../handler-failure";
import type { WorkOptions } from "../work-options";
import { isFinal } from "./file-error";
import type { SqliteSettings } from "./options";
import type { ClaimedEvent, EventRun } from "./protocol";
import type { ThreadClient } from "./thread-client";

/** Runs handlers for stored events until it is closed. */
export interface SqliteWorker {
  /** Asks for events; again whenever the file was opened again. */
  start(): void;
  run(claimed: ClaimedEvent): void;
  isIdle(): boolean;
  /** Whether it still takes events. */
  isTaking(): boolean;
  /** Takes no more events; resolves when the running handlers have finished, or at abandon. */
  finish(): Promise<void>;
  /** Stops waiting for running handlers. */
  abandon(): void;
}

const REPORT_AGAIN_MS = 500;

/** Creates a worker; `id` tells it apart from others of this process. */
export function createWorker(
  id: number,
  { attempts, backoff, logger }: SqliteSettings,
  thread: ThreadClient,
  handlers: Handlers,
  workOptions: WorkOptions,
): SqliteWorker {
  const { concurrency = 16 } = workOptions;
  const runner = createEventRunner(handlers, workOptions, logger);
  const state = new EventEmitter();
  let activeCount = 0;
  let isFinishing = false;
  let isAbandoned = false;

  async function handle({ body, started, failures, id: eventId }: ClaimedEvent): Promise<void> {
    const run: EventRun = { id: eventId, started };
    const stored = parseJson(body);
    try {
      await runner.run(runner.read(stored), started);
    } catch (error) {
      const failure = error as WebhookError;
      const isDead = isPermanent(failure) || failures + 1 >= attempts;
      const runAt = isDead ? undefined : Date.now() + pauseAfter(backoff, failures + 1);
      const reason = describeHandlerFailure(failure);
      const wasReported = await report(() =>
        thread.request("fail", { ...run, error: reason, runAt }),
      );
      if (isDead && wasReported) {
        const { type, uuid } = readEventNames(stored);
        runner.reportLetter({ type, uuid, attempts: started, error: reason });
      }
      return;
    }
    await report(() => thread.request("finish", run));
  }

  /**
   * Goes on until the file has it: otherwise this process would keep the event for ever. Returns
   * whether it has.
   */
  async function report(request: () => Promise<void>): Promise<boolean> {
    for (;;) {
      try {
        await request();
        return true;
      } catch (error) {
        if (isAbandoned || isFinal(error)) return false;
        // The queue logs the outage of the file.
        await sleep(REPORT_AGAIN_MS);
      }
    }
  }

  function want(count: number): void {
    if (isFinishing) return;
    // When the file is not open: start() follows when it is.
    thread.request("want", { worker: id, count }).catch(() => {});
  }

  return {
    start: () => want(concurrency - activeCount),
    run(claimed) {
      activeCount++;
      void handle(claimed).finally(() => {
        activeCount--;
        want(1);
        if (activeCount === 0) state.emit("idle");
      });
    },
    isIdle: () => activeCount === 0,
    isTaking: () => !isFinishing,
    async finish() {
      isFinishing = true;
      // Its result comes after the events that were claimed before it.
      await thread.request("unwant", id).catch(() => {});
      if (activeCount > 0 && !isAbandoned)
        await Promise.race([once(state, "idle"), once(state, "abandon")]);
    },
    abandon() {
      isAbandoned = true;
      state.emit("abandon");
    },
  };
}
