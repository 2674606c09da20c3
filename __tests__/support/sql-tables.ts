/** The tables of the engines whose store is SQL, which have the same names. */
import { JOURNAL_MS } from "../../lib/durable/storage";

/** Writes statements that make all times earlier, except those of the members, which beat. */
export const ageRows = (schema: string, ms: number) => `
  update ${schema}delivery set expires_at = expires_at - ${ms};
  update ${schema}entry set at = at - ${ms};
  update ${schema}outcome set expires_at = expires_at - ${ms};
  update ${schema}event set run_at = run_at - ${ms}, failed_at = failed_at - ${ms}`;

/** Writes a statement that makes the beats of all members earlier. */
export const ageMembers = (schema: string) =>
  `update ${schema}member set seen_at = seen_at - 3000, since = since - 3000`;

/**
 * Writes a query of the kinds of all rows, except those of the set-up and of the journal. A row that
 * ends later than in `longestMs` is lasting, as is a count of the journal that should have ended.
 */
export const listRows = (schema: string, longestMs: number) => `
  select case when expires_at > ${Date.now() + longestMs} then 'lasting uuid' else 'uuid' end as kind
    from ${schema}delivery
  union all select case when expires_at > ${Date.now() + longestMs} then 'lasting outcome' else 'outcome' end
    from ${schema}outcome
  union all select case when owner is null then 'event' else 'active event' end from ${schema}event
  union all select 'lasting count' from ${schema}minute where at < ${Date.now() - JOURNAL_MS}
  union all select case when is_worker then 'worker' else 'member' end from ${schema}member
  order by kind`;
