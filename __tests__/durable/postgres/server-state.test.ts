import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { findFreePort } from "../../support/ports";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

jest.setTimeout(60_000);

const type = "PushWebhooksWarning";
let queue: DurableQueue;
let warnings: jest.SpyInstance;

beforeEach(() => {
  warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(async () => {
  await queue.close({ deadlineMs: 0 });
  warnings.mockRestore();
});

describe("without a logger", () => {
  it("warns once when Postgres is not there", async () => {
    const port = await findFreePort();
    queue = postgresQueue({ connection: `postgres://push@127.0.0.1:${port}/app`, name: "q" });
    await until(() => warnings.mock.calls.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(warnings.mock.calls).toEqual([
      [expect.stringContaining("ECONNREFUSED"), { type, code: "POSTGRES_UNREACHABLE" }],
    ]);
  });
});

describeWithPostgres("without a logger", () => {
  let server: PostgresProcess;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(() => server.remove());

  it("warns of each outage of Postgres", async () => {
    queue = postgresQueue({ connection: server.url, name: "q" });
    await queue.ready();
    expect(warnings.mock.calls).toEqual([]);
    for (let outages = 1; outages <= 2; outages++) {
      await server.kill();
      await until(() => warnings.mock.calls.length === outages);
      await server.start();
      await queue.ready();
    }
    expect(warnings.mock.calls).toHaveLength(2);
    expect(warnings.mock.calls).toContainEqual([
      expect.stringContaining("postgresQueue"),
      { type, code: "POSTGRES_UNREACHABLE" },
    ]);
  });

  it("warns with the code of the QueueError when Postgres cannot be used", async () => {
    queue = postgresQueue({ connection: server.url.replace("/postgres", "/missing"), name: "q" });
    await expect(queue.ready()).rejects.toMatchObject({ code: "POSTGRES_REJECTED" });
    expect(warnings.mock.calls).toEqual([
      [expect.stringContaining("missing"), { type, code: "POSTGRES_REJECTED" }],
    ]);
  });
});
