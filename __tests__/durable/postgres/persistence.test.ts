import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { createPersistence } from "../../../lib/durable/postgres/persistence";
import { silent } from "../../support/durable";
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

describe("createPersistence", () => {
  const failures: [reason: string, error: Error][] = [
    ["42P01", Object.assign(new Error("a parameter"), { code: "42P01", severity: "ERROR" })],
    ["Connection terminated", new Error("Connection terminated")],
  ];

  it.each(failures)("logs %s of a failure", async (reason, failure) => {
    const error = jest.fn();
    const run = jest.fn().mockRejectedValueOnce(failure).mockResolvedValue({ rows: [] });
    const session = { wait: () => Promise.resolve() };
    const logger = { ...silent, error };
    const persistence = createPersistence({ run } as never, session as never, logger);
    await persistence.run({ text: "select 1", values: [] });
    expect(error.mock.calls).toEqual([[{ reason }, expect.any(String)]]);
  });

  it("runs a statement once when it must not be repeated", async () => {
    const error = jest.fn();
    const run = jest.fn().mockRejectedValue(new Error("Connection terminated"));
    const session = { wait: () => Promise.resolve() };
    const persistence = createPersistence({ run } as never, session as never, { ...silent, error });
    expect(await persistence.runOnce({ text: "select 1" })).toBeUndefined();
    expect(run).toHaveBeenCalledTimes(1);
    expect(error).toHaveBeenCalledTimes(1);
  });
});
