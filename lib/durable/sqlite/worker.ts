import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createDispatch } from "../../delivery/dispatch";
import type { Handlers } from "../../delivery/handler-registry";
import { WebhookError } from "../../errors/webhook-error";
import { publish } from "../../observability/diagnostics";
import { createReporter } from "../../observability/reporter";
import { pauseAfter } from "../backoff";
import { describeFailure, isPermanent } from "../handler-failure";
import { readStoredEvent, type ReadEvent } from "../stored-event";
import type { WorkOptions } from "../work-options";
import { parseJson, readEventNames } from "./event-body";
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
  { concurrency = 16, handlerTimeoutMs = 10_000, onError }: WorkOptions,
): SqliteWorker {
  const reports = createReporter(logger);
  if (onError !== undefined) reports.onError(onError);
  const dispatch = createDispatch(handlers, reports);
  const state = new EventEmitter();
  let activeCount = 0;
  let isFinishing = false;
  let isAbandoned = false;

  async function handle({ body, started, failures, id: eventId }: ClaimedEvent): Promise<void> {
    const run: EventRun = { id: eventId, started };
    try {
      const { event, authTokenIndex, publicUrlIndex, receiver } = readBody(body);
      const context = { attempt: started, authTokenIndex, publicUrlIndex, receiver };
      await dispatch(event, context, handlerTimeoutMs);
    } catch (error) {
      const failure = error as WebhookError;
      const isDead = isPermanent(failure) || failures + 1 >= attempts;
      const runAt = isDead ? undefined : Date.now() + pauseAfter(backoff, failures + 1);
      const reason = describeFailure(failure);
      const wasReported = await report(() =>
        thread.request("fail", { ...run, error: reason, runAt }),
      );
      if (isDead && wasReported) reportDeadLetter(body, started, reason);
      return;
    }
    await report(() => thread.request("finish", run));
  }

  function readBody(body: string): ReadEvent {
    try {
      return readStoredEvent(parseJson(body));
    } catch {
      // The error may quote the parameters. Another version may read them in a later attempt.
      const message = "This version cannot read a stored event.";
      const error = new WebhookError("INTERNAL_ERROR", message);
      reports.error(error);
      throw error;
    }
  }

  /** Goes on until the file has it: otherwise this process would keep the event for ever. */
  async function report(request: () => Promise<void>): Promise<boolean> {
    for (;;) {
      try {
        await request();
        return true;
      } catch {
        if (isAbandoned) return false;
        // The queue logs the outage of the file.
        await sleep(REPORT_AGAIN_MS);
      }
    }
  }

  function reportDeadLetter(body: string, started: number, error: string): void {
    const { type, uuid } = readEventNames(body);
    publish("dead-lettered", { type, attempts: started });
    const fields = { type, uuid, attempts: started, error };
    logger?.error(fields, "An event is a dead letter now");
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
