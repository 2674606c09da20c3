import { postgresQueue } from "express-push-verification/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { describeContract } from "../contract";

// Each commit waits for the disk of this machine.
jest.setTimeout(20_000);

describeWithPostgres("postgresQueue", () => {
  let server: PostgresProcess;
  let count = 0;

  beforeAll(async () => {
    server = await startPostgresProcess();
  }, 60_000);
  afterAll(() => server.remove());

  describeContract({
    kind: "postgres",
    place: () => ({ connection: server.url, schema: `push_${count}` }),
    async start() {
      count++;
    },
    open: (options) =>
      postgresQueue({ name: "q", connection: server.url, schema: `push_${count}`, ...options }),
    async moveTimes(ms) {
      await server.query(`update push_${count}.event
        set run_at = run_at + ${ms}, failed_at = failed_at + ${ms}`);
    },
    async stop() {
      await server.query(`drop schema push_${count} cascade`);
    },
  });
});
