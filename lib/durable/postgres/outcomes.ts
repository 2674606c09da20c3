import { joinOutcomeKey, type OutcomeStore } from "../../challenge/outcome-store";
import { createWaiters } from "../../challenge/waiters";
import { createResolveStored } from "../stored-outcome";
import type { ChallengeEvent } from "../../event/event";
import { toAsciiJson } from "../stored-event";
import { hashQueueKey, namesOf } from "./names";
import type { PostgresSettings } from "./options";
import type { Server } from "./server";
import type { Session } from "./session";

/** An outcome to be kept. */
export interface PostgresOutcomeRow {
  /** The hash of queue, account and challenge. */
  key: Buffer;
  /** The parameters of the event as JSON. */
  params: string;
}

/** The outcomes that the processes of a queue share. */
export interface PostgresOutcomes {
  wait: OutcomeStore["wait"];
  /** Returns an outcome as it is stored. */
  toRow(account: string, event: ChallengeEvent): PostgresOutcomeRow;
  /** Stores an outcome unless the challenge has one. */
  record(outcome: PostgresOutcomeRow): Promise<void>;
  /** Reads the outcomes that are awaited, for the case that a notification was lost. */
  recheck(): void;
  /** Rejects the pending waits in the same turn, and every later wait. */
  close(): void;
}

const KEYS_PER_READ = 500;

/**
 * Creates the outcomes that the processes of a queue share. A wait reads the row of its challenge;
 * so it does again after a notification, which is only a hint.
 */
export function createPostgresOutcomes(
  server: Server,
  session: Session,
  settings: PostgresSettings,
): PostgresOutcomes {
  const { maxWaiting, outcomeTtlMs, logger } = settings;
  const { schema, channel } = namesOf(settings);
  const waiters = createWaiters({ maxWaiting, onFirst: (key) => check([key]) });
  const toCheck = new Set<string>();
  let isReading = false;
  const resolve = createResolveStored(waiters, "Postgres", logger);

  session.events.on("notification", (message) => {
    if (message.channel !== channel) return;
    const awaited = new Set(waiters.listKeys());
    check((message.payload ?? "").split(",").filter((key) => awaited.has(key)));
  });

  function check(keys: readonly string[]): void {
    for (const key of keys) toCheck.add(key);
    if (isReading || toCheck.size === 0) return;
    isReading = true;
    setImmediate(() => void readAll());
  }

  async function readAll(): Promise<void> {
    while (toCheck.size > 0) {
      const keys = [...toCheck].slice(0, KEYS_PER_READ);
      for (const key of keys) toCheck.delete(key);
      // The recheck makes up for a read that fails.
      const rows = await read(keys).catch(() => []);
      for (const { key, params } of rows) resolve(key.toString("hex"), params);
    }
    isReading = false;
  }

  function read(keys: readonly string[]): Promise<PostgresOutcomeRow[]> {
    return server.query<PostgresOutcomeRow>({
      text: `select key, params from ${schema}.push_outcome where key = any($1) and expires_at > now()`,
      values: [keys.map((key) => Buffer.from(key, "hex"))],
      name: "push_outcomes",
    });
  }

  return {
    toRow: (account, event) => ({
      key: hashQueueKey(settings, joinOutcomeKey({ account, challengeSid: event.challenge_sid })),
      params: toAsciiJson(event.params),
    }),
    async record({ key, params }) {
      const text = `
        with recorded as (
          insert into ${schema}.push_outcome as stored (key, params, expires_at)
          values ($1, $2, now() + $3::bigint * interval '1 millisecond')
          on conflict (key) do update set params = excluded.params, expires_at = excluded.expires_at
            where stored.expires_at <= now()
          returning key
        )
        select pg_notify('${channel}', encode(key, 'hex')) from recorded`;
      await server.query({ text, values: [key, params, outcomeTtlMs] });
    },
    wait: (wait) =>
      waiters.wait(hashQueueKey(settings, joinOutcomeKey(wait)).toString("hex"), wait),
    recheck: () => check(waiters.listKeys()),
    close: waiters.close,
  };
}
