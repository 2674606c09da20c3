import type { Handlers } from "../../delivery/handler-registry";
import type { WebhookError } from "../../errors/webhook-error";
import { pauseAfter } from "../backoff";
import { readEventNames } from "../event-names";
import { createEventRunner } from "../event-runner";
import { describeHandlerFailure, isPermanent, MAX_STALLS } from "../handler-failure";
import type { WorkOptions } from "../work-options";
import { toAsciiJson } from "../stored-event";
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

  /** The job, if its claim still holds: other processes take over the jobs of one that hangs. */
  const own = `(select key from ${schema}._private_jobs
    where id = $1 and key = $2 and locked_by = $3 for update) as own`;

  async function handle(payload: unknown, job: Job): Promise<boolean> {
    const { event, failures, started } = payload as JobPayload;
    const attempt = started + job.attempts;
    // Its attempts include this one.
    if (job.attempts > MAX_STALLS + 1) {
      const reason = `INTERNAL_ERROR: ${MAX_STALLS + 1} processes died in its handlers.`;
      await setAside(job, event, attempt, reason);
      return false;
    }
    try {
      await runner.run(runner.read(event), attempt);
      return true;
    } catch (error) {
      const failure = error as WebhookError;
      const isDead = isPermanent(failure) || failures + 1 >= attempts;
      if (isDead) await setAside(job, event, attempt, describeHandlerFailure(failure));
      else await runAgain(job, { event, failures: failures + 1, started: attempt });
      return false;
    }
  }

  /**
   * Replaces the job by one that is due later. Graphile Worker removes the former one when this
   * handler returns, and takes it no more if this process dies before.
   */
  async function runAgain(job: Job, payload: JobPayload): Promise<void> {
    const pauseMs = pauseAfter(backoff, payload.failures);
    const text = `select ${schema}.add_job(
        identifier => $4, payload => $5::json, job_key => key, max_attempts => ${MAX_CLAIMS},
        run_at => now() + $6::bigint * interval '1 millisecond'
      ) from ${own}`;
    const values = [...listClaimValues(job), name, toPayload(payload), pauseMs];
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
        select ${schema}.remove_job(key) as job from ${own}
      ), added as (
        insert into ${schema}.push_letter (queue, key, event, error, started, failed_at)
        select $4, $5, $6, $7, $8, clock_timestamp() from removed returning id
      )
      select id from added union all select id from ${schema}.push_letter where key = $5 and started = $8`;
    const key = hashLetter(uuid, settings);
    const letter = [name, key, toAsciiJson(event), toAsciiJson(reason), attempt];
    const { rows } = await persistence.run({ text, values: [...listClaimValues(job), ...letter] });
    // None was added, and none before by an attempt whose reply was lost: the event is another's.
    if (rows.length === 0) return;
    runner.reportLetter({ type, uuid, attempts: attempt, error: reason });
  }

  const { concurrency = 16 } = workOptions;
  const lanes = startLanes(concurrency, handle, server, session, persistence, settings);
  return lanes;
}

function listClaimValues({ id, key, locked_by: lane }: Job): unknown[] {
  return [id, key, lane];
}
