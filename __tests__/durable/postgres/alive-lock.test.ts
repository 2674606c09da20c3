import { Client } from "pg";
import { createAliveLock } from "../../../lib/durable/postgres/alive-lock";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

const KEYS = [7, 11] as const;

jest.setTimeout(60_000);

describeWithPostgres("the lock that shows that workers are alive", () => {
  const clients: Client[] = [];
  let server: PostgresProcess;
  let isWanted: boolean;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(() => server.remove());
  beforeEach(() => {
    isWanted = true;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    await until(async () => (await countLocks()) === 0);
  });

  const createLock = () => createAliveLock(KEYS, () => isWanted);

  async function connect(): Promise<Client> {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    clients.push(client);
    return client;
  }

  async function countLocks(): Promise<number> {
    const rows = await server.query(
      `select from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
        and classid = $1 and objid = $2`,
      [...KEYS],
    );
    return rows.length;
  }

  it("is taken while it is wanted, and released when it is not", async () => {
    const [lock, client] = [createLock(), await connect()];
    await lock.align(client);
    expect(await countLocks()).toBe(1);
    isWanted = false;
    await lock.align(client);
    expect(await countLocks()).toBe(0);
  });

  it("is not taken when it is not wanted", async () => {
    isWanted = false;
    await createLock().align(await connect());
    expect(await countLocks()).toBe(0);
  });

  it("is taken once, however often it is aligned", async () => {
    const [lock, client] = [createLock(), await connect()];
    await Promise.all([lock.align(client), lock.align(client)]);
    await lock.align(client);
    isWanted = false;
    await lock.align(client);
    // Locks of a connection stack: a second one would be left.
    expect(await countLocks()).toBe(0);
  });

  it("follows what is wanted while a statement runs", async () => {
    const [lock, client] = [createLock(), await connect()];
    const aligned = lock.align(client);
    isWanted = false;
    await lock.align(client);
    await aligned;
    expect(await countLocks()).toBe(0);
  });

  it("is taken later when a former connection still holds it", async () => {
    const [lock, former, client] = [createLock(), await connect(), await connect()];
    await former.query("select pg_advisory_lock($1, $2)", [...KEYS]);
    await lock.align(client);
    await former.query("select pg_advisory_unlock($1, $2)", [...KEYS]);
    expect(await countLocks()).toBe(0);
    await lock.align(client);
    expect(await countLocks()).toBe(1);
  });

  it("is taken on the next connection when that of the lock has ended", async () => {
    const [lock, former] = [createLock(), await connect()];
    await lock.align(former);
    await former.end();
    clients.splice(clients.indexOf(former), 1);
    await until(async () => (await countLocks()) === 0);
    const client = await connect();
    await lock.align(client);
    expect(await countLocks()).toBe(1);
    isWanted = false;
    await lock.align(client);
    expect(await countLocks()).toBe(0);
  });

  it("is taken on the next connection while the former one does not respond", async () => {
    const [lock, former, client] = [createLock(), await connect(), await connect()];
    const { rows } = await former.query<{ pid: number }>("select pg_backend_pid() as pid");
    process.kill(rows[0]!.pid, "SIGSTOP");
    const aligned = lock.align(former);
    await lock.align(client);
    expect(await countLocks()).toBe(1);
    process.kill(rows[0]!.pid, "SIGCONT");
    await aligned;
    isWanted = false;
    await lock.align(client);
    expect(await countLocks()).toBe(0);
  });
});
