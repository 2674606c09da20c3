import { Socket } from "node:net";
import { Client, Pool, types, type ClientConfig, type PoolClient } from "pg";
import type { PostgresSettings } from "./options";

/** How long Postgres runs a statement whose connection was lost; a shorter limit of the role is kept. */
export const STATEMENT_TIMEOUT_MS = 4_000;

/**
 * Prepares a connection; pgbouncer rejects these settings as startup parameters. Postgres keeps plans: one
 * for an empty queue would read all rows of a backlog. By index it reads only its own.
 */
export const SESSION = `set default_transaction_isolation = 'read committed'; set enable_seqscan = off; set enable_hashjoin = off;
  set enable_mergejoin = off; set jit = off;
  select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false) from pg_settings
  where name = 'statement_timeout' and setting::int not between 1 and ${STATEMENT_TIMEOUT_MS}`;

const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_500;

/** The app may change the parsers of pg. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [types.builtins.BOOL, (text) => text === "t"],
  [types.builtins.INT4, Number],
  // All of the queue are safe integers.
  [types.builtins.INT8, Number],
]);
const getTypeParser = ((oid: number) => PARSERS.get(oid) ?? String) as typeof types.getTypeParser;

/** Options of the app that change replies, or what a connection is. */
const OWN_OPTIONS = {
  binary: false,
  client_encoding: "UTF8",
  connection: undefined,
  Client,
  pipeline: false,
  replication: undefined,
};

const ignore = () => {};

/** Asserts that pg can read the URL and the files that it names; without a cause, which may have the URL. */
function assertReadable(config: ClientConfig): void {
  const problem = findProblem(() => new Client({ ...config, stream: () => new Socket() }));
  if (problem === undefined) return;
  throw new TypeError(`postgresQueue: option connection cannot be read by pg: ${problem}.`);
}

function findProblem(create: () => Client): string | undefined {
  try {
    return void create();
  } catch (error) {
    return (error as Error).message;
  }
}

/** Creates the connections of a queue; they connect on use. */
export function createServerConnections({ connection, maxConnections }: PostgresSettings) {
  const sockets = new Set<Socket>();

  /** pg cannot close a connection without a response. */
  function openSocket(): Socket {
    const socket = new Socket();
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }

  const config: ClientConfig = {
    application_name: "push-webhooks",
    keepAlive: true,
    ...(typeof connection === "string"
      ? { connectionString: connection }
      : (connection as ClientConfig)),
    ...OWN_OPTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    stream: openSocket,
    types: { getTypeParser },
  };
  assertReadable(config);
  const pool = new Pool({ ...config, max: maxConnections });
  // The connection that listens reports the outage.
  pool.on("error", ignore);
  // Without a listener the process would end.
  pool.on("connect", (client) => client.on("error", ignore));
  const prepared = new WeakSet<PoolClient>();

  return {
    /** Runs a statement on any connection; Postgres prepares it once per connection. */
    async query<Row extends object>(statement: { name: string; text: string }, values: unknown[]) {
      const client = await pool.connect();
      try {
        if (!prepared.has(client)) await client.query(SESSION);
        prepared.add(client);
        const { rows } = await client.query<Row>({ ...statement, values });
        client.release();
        return rows;
      } catch (error) {
        // Closes the connection: a reply may still be on its way.
        client.release(error as Error);
        throw error;
      }
    },
    /** Creates a client; `destroy` closes it whether or not Postgres responds. */
    createClient() {
      const socket = openSocket();
      const client = new Client({ ...config, stream: () => socket });
      client.on("error", ignore);
      return { client, socket, destroy: () => void socket.destroy() };
    },
    /** Closes all connections, whether or not Postgres responds. */
    close() {
      pool.end().catch(ignore);
      for (const socket of sockets) socket.destroy();
    },
  };
}
