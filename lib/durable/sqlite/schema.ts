import type { Migrations } from "../event-format";
import { NO_FAILURE } from "../storage";

/** Marks a file as a queue of this package: "push" in ASCII. */
export const APPLICATION_ID = 0x70757368;

/** The changes of the tables since the first format; the number is the `user_version` of the file. */
export const MIGRATIONS: Migrations<string> = {};

/**
 * The tables of a queue. Ids are never reused (AUTOINCREMENT): a late report cannot meet another event,
 * and an outcome is newer if its id is greater.
 *
 * - queue: its name, the key of its pseudonyms, and a part of its `StoreFormat`.
 * - delivery: the uuids. `key` is a hash of account and uuid.
 * - event: events to be handled, and dead letters, which have `failed_at`, `failure` and `person`. `id` is
 *   also the id of its delivery, `owner` the member that runs its handlers, `pause` a part of `run_at`.
 * - member: workers and processes, with their last beat, and since when they beat without a gap.
 * - entry: the journal. Each `kind` has a bound, which its shares divide.
 * - minute: its counters, of the minute that begins `at`.
 */
export const SCHEMA = `
  CREATE TABLE queue (
    name TEXT NOT NULL,
    events INTEGER NOT NULL,
    written_by TEXT NOT NULL,
    secret TEXT
  ) STRICT;
  CREATE TABLE delivery (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    content BLOB NOT NULL,
    is_discarded INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX delivery_expires_at ON delivery (expires_at);
  CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    uuid_hash BLOB NOT NULL,
    body TEXT NOT NULL,
    run_at INTEGER NOT NULL,
    pause INTEGER NOT NULL DEFAULT 0,
    owner INTEGER,
    started INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    stalls INTEGER NOT NULL DEFAULT 0,
    failed_at INTEGER,
    errors TEXT,
    failure TEXT NOT NULL DEFAULT '${NO_FAILURE}',
    person TEXT
  ) STRICT;
  CREATE INDEX event_due ON event (run_at, id) WHERE owner IS NULL AND failed_at IS NULL;
  CREATE INDEX event_owner ON event (owner) WHERE owner IS NOT NULL;
  CREATE INDEX event_failed ON event (failed_at, id) WHERE failed_at IS NOT NULL;
  CREATE INDEX event_failure ON event (failure, failed_at, id, person) WHERE failed_at IS NOT NULL;
  CREATE INDEX event_failed_uuid ON event (uuid_hash) WHERE failed_at IS NOT NULL;
  CREATE TABLE outcome (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    value TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outcome_expires_at ON outcome (expires_at);
  CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    is_worker INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    since INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    share TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entry_share ON entry (kind, share, id);
  CREATE TABLE minute (
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (at, name)
  ) STRICT, WITHOUT ROWID;
`;
