import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

jest.setTimeout(60_000);

describeWithPostgres("the statements of a worker", () => {
  let server: PostgresProcess;
  let queue: DurableQueue | undefined;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(async () => {
    await queue?.close({ deadlineMs: 0 });
    await server.remove();
  });

  it("warn the process once when they fail and there is no logger", async () => {
    const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    queue = postgresQueue({ connection: server.url, name: "q" });
    await queue.ready();
    queue.work(createHandlers().onUnhandled(() => {}));
    await server.query("drop schema push cascade");
    await until(() => warnings.mock.calls.length > 0);
    // Idle workers look for events every 500 ms.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(warnings.mock.calls).toEqual([
      [
        "postgresQueue: Postgres fails statements of a worker: 42P01",
        { type: "PushWebhooksWarning", code: "POSTGRES_FAILED" },
      ],
    ]);
    warnings.mockRestore();
  });
});
