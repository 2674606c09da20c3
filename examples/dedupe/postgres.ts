/** A dedupe store in PostgreSQL: pass it as the option `dedupe` of `pushWebhooks`. */
import type { DedupeStore } from "express-push-verification";
import type { Pool } from "pg";

/** Run it once, such as in a migration. */
export const CREATE_TABLE = `
CREATE TABLE push_events (
  account_sid  text        NOT NULL,
  uuid         bytea       NOT NULL, -- a text column rejects U+0000
  content_hash text        NOT NULL,
  owner        text        NOT NULL,
  done         boolean     NOT NULL DEFAULT false,
  claimed_at   timestamptz NOT NULL DEFAULT now(),
  lapses_at    timestamptz NOT NULL,
  PRIMARY KEY (account_sid, uuid)
);`;

/** Run it once an hour: each uuid is kept for 24 hours. */
export const REMOVE_OLD = `
DELETE FROM push_events WHERE claimed_at < now() - interval '24 hours' AND lapses_at < now();`;

export function createPostgresDedupe(pool: Pool): DedupeStore {
  return {
    async claim({ accountSid, uuid, contentHash, owner, leaseMs }) {
      const key = [accountSid, Buffer.from(uuid)];
      // One statement decides: of concurrent claims, one inserts or updates the row. The owner of a
      // claim gets it again, because the first response may have been lost.
      const { rowCount } = await pool.query(
        `INSERT INTO push_events AS known (account_sid, uuid, content_hash, owner, lapses_at)
         VALUES ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')
         ON CONFLICT (account_sid, uuid) DO UPDATE SET content_hash = excluded.content_hash,
           owner = excluded.owner, claimed_at = now(), lapses_at = excluded.lapses_at
         WHERE NOT known.done AND (known.owner = excluded.owner OR known.lapses_at <= now())`,
        [...key, contentHash, owner, leaseMs],
      );
      if (rowCount === 1) return "new";
      const { rows } = await pool.query<{ done: boolean; content_hash: string }>(
        "SELECT done, content_hash FROM push_events WHERE account_sid = $1 AND uuid = $2",
        key,
      );
      const [known] = rows;
      if (known?.done !== true) return "running";
      return known.content_hash === contentHash ? "done" : "conflict";
    },
    async complete({ accountSid, uuid, owner }) {
      await pool.query(
        "UPDATE push_events SET done = true WHERE account_sid = $1 AND uuid = $2 AND owner = $3",
        [accountSid, Buffer.from(uuid), owner],
      );
    },
    async release({ accountSid, uuid, owner }) {
      await pool.query(
        `DELETE FROM push_events
         WHERE account_sid = $1 AND uuid = $2 AND owner = $3 AND NOT done`,
        [accountSid, Buffer.from(uuid), owner],
      );
    },
  };
}
