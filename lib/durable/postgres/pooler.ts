import type { Client } from "pg";
import { QueueError } from "../queue-error";

const ROUNDS = 3;

/**
 * Asserts that a client keeps its connection of Postgres between transactions: LISTEN and
 * settings are of a connection.
 *
 * A pooler in transaction mode gives the connection of one client to the next that begins a
 * transaction, so a second client gets it, or the first one comes back to another connection.
 *
 * @throws QueueError `POSTGRES_POOLED` when it does not; what pg throws.
 */
export async function assertNotPooled(client: Client, second: Client): Promise<void> {
  await second.connect();
  try {
    const own = await readPid(client);
    for (let round = 0; round < ROUNDS; round++) {
      await second.query("begin");
      const other = await readPid(second);
      // Through a pooler with one connection this would wait for the other transaction to end.
      const now = other === own ? other : await readPid(client);
      await second.query("rollback");
      if (other === own || now !== own) throw createPoolerError();
    }
  } finally {
    second.end().catch(() => {});
  }
}

async function readPid(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}

function createPoolerError(): QueueError {
  return new QueueError(
    "POSTGRES_POOLED",
    "postgresQueue: a pooler in transaction mode (such as pgbouncer with pool_mode = transaction) is between this process and Postgres: LISTEN is lost between transactions. Pass the address of Postgres itself, or of a pool in session mode.",
  );
}
