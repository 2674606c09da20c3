/** The tables of the engines whose store is SQL, which have the same names. */

/** Writes statements that make all times earlier, except those of the members, which beat. */
export const ageRows = (schema: string, ms: number) => `
  update ${schema}delivery set expires_at = expires_at - ${ms};
  update ${schema}entry set at = at - ${ms};
  update ${schema}outcome set expires_at = expires_at - ${ms};
  update ${schema}event set run_at = run_at - ${ms}, failed_at = failed_at - ${ms}`;

/** Writes a query of the tables of all rows, except those of the set-up, of the
 * journal and of idle processes. */
export const listRows = (schema: string) => `
  select 'delivery' as kind from ${schema}delivery
  union all select 'event' from ${schema}event
  union all select 'outcome' from ${schema}outcome
  union all select 'worker' from ${schema}member where is_worker
  order by kind`;
