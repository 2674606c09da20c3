import { postgresQueue } from "express-push-verification/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { describeContract } from "../contract";

jest.setTimeout(20_000);

describeWithPostgres("postgresQueue", () => {
  let server: PostgresProcess;
  let count = 0;

  beforeAll(async () => {
    // Nothing here needs the disk: the suites of outages stop and kill servers that sync.
    server = await startPostgresProcess({ settings: { fsync: "off" } });
  }, 60_000);
  afterAll(() => server.remove());

  describeContract({
    kind: "postgres",
    place: () => ({ connection: server.url, schema: `push_${count}`, durability: "trust" }),
    async start() {
      count++;
    },
    open: (options) =>
      postgresQueue({
        name: "q",
        connection: server.url,
        schema: `push_${count}`,
        durability: "trust",
        ...options,
      }),
    async moveTimes(ms) {
      await server.query(`update push_${count}.event
        set run_at = run_at + ${ms}, failed_at = failed_at + ${ms}`);
    },
    async stop() {
      await server.query(`drop schema push_${count} cascade`);
    },
  });
});
