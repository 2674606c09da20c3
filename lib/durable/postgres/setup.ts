import type { Socket } from "node:net";
import type { Client } from "pg";
import type { PostgresSettings } from "./options";
import { QueueError } from "../queue-error";
import { warnOfRisk } from "../queue-options";

const FIRST_VERSION = 130_000;
const ROUNDS = 3;
const NO_MEMBER = -1;
/** Of pgbouncer: a transaction in statement mode, or an unknown parameter. */
const PROTOCOL_VIOLATION = "08P01";
const SETTINGS = ["fsync", "synchronous_commit", "full_page_writes"];
const READ_ONLY = "default_transaction_read_only";
const SETUP = `select current_setting('server_version_num')::int as version,
  pg_is_in_recovery() as "isStandby", current_database() as database, name, setting, source
  from pg_settings where name in (${[READ_ONLY, ...SETTINGS].map((name) => `'${name}'`).join()})`;

interface Setting {
  version: number;
  isStandby: boolean;
  database: string;
  name: string;
  setting: string;
  source: string;
}

/** Checks version, mode and settings of Postgres; throws QueueError, or Error for a standby. */
export async function checkDurability(
  client: Client,
  { durability, logger }: PostgresSettings,
): Promise<void> {
  const { rows } = await client.query<Setting>(SETUP);
  const [{ version, isStandby }] = rows as [Setting];
  if (version < FIRST_VERSION) {
    throw new QueueError(
      "POSTGRES_OLD",
      `postgresQueue needs Postgres 13 or newer; this is ${Math.floor(version / 10_000)}.`,
    );
  }
  // Not a QueueError: after a failover, it may be the primary.
  if (isStandby) throw new Error("This Postgres is a standby, which stores nothing.");
  const readOnly = rows.find(({ name, setting }) => name === READ_ONLY && setting === "on");
  if (readOnly !== undefined) {
    throw new QueueError(
      "POSTGRES_REJECTED",
      `postgresQueue: this Postgres is read-only, so it stores nothing. Managed services set this when the disk is full: free disk space or enlarge the disk first. Then change this, and the queue goes on by itself:\n${describeFix(client, readOnly, "off")}`,
    );
  }
  const checked = durability === "provider" ? ["synchronous_commit"] : SETTINGS;
  const wrong = rows.filter(({ name, setting }) => checked.includes(name) && setting === "off");
  if (wrong.length === 0 || durability === "trust") return;
  const lines = wrong.map((setting) => describeFix(client, setting, "on")).join("\n");
  const problem = `postgresQueue: this Postgres may lose events that were responded to with 200. Change this, and the queue goes on by itself:\n${lines}\nIf a managed service, or ZFS for full_page_writes, keeps every confirmed write without fsync and full_page_writes, set durability: "provider". Or set durability: "warn" to run like this.`;
  if (durability !== "warn") throw new QueueError("POSTGRES_NOT_DURABLE", problem);
  warnOfRisk(problem, logger);
}

/** Writes how to change a setting where it is set. */
function describeFix(client: Client, { name, source, database }: Setting, value: string): string {
  const reset = `reset ${name};`;
  const [role, inDatabase] = [`"${client.user}"`, `"${database}"`];
  const places: Record<string, string> = {
    "database user": `  alter role ${role} in database ${inDatabase} ${reset}`,
    user: `  alter role ${role} ${reset}`,
    database: `  alter database ${inDatabase} ${reset}`,
    client: `  ${name} = ${value} in connection (options), or in PGOPTIONS`,
    "command line": `  ${name} = ${value} in the command line that starts Postgres, and start it again`,
  };
  // Writes from before may not be on the disk.
  const sync = name === "fsync" ? " Then run sync on its machine." : "";
  const all = `  alter system set ${name} = ${value}; select pg_reload_conf(); (in the settings of a managed service)`;
  return (places[source] ?? all) + sync;
}

/**
 * Asserts that a client keeps its connection, for LISTEN and settings. A pooler in transaction mode
 * gives it to a second client, or another one to the first.
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
      // With one connection, the second read would wait for the other transaction.
      const isKept = isOther && (await readSession(client)).pid === pid;
      await second.query("rollback");
      if (!isKept) throw createPoolerError();
    }
  } catch (error) {
    throw codeOf(error) === PROTOCOL_VIOLATION ? createPoolerError() : error;
  } finally {
    second.end().catch(() => {});
  }
}

/**
 * Asserts that a prepared statement is committed: pgpool-II in raw mode leaves its transaction open.
 * Throws as {@link assertNotPooled}.
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

/** Errors that last until a person changes something. */
const LASTING: readonly (readonly [code: RegExp, reason: string, fix: string])[] = [
  [/^28P01$/, "rejects the password", "Check user and password of connection."],
  [
    /^28/,
    "rejects the role",
    "Check user of connection: the role must exist and have LOGIN (alter role … login), and pg_hba.conf must let it in from this address, with or without TLS.",
  ],
  [/^3D/, "has no such database", "Check database of connection, or create it."],
  [
    /^(0A|3F|42)/,
    "rejects a statement of the queue",
    "Pass the address of Postgres 13 or newer itself, not of a database that is compatible with it.",
  ],
  [
    /CERT|^UNABLE_TO_|^ERR_(TLS|SSL|OSSL)/,
    "has a certificate that is not trusted",
    "Pass its authority with the option ssl: { ca } of connection; see TLS in docs/durable-postgres.md.",
  ],
];

/** Classes of errors whose message holds no parameter. */
const NEUTRAL = /^(08|25|28|3D|42501|53|57|58)/;
/** Read-only transactions, or the end of the server: a new connection finds out why. */
const ENDING = /^(25006|57P0)/;

/**
 * Returns the error of a Postgres that cannot be used as it is set up; undefined for an outage.
 *
 * @param connecting the client whose connection failed.
 */
export function findRejection(
  error: unknown,
  connecting?: { client: Client; socket: Socket },
): QueueError | undefined {
  if (error instanceof QueueError) return error;
  const code = codeOf(error);
  // Of a pooler that gives the connection of one client to another.
  if (code === "42P05" || code === "26000") return createPoolerError();
  const known = LASTING.find(([codes]) => codes.test(code));
  const unnamed = connecting ? findUnnamed(code, connecting.client, connecting.socket) : [];
  const [, reason, fix] = known ?? [undefined, ...unnamed];
  if (reason === undefined) return undefined;
  const [text = ""] = (error as Error).message.split("\n", 1);
  return new QueueError(
    "POSTGRES_REJECTED",
    `postgresQueue: Postgres ${reason}: ${text.replace(/\.$/, "")}. ${fix}`,
  );
}

const STARTUP = [
  "options",
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
];

/** Finds a rejection without a code of its own, of a pooler or of pg. */
function findUnnamed(
  code: string,
  client: Client,
  socket: Socket,
): [reason?: string, fix?: string] {
  const { connectionParameters } = client as unknown as { connectionParameters: object };
  const given = STARTUP.filter((name) => Boolean(Reflect.get(connectionParameters, name)));
  if (code === PROTOCOL_VIOLATION && given.length > 0) {
    const fix = `Behind a pooler, leave ${given.join(", ")} out of connection (and of PGOPTIONS): alter role … set has the same effect.`;
    return ["or a pooler before it rejects the connection", fix];
  }
  // pg ends a connection when it cannot do what the server asks for.
  if (code !== "" || socket.destroyed || socket.readableEnded || socket.bytesRead === 0) return [];
  // The reply to the request of TLS is one byte.
  if (socket.bytesRead === 1) {
    const fix =
      "Turn ssl on in postgresql.conf; or, in a network that you trust, connect without TLS: ssl: false, or a URL with sslmode=disable.";
    return ["has no TLS", fix];
  }
  return [
    "cannot be logged in to",
    "Check password of connection: none, or one that is no text, was given.",
  ];
}

/** Returns the code of an error; "" for one of pg itself. */
const codeOf = (error: unknown) => (error as { code?: string }).code ?? "";

/** Returns whether a connection is of no use after an error. */
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
