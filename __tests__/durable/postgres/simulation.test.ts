import { Client } from "pg";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import { ServerStorage } from "../../../lib/durable/postgres/server-storage";
import type { Claims, Storage } from "../../../lib/durable/storage";
import { closeLater, closeOpened } from "../../support/durable";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../../support/postgres";
import type { RealStorage, StorageRows } from "../simulation/comparison";
import { type RealJournal, walkJournal } from "../simulation/journal-walk";
import { TTLS, walk } from "../simulation/walk";

/** Its `now()` comes before that of Postgres. */
const CLOCK = `
  create schema sim;
  create table sim.clock (ms bigint);
  insert into sim.clock values (0);
  create function sim.now() returns timestamptz language sql stable
    as 'select to_timestamp((select ms from sim.clock) / 1000.0)'`;
const EMPTY =
  "truncate push.event, push.delivery, push.outcome, push.member, push.entry, push.minute";
const SET_CLOCK = { name: "clock", text: "update sim.clock set ms = $1" };
const ROWS = `
  select coalesce((select json_agg(event) from (
    select id, body, run_at as "runAtMs", pause as "pauseMs", owner, started, failures, stalls,
      failed_at as "failedAtMs", errors from push.event
  ) as event), '[]') as events, coalesce((select json_agg(member) from (
    select id, seen_at as "seenAtMs", since as "sinceMs" from push.member
  ) as member), '[]') as members, coalesce((select json_agg(delivery) from (
    select replace(key::text, '-', '') as key, replace(content::text, '-', '') as content,
      is_discarded as "isDiscarded", expires_at as "expiresAtMs" from push.delivery
  ) as delivery), '[]') as deliveries, coalesce((select json_agg(outcome) from (
    select replace(key::text, '-', '') as key, value, expires_at as "expiresAtMs" from push.outcome
  ) as outcome), '[]') as outcomes`;
// With a name, it is planned once.
const READ_ROWS = { name: "rows", text: ROWS };

describeWithPostgres("the storage in Postgres", () => {
  let server: PostgresProcess;
  let connection: string;
  let client: Client;
  let clockMs: number;

  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } });
    client = new Client({ connectionString: server.url });
    closeLater({ close: () => client.end() });
    await client.connect();
    await client.query(CLOCK);
    const options = encodeURIComponent("-c search_path=sim,pg_catalog");
    connection = `${server.url}?options=${options}`;
  });
  afterAll(() => closeOpened().then(() => server.remove()));

  async function open(): Promise<Storage & Claims> {
    const settings = { name: "q", connection, durability: "trust", ...TTLS } as const;
    const storage = closeLater(new ServerStorage(resolvePostgresOptions(settings)));
    await storage.connect(() => {});
    return storage;
  }

  async function start(storage: Storage & Claims): Promise<RealStorage & RealJournal> {
    await client.query(EMPTY);
    let readAtMs = 0;
    return {
      async call(method: keyof (Storage & Claims), args: readonly unknown[], nowMs: number) {
        if (nowMs !== clockMs) await client.query({ ...SET_CLOCK, values: [nowMs] });
        clockMs = nowMs;
        // A claim reads everything once a second only.
        const timer = jest.spyOn(performance, "now").mockImplementation(() => (readAtMs += 5_000));
        const run = storage[method] as (...values: readonly unknown[]) => Promise<unknown>;
        try {
          return await run.apply(storage, [...args]);
        } finally {
          timer.mockRestore();
        }
      },
      async readRows() {
        const { rows } = await client.query<StorageRows>(READ_ROWS);
        return rows[0]!;
      },
    };
  }

  it("behaves like the model in 150 walks", async () => {
    const storage = await open();
    for (let seed = 1; seed <= 150; seed++) await walk(seed, await start(storage));
  }, 1_200_000);

  it("has the journal of the model in 20 walks over days", async () => {
    const storage = await open();
    for (let seed = 1; seed <= 20; seed++) await walkJournal(seed, await start(storage));
  }, 1_200_000);
});
