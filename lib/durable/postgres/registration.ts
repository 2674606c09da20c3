import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { writeSign } from "./process-table";
import type { Statement } from "./server";

/** Writes the statement that registers a process and its lanes; lanes that are registered stay so. */
export function writeRegistration(
  lanes: readonly string[],
  owner: number,
  settings: PostgresSettings,
): Statement {
  const { schema } = namesOf(settings);
  const text = `with sign as (${writeSign(schema, "select $3::int, $2::text, now()")})
    insert into ${schema}.push_lane (id, queue, owner)
    select id, $2, $3 from unnest($1::text[]) as id on conflict do nothing`;
  return { text, values: [lanes, settings.name, owner] };
}

/** Writes the statement that releases the jobs of lanes and removes their registration. */
export function writeRelease(lanes: readonly string[], settings: PostgresSettings): Statement {
  const { schema } = namesOf(settings);
  const text = `with removed as (delete from ${schema}.push_lane where id = any($1))
    select ${schema}.force_unlock_workers($1)`;
  return { text, values: [lanes] };
}
