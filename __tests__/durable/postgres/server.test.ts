import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import { createServer, type Server } from "../../../lib/durable/postgres/server";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

jest.setTimeout(60_000);

describeWithPostgres("the connections of a queue", () => {
  const opened: Server[] = [];
  let postgres: PostgresProcess;

  beforeAll(async () => {
    postgres = await startPostgresProcess();
  });
  afterAll(() => postgres.remove());
  afterEach(() => {
    for (const server of opened.splice(0)) server.close();
  });

  function open(query = ""): Server {
    const connection = postgres.url + query;
    const server = createServer(resolvePostgresOptions({ name: "q", connection }));
    opened.push(server);
    return server;
  }

  it("end a statement whose reply is lost", async () => {
    const isRunning = async () =>
      (await postgres.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length >
      0;
    const slept = open().query({ text: "select pg_sleep(60)" }, 200);
    await until(isRunning);
    await expect(slept).rejects.toThrow("timeout");
    expect(await isRunning()).toBe(true);
    await until(async () => !(await isRunning()), 20_000);
  });

  it.each([
    ["", "4s"],
    ["?options=-c%20statement_timeout%3D1000", "1s"],
    ["?options=-c%20statement_timeout%3D60000", "4s"],
  ])("limit statements; with %j to %s", async (query, limit) => {
    const rows = await open(query).query({ text: "show statement_timeout" });
    expect(rows).toEqual([{ statement_timeout: limit }]);
  });
});
