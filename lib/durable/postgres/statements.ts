import { DUE, MAX_ID, PAGE, writeShared } from "../event-rows";
import { LEASE_MS, MAX_CLOCK_SKEW_MS } from "../lease";
import {
  JOURNAL_MS,
  MAX_AHEAD_MS,
  MAX_KEPT_ENTRIES,
  MAX_SLICE_ENTRIES,
  ROW_IS_VALID,
} from "../storage";

/** How many rows a statement of a purge changes. */
export const PURGED_ROWS = 1_000;

/** Unlike `clock_timestamp()`, `now()` keeps an index usable. */
const NOW = "(extract(epoch from now()) * 1000)::bigint";
/** Also of a clock that was far ahead. */
const OUTDATED = `at not between ${NOW} - ${JOURNAL_MS} and ${NOW} + ${JOURNAL_MS}`;

/** The condition of a row of the queue whose number is the only parameter. */
const OF_QUEUE = "queue = $1::int and";

/** Writes a uuid without its hyphens. */
const hex = (column: string) => `replace(${column}::text, '-', '')`;
/** Writes a list of uuids without hyphens; hex() of each takes longer than to store it. */
const list = (column: string, table: string) =>
  `coalesce((select replace(string_agg(${column}, ','), '-', '') from ${table}), '')`;
/** Writes the rows of a batch, the first parameter. */
const batch = (columns: string) => `json_to_recordset($1::json) as input (${columns})`;

/**
 * Writes the statements of a queue, with the names and in the order of those for a file. Its number is
 * the last parameter of most. The schema is quoted; a process ignores notifications of its own sender.
 */
export function writeStatements(schema: string, channel: string, sender: string) {
  const event = `${schema}.event`;
  const member = `${schema}.member`;
  const entry = `${schema}.entry`;
  const shared = writeShared(NOW, { event, member, least: "least", greatest: "greatest" });
  const notify = (hasEvents: boolean, keys = "''") =>
    `pg_notify('${channel}', '${sender} ${hasEvents ? "events" : ""} ' || ${keys})`;
  const keys = list("key::text", "recorded");
  const record = (rows: string) => `
    insert into ${schema}.outcome as stored (key, value, expires_at) ${rows}
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
      where stored.expires_at <= ${NOW}
    returning key`;

  /** Removes events, whose uuids stay. */
  const remove = (condition: string) => `
    with removed as (
      delete from ${event}
      where id = any($1::bigint[]) and queue = $2::int ${condition}
      returning id, uuid_hash
    ), kept as (
      update ${schema}.delivery set is_discarded = true from removed
      where event_id = removed.id and key between
        overlay(uuid_hash::text placing '0000-000000000000' from 20)::uuid
        and overlay(uuid_hash::text placing 'ffff-ffffffffffff' from 20)::uuid
    )
    select count(*) as count from removed`;

  const dead = { position: "($1::bigint, $2::bigint)", condition: "queue = $3::int and" };
  // The errors are too long for an index: it has their hashes.
  const ofFailure = `${dead.condition} hashtext(failure) = hashtext($4) and failure = $4 and`;
  const deadOf = { ...dead, condition: ofFailure };

  return {
    // In the order of the keys: processes that store the same uuids have no deadlock. An expired row is
    // replaced. Columns are read faster than JSON.
    store: `
      with input as materialized (
        select *, nextval('${schema}.event_id_seq') as id
        from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::text[])
          with ordinality as row (key, content, uuid_hash, body, outcome_key, value, position)
      ), kept as (
        insert into ${schema}.delivery as stored (key, content, event_id, expires_at)
        select distinct on (key) key, content, id, ${NOW} + $7::bigint
          from input order by key, position
        on conflict (key) do update set content = excluded.content, event_id = excluded.event_id,
          is_discarded = false, expires_at = excluded.expires_at
          where stored.expires_at <= ${NOW}
        returning key, content
      ), accepted as materialized (
        select * from input where (content in (select content from kept)) is true
      ), added as (
        insert into ${event} (id, queue, uuid_hash, body, run_at)
        select id, $9::int, uuid_hash, body, ${NOW} from accepted order by position
        returning 1
      ), recorded as (
        ${record(`select distinct on (outcome_key) outcome_key, value, ${NOW} + $8::bigint
          from accepted where outcome_key is not null order by outcome_key, position`)}
      )
      select ${list("key::text || content", `${schema}.delivery where key = any(array(select key from input))`)} as existing,
        ${list("key::text || content", "kept")} as kept,
        (select ${notify(true, keys)} from added having count(*) > 0)::text as notified`,

    record: `
      with recorded as (
        ${record(`select distinct on (key) key, value, ${NOW} + $2::bigint
          from ${batch("key uuid, value text")} order by key`)}
      )
      select ${notify(false, keys)} from recorded having count(*) > 0`,
    outcomes: `select ${hex("key")} as key, value from ${schema}.outcome
      where key = any($1::uuid[]) and expires_at > ${NOW}`,

    findOwned: `select started, ${shared.claimed} from ${event} as event
      where owner = $1 and id <> all($2::bigint[]) order by id`,
    // From a time on: dead rows of earlier claims are not read again. A member without a row would keep
    // its events for ever.
    claim: `
      with due as materialized (
        select id from ${event}
        where queue = $5::int and ${DUE} and run_at between $4::bigint and ${NOW}
          and id <> all($2::bigint[]) and exists (select from ${member} where id = $1)
        order by run_at, id limit $3 for update skip locked
      ), claimed as (
        update ${event} as event set owner = $1, started = event.started + 1
        from due where event.id = due.id
        returning started, ${shared.claimed}, run_at as "runAtMs"
      )
      select * from claimed order by "runAtMs", id`,

    // Ignore the owner: keep the result of a run that finished after its lease.
    finish: `delete from ${event} as event using ${batch("id bigint, started int")}
      where event.id = input.id and event.started = input.started and failed_at is null`,

    fail: `
      with input as materialized (
        select * from ${batch(
          `id bigint, started int, failures int, errors text, failure text, person text,
            "pauseMs" bigint, "isForged" boolean`,
        )}
      ), failed as (
        update ${event} as event set owner = null, failures = input.failures, errors = input.errors,
          failure = input.failure, person = input.person,
          run_at = coalesce(${NOW} + "pauseMs", run_at), pause = coalesce("pauseMs", pause),
          failed_at = case when "pauseMs" is null then ${NOW} end
        from input
        where event.id = input.id and event.started = input.started and failed_at is null
        returning event.id, failed_at
      ), forgotten as (
        delete from ${schema}.delivery where event_id in (select id from input where "isForged")
      )
      select id from failed where failed_at is not null
      union all select event.id from input join ${event} as event
        on event.id = input.id and event.started = input.started
        where "pauseMs" is null and failed_at is not null`,

    beat: `
      with clock as (
        select ${NOW} as ms, coalesce(greatest(
          (select max(seen_at) from ${member} where queue = $2::int),
          (select run_at - pause from ${event} where queue = $2::int and ${DUE}
            order by run_at desc, id desc limit 1),
          (select max(failed_at) from ${event} where queue = $2::int and failed_at is not null)
        ) > ${NOW} + ${MAX_CLOCK_SKEW_MS}, false) as is_set_back
      ), input as materialized (
        select * from ${batch('id bigint, "isWorker" boolean')}
      ), ended as (
        update ${event} set run_at = ${NOW}
        where (select is_set_back from clock) and queue = $2::int and ${DUE} and run_at > ${NOW}
      ), failed as (
        update ${event} set failed_at = ${NOW}
        where (select is_set_back from clock) and queue = $2::int and failed_at > ${NOW}
      ), expired as (
        update ${member} set seen_at = ${NOW} - ${LEASE_MS + 1}
        where queue = $2::int and seen_at > ${NOW} + ${MAX_CLOCK_SKEW_MS}
          and id not in (select id from input)
      ), alive as (
        insert into ${member} as stored (id, queue, is_worker, seen_at, since)
        select id, $2::int, "isWorker", ms, ms from input, clock order by id
        on conflict (id) do update set ${shared.beat}
        returning since
      ), dead as materialized (
        select id from ${member} where queue = $2::int and seen_at < ${NOW} - ${LEASE_MS}
          and id not in (select id from input)
          and exists (select from alive where since <= ${NOW} - ${LEASE_MS})
      ), released as (
        update ${event} set ${shared.stall}
        from dead where owner = dead.id
      )
      delete from ${member} using dead where ${schema}.member.id = dead.id`,

    forgetMember: `delete from ${member} where id = $1`,
    giveBack: `update ${event} set owner = null where owner = $1`,

    deadLetters: shared.listDead(dead),
    newestDeadLetters: shared.listDead({ ...dead, newestFirst: true }),
    deadLettersOf: shared.listDead(deadOf),
    newestDeadLettersOf: shared.listDead({ ...deadOf, newestFirst: true }),
    deadGroups: shared.deadGroups(OF_QUEUE),
    retry: `
      with retried as (
        update ${event} set ${shared.retry}
        where id = any($1::bigint[]) and queue = $2::int and failed_at is not null
        returning 1
      )
      select count(*) as count, ${notify(true)}::text from retried`,
    discard: remove("and failed_at is not null"),

    scanEvents: `select id::text, body as text, ${shared.state} as state from ${event} as event
      where queue = $2::int and event.id > $1::bigint order by event.id limit ${PAGE}`,
    scanOutcomes: `select key::text as id, value as text, 'outcome' as state from ${schema}.outcome
      where key > $1::uuid order by key limit ${PAGE}`,
    scanEntries: `select id::text, text, 'entry' as state from ${entry} as entry
      where queue = $2::int and entry.id > $1::bigint order by entry.id limit ${MAX_SLICE_ENTRIES}`,
    eraseEvents: remove(""),
    eraseOutcomes: `delete from ${schema}.outcome where key = any($1::uuid[])`,
    eraseEntries: `delete from ${entry} where id = any($1::bigint[]) and queue = $2::int`,

    // The lock comes before the first id, and ends with the commit: entries are seen in their order.
    // They need not wait for the disk.
    appendEntries: `
      with turn as materialized (
        select pg_advisory_xact_lock(hashtext('push journal ${schema}'), $3::int),
          set_config('synchronous_commit', 'off', true)
      ), counted as (
        insert into ${schema}.minute as stored (queue, at, name, count)
        select $3::int, "minuteMs", name, count from turn,
          json_to_recordset($2::json) as input ("minuteMs" bigint, name text, count bigint)
        on conflict (queue, at, name) do update set count = stored.count + excluded.count
      )
      insert into ${entry} (queue, kind, share, at, text)
      select $3::int, kind, share, ${NOW}, text from turn,
        rows from (json_to_recordset($1::json) as (kind text, share text, text text))
          with ordinality as row (kind, share, text, position)
        order by position`,
    readCounts: `select at as "minuteMs", name, count from ${schema}.minute
      where queue = $2::int and at >= greatest($1::bigint, ${NOW} - ${JOURNAL_MS})
      order by at, name`,
    // The oldest of a share have the last turns.
    trimEntries: `delete from ${entry} where queue = $1::int and (${OUTDATED} or id in (
      select id from (
        select id, row_number() over (partition by kind order by turn, id desc) as place from (
          select id, kind, row_number() over (partition by kind, share order by id desc) as turn
          from ${entry} where queue = $1::int
        ) as turns
      ) as places where place > ${MAX_KEPT_ENTRIES}))`,
    trimCounts: `delete from ${schema}.minute where queue = $1::int and ${OUTDATED}`,
    secret: `update ${schema}.queue set secret = coalesce(secret, $1) where id = $2::int
      returning secret`,

    // A number of another program at the limit of its type fails the statements above.
    bury: `update ${event} as event set ${shared.bury}
      where ${OF_QUEUE} not (${ROW_IS_VALID})`,

    // A restored or replicated sequence may be from before its rows.
    advanceIds: `${advance(schema, "event")} union all ${advance(schema, "entry")}`,

    find: shared.find(`
      select id, false as is_discarded from ${event}
        where uuid_hash = $1 and queue = $4::int and failed_at is not null
      union select event_id, is_discarded from ${schema}.delivery
        where key between $2 and $3 and expires_at > ${NOW}`),
    stats: shared.stats(OF_QUEUE),

    purge: purge(schema, "delivery"),
    purgeOutcomes: purge(schema, "outcome"),
    releaseOrphans: `update ${event} as event set ${shared.release}
      where ${OF_QUEUE} owner is not null
        and not exists (select from ${member} as member where member.id = event.owner)`,
  } as const;
}

/** Moves the sequence of a table past its ids; a role may lack the right to move the sequence of the queues. */
export function advance(schema: string, table: "event" | "queue" | "entry"): string {
  const sequence = `'${schema}.${table}_id_seq'`;
  const last = `coalesce(pg_sequence_last_value(${sequence}), 0)`;
  const canMove = `has_sequence_privilege(${sequence}, 'update')`;
  const seen = table !== "queue" ? last : `case when ${canMove} then ${last} end`;
  return `select setval(${sequence}, max(id)) from ${schema}.${table}
    where id < ${MAX_ID} having max(id) > ${seen}`;
}

/** Processes skip the rows of each other. Rows of a clock that was far ahead get the end of new ones. */
function purge(schema: string, table: string): string {
  const name = `${schema}.${table}`;
  const find = (condition: string) => `materialized (
      select key from ${name} where ${condition}
      order by expires_at limit ${PURGED_ROWS} for update skip locked
    )`;
  return `
    with expired as ${find(`expires_at <= ${NOW}`)}, removed as (
      delete from ${name} as stored using expired where stored.key = expired.key returning 1
    ), ahead as ${find(`expires_at > ${NOW} + $1::bigint + ${MAX_AHEAD_MS}`)}, ended as (
      update ${name} as stored set expires_at = ${NOW} + $1::bigint from ahead
      where stored.key = ahead.key returning 1
    )
    select greatest((select count(*) from removed), (select count(*) from ended)) as count`;
}
