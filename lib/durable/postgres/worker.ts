import { createDispatch } from "../../delivery/dispatch";
import type { Handlers } from "../../delivery/handler-registry";
import { WebhookError } from "../../errors/webhook-error";
import { publish } from "../../observability/diagnostics";
import { createReporter } from "../../observability/reporter";
import { pauseAfter } from "../backoff";
import { describeFailure, isPermanent } from "../handler-failure";
import { readEventNames } from "../sqlite/event-body";
import { readStoredEvent, type ReadEvent } from "../stored-event";
import type { WorkOptions } from "../work-options";
import { toAsciiJson } from "./ascii-json";
import { MAX_CLAIMS, MAX_STALLS, toPayload, type JobPayload } from "./job";
import type { Job } from "./lane";
import { startLanes, type Lanes } from "./lanes";
import { hashLetter } from "./letters";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { createPersistence } from "./persistence";
import type { Server } from "./server";
import type { Session } from "./session";

/** Runs handlers for stored events until it is finished. */
export function startWorker(
  server: Server,
  session: Session,
  settings: PostgresSettings,
  handlers: Handlers,
  { concurrency = 16, handlerTimeoutMs = 10_000, onError }: WorkOptions,
): Lanes {
  const { attempts, backoff, logger, name } = settings;
  const { schema } = namesOf(settings);
  const reports = createReporter(logger);
  if (onError !== undefined) reports.onError(onError);
  const dispatch = createDispatch(handlers, reports);
  const persistence = createPersistence(server, session, logger);

  async function handle(payload: unknown, job: Job): Promise<void> {
    const { event, failures, started } = payload as JobPayload;
    const attempt = started + job.attempts;
    if (job.attempts > MAX_STALLS) {
      const reason = `INTERNAL_ERROR: ${MAX_STALLS} processes died in its handlers.`;
      return setAside(job, event, attempt, reason);
    }
    try {
      const { event: read, authTokenIndex, publicUrlIndex, receiver } = readEvent(event);
      await dispatch(read, { attempt, authTokenIndex, publicUrlIndex, receiver }, handlerTimeoutMs);
    } catch (error) {
      const failure = error as WebhookError;
      const isDead = isPermanent(failure) || failures + 1 >= attempts;
      if (isDead) return setAside(job, event, attempt, describeFailure(failure));
      await runAgain(job, { event, failures: failures + 1, started: attempt });
    }
  }

  function readEvent(stored: unknown): ReadEvent {
    try {
      return readStoredEvent(stored);
    } catch {
      // The error may quote the parameters. Another version may read them in a later attempt.
      const message = "This version cannot read a stored event.";
      const error = new WebhookError("INTERNAL_ERROR", message);
      reports.error(error);
      throw error;
    }
  }

  /**
   * Replaces the job by one that is due later. Graphile Worker removes the former one when this
   * handler returns, and takes it no more if this process dies before.
   */
  async function runAgain(job: Job, payload: JobPayload): Promise<void> {
    const pauseMs = pauseAfter(backoff, payload.failures);
    const text = `select ${schema}.add_job(
        identifier => $3, payload => $4::json, job_key => $2, max_attempts => ${MAX_CLAIMS},
        run_at => now() + $5::bigint * interval '1 millisecond'
      ) from ${schema}.jobs where id = $1 and key = $2`;
    const values = [job.id, job.key, name, toPayload(payload), pauseMs];
    await persistence.run({ text, values });
    setTimeout(() => lanes.nudge(1), pauseMs + 1).unref();
  }

  async function setAside(
    job: Job,
    event: unknown,
    attempt: number,
    reason: string,
  ): Promise<void> {
    const body = toAsciiJson(event);
    const { uuid, type } = readEventNames(body);
    const text = `
      with removed as materialized (
        select ${schema}.remove_job(key) as job from ${schema}.jobs where id = $1 and key = $2
      )
      insert into ${schema}.push_letter (queue, key, event, error, started, failed_at)
      select $3, $4, $5, $6, $7, clock_timestamp() from removed`;
    const key = hashLetter(uuid, settings);
    const values = [job.id, job.key, name, key, body, toAsciiJson(reason), attempt];
    await persistence.run({ text, values });
    publish("dead-lettered", { type, attempts: attempt });
    logger?.error(
      { type, uuid, attempts: attempt, error: reason },
      "An event is a dead letter now",
    );
  }

  const lanes = startLanes(concurrency, handle, server, session, persistence, settings);
  return lanes;
}
