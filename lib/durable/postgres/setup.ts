import type { Client } from "pg";
import type { PostgresSettings } from "./options";
import { QueueError } from "../queue-error";
import { warnOfRisk } from "../queue-options";

const FIRST_VERSION = 130_000;
const ROUNDS = 3;
const NO_MEMBER = -1;
const SETTINGS = ["fsync", "synchronous_commit", "full_page_writes"];
const SETUP = `select current_setting('server_version_num')::int as version,
  pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
  ${SETTINGS.map((name) => `current_setting('${name}') as ${name}`).join()}`;

interface Setup extends Record<string, unknown> {
  version: number;
  isStandby: boolean;
  isReadOnly: boolean;
}

/**
 * Checks that Postgres is new enough, takes writes, and loses nothing that it has confirmed. Throws
 * QueueError, or Error for a standby.
 */
export async function checkDurability(
  client: Client,
  { durability, logger }: PostgresSettings,
): Promise<void> {
  const { rows } = await client.query<Setup>({ name: "push_setup", text: SETUP });
  const [{ version, isStandby, isReadOnly, ...settings }] = rows as [Setup];
  if (version < FIRST_VERSION) {
    throw new QueueError(
      "POSTGRES_OLD",
      `postgresQueue needs Postgres 13 or newer; this is ${Math.floor(version / 10_000)}.`,
    );
  }
  // Not a QueueError: after a failover, a new connection may lead to the primary.
  if (isStandby) throw new Error("This Postgres is a standby, which stores nothing.");
  if (isReadOnly) {
    throw new QueueError(
      "POSTGRES_REJECTED",
      "postgresQueue: this Postgres is read-only (default_transaction_read_only = on), so it stores nothing. Managed services set this when the disk is full: free disk space or enlarge the disk, then set default_transaction_read_only = off for the server, the database and the role, and in the option connection.",
    );
  }
  const checked = durability === "provider" ? ["synchronous_commit"] : SETTINGS;
  const wrong = checked.filter((name) => settings[name] === "off");
  if (wrong.length === 0 || durability === "trust") return;
  const lines = wrong.map((name) => `  ${name} = on`).join("\n");
  const problem = `postgresQueue: this Postgres may lose events that were responded to with 200. Change in postgresql.conf (or with ALTER ROLE and ALTER DATABASE, which come before it), and reload:\n${lines}\nIf a managed service, or ZFS for full_page_writes, keeps every confirmed write without fsync and full_page_writes, set durability: "provider". Or set durability: "warn" to run like this.`;
  if (durability !== "warn") throw new QueueError("POSTGRES_NOT_DURABLE", problem);
  warnOfRisk(problem, logger);
}

/**
 * Asserts that a client keeps its connection of Postgres between transactions: LISTEN and
 * settings are of a connection.
 *
 * A pooler in transaction mode gives the connection of one client to the next that begins a
 * transaction, so a second client gets it, or the first one comes back to another connection.
 *
 * @throws QueueError `POSTGRES_POOLED`; the errors of pg.
 */
export async function assertNotPooled(client: Client, second: Client): Promise<void> {
  await second.connect();
  try {
    const { pid } = await readSession(client);
    for (let round = 0; round < ROUNDS; round++) {
      await second.query("begin");
      const isOther = (await readSession(second)).pid !== pid;
      // Through a pooler with one connection the second read would wait for the other transaction to end.
      const isKept = isOther && (await readSession(client)).pid === pid;
      await second.query("rollback");
      if (!isKept) throw createPoolerError();
    }
  } catch (error) {
    throw /statement pooling/.test((error as Error).message) ? createPoolerError() : error;
  } finally {
    second.end().catch(() => {});
  }
}

/**
 * Asserts that a prepared statement is committed when Postgres has replied to it: pgpool-II in raw
 * mode begins a transaction, and leaves it open. Throws as {@link assertNotPooled}.
 */
export async function assertCommitted(client: Client, text: string): Promise<void> {
  await client.query({ name: "push_forgetMember", text, values: [NO_MEMBER] });
  const { startedAt } = await readSession(client);
  if ((await readSession(client)).startedAt === startedAt) throw createPoolerError();
}

async function readSession(client: Client): Promise<{ pid?: number; startedAt?: string }> {
  const { rows } = await client.query<{ pid: number; startedAt: string }>(
    `select pg_backend_pid() as pid, transaction_timestamp()::text as "startedAt"`,
  );
  return rows[0] ?? {};
}

function createPoolerError(): QueueError {
  return new QueueError(
    "POSTGRES_POOLED",
    "postgresQueue: a pooler in transaction or statement mode (such as pgbouncer with pool_mode = transaction), or pgpool-II in raw mode, is between this process and Postgres: it keeps no LISTEN, or does not commit. Pass the address of Postgres itself, of a pool in session mode, or of pgpool-II in streaming_replication mode.",
  );
}

/** Errors that last until the setup of Postgres or the option `connection` is changed, by code or class. */
const LASTING: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^28P01$/, "rejects the password"],
  [/^28/, "rejects the role"],
  [/^3D/, "has no such database"],
  [/^(0A|3F|42)/, "rejects a statement of the queue"],
  [/CERT|^UNABLE_TO_|^ERR_(TLS|SSL|OSSL)/, "has a certificate that is not trusted"],
];
/** Errors without a code: of pg, and of a pooler. */
const LASTING_MESSAGES = /does not support SSL|^SASL|unsupported startup parameter/;

/** Classes of errors whose message holds no parameter: of the connection, the disk and the server. */
const NEUTRAL = /^(08|25|28|3D|42501|53|57|58)/;
/** A new connection finds out why transactions are read-only, or the server ends. */
const ENDING = /^(25006|57P0)/;

/** Returns the error of a Postgres that cannot be used as it is set up; undefined for an outage. */
export function findRejection(error: unknown): QueueError | undefined {
  if (error instanceof QueueError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const [text = ""] = String(message).split("\n", 1);
  const known = LASTING.find(([codes]) => codes.test(String(code)))?.[1];
  const reason = known ?? (LASTING_MESSAGES.test(text) ? "rejects the connection" : undefined);
  if (reason === undefined) return undefined;
  const fix = /certificate/.test(reason)
    ? "Pass its authority with the option ssl: { ca } of connection; see TLS in docs/durable-postgres.md."
    : "Check the option connection.";
  return new QueueError("POSTGRES_REJECTED", `postgresQueue: Postgres ${reason}: ${text}. ${fix}`);
}

/** Returns whether the connection of a statement is of no use after its error. */
export function isConnectionLost(error: unknown): boolean {
  const { severity, code } = error as { severity?: unknown; code?: unknown };
  return severity === undefined || ENDING.test(String(code));
}

/** Returns an error without parameters of events: Postgres quotes them in some messages. */
export function toNeutralError(error: unknown): Error {
  const { severity, code } = error as Record<string, unknown>;
  if (severity === undefined || NEUTRAL.test(String(code))) return error as Error;
  return Object.assign(new Error(`A statement failed with ${String(code)}.`), { code });
}
