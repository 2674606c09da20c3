import { Client } from "pg";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import { createServerStorage } from "../../../lib/durable/postgres/server-storage";
import type { Claims, Storage } from "../../../lib/durable/storage";
import { closeLater, closeOpened } from "../../support/durable";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../../support/postgres";
import { compareSchedules, type RealStorage, type StorageRows } from "../simulation/comparison";

const TTL_MS = 2 ** 40;
/** Its `now()` comes before that of Postgres. */
const CLOCK = `
  create schema sim;
  create table sim.clock (ms bigint);
  insert into sim.clock values (0);
  create function sim.now() returns timestamptz language sql stable
    as 'select to_timestamp((select ms from sim.clock) / 1000.0)'`;
const ROWS = `
  select coalesce((select json_agg(event) from (
    select id, body, run_at as "runAtMs", pause as "pauseMs", owner, started, failures, stalls,
      failed_at as "failedAtMs", errors from push.event
  ) as event), '[]') as events, coalesce((select json_agg(member) from (
    select id, seen_at as "seenAtMs", since as "sinceMs" from push.member
  ) as member), '[]') as members`;

describeWithPostgres("the storage in Postgres", () => {
  let server: PostgresProcess;
  let storage: Storage & Claims;
  let client: Client;

  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } });
    client = new Client({ connectionString: server.url });
    closeLater({ close: () => client.end() });
    await client.connect();
    await client.query(CLOCK);
    const options = encodeURIComponent("-c search_path=sim,pg_catalog");
    const connection = `${server.url}?options=${options}`;
    const settings = { name: "q", connection, durability: "trust", dedupeTtlMs: TTL_MS } as const;
    storage = closeLater(createServerStorage(resolvePostgresOptions(settings)));
    await storage.connect(() => {});
  });
  afterAll(() => closeOpened().then(() => server.remove()));

  async function start(): Promise<RealStorage> {
    await client.query("truncate push.event, push.delivery, push.outcome, push.member");
    let readAtMs = 0;
    return {
      async call(method, args, nowMs) {
        await client.query("update sim.clock set ms = $1", [nowMs]);
        // A claim reads everything once a second only.
        const timer = jest.spyOn(performance, "now").mockImplementation(() => (readAtMs += 5_000));
        const run = storage[method] as (...values: readonly unknown[]) => Promise<unknown>;
        try {
          return await run(...args);
        } finally {
          timer.mockRestore();
        }
      },
      async readRows() {
        const { rows } = await client.query<StorageRows>(ROWS);
        return rows[0]!;
      },
    };
  }

  it("behaves like the model in 300 schedules", async () => {
    await compareSchedules({ first: 1, count: 300 }, start);
  });
});
