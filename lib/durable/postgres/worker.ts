import type { Handlers } from "../../delivery/handler-registry";
import type { WebhookError } from "../../errors/webhook-error";
import { pauseAfter } from "../backoff";
import { readEventNames } from "../event-names";
import { createEventRunner } from "../event-runner";
import { describeHandlerFailure, isPermanent, MAX_STALLS } from "../handler-failure";
import type { WorkOptions } from "../work-options";
import { toAsciiJson } from "./ascii-json";
import { MAX_CLAIMS, toPayload, type JobPayload } from "./job";
import type { Job } from "./lane";
import { startLanes, type Lanes } from "./lanes";
import { hashLetter } from "./letters";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { createPersistence } from "./persistence";
import type { Server } from "./server";
import type { Session } from "./session";

/** Runs handlers for stored events until it is finished. */
export function startPostgresWorker(
  server: Server,
  session: Session,
  settings: PostgresSettings,
  handlers: Handlers,
  workOptions: WorkOptions,
): Lanes {
  const { attempts, backoff, logger, name } = settings;
  const { schema } = namesOf(settings);
  const runner = createEventRunner(handlers, workOptions, logger);
  const persistence = createPersistence(server, session, logger);

  async function handle(payload: unknown, job: Job): Promise<void> {
    const { event, failures, started } = payload as JobPayload;
    const attempt = started + job.attempts;
    // Its attempts include this one.
    if (job.attempts > MAX_STALLS + 1) {
      const reason = `INTERNAL_ERROR: ${MAX_STALLS + 1} processes died in its handlers.`;
      return setAside(job, event, attempt, reason);
    }
    try {
      await runner.run(runner.read(event), attempt);
    } catch (error) {
      const failure = error as WebhookError;
      const isDead = isPermanent(failure) || failures + 1 >= attempts;
      if (isDead) return setAside(job, event, attempt, describeHandlerFailure(failure));
      await runAgain(job, { event, failures: failures + 1, started: attempt });
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
    const { uuid, type } = readEventNames(event);
    const text = `
      with removed as materialized (
        select ${schema}.remove_job(key) as job from ${schema}.jobs where id = $1 and key = $2
      )
      insert into ${schema}.push_letter (queue, key, event, error, started, failed_at)
      select $3, $4, $5, $6, $7, clock_timestamp() from removed`;
    const key = hashLetter(uuid, settings);
    const values = [job.id, job.key, name, key, toAsciiJson(event), toAsciiJson(reason), attempt];
    await persistence.run({ text, values });
    runner.reportLetter({ type, uuid, attempts: attempt, error: reason });
  }

  const { concurrency = 16 } = workOptions;
  const lanes = startLanes(concurrency, handle, server, session, persistence, settings);
  return lanes;
}
