import { postgresQueue, redisQueue } from "express-push-verification/durable";
import { describeWithPostgres } from "../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../support/postgres-server";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { runCommand } from "../support/terminals";
import { testSubcommands } from "./queue-subcommands";

describeWithRedis("queue … --queue redis://…", () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await startRedis());
  });
  afterAll(stopRedis);
  testSubcommands(() => ({ store: url, queue: redisQueue({ name: "cli", connection: url }) }));
});

describeWithPostgres("queue … --queue postgres://…", () => {
  let server: PostgresProcess;
  beforeAll(async () => {
    server = await startPostgresProcess({ settings: { fsync: "off" } });
  });
  afterAll(() => server.remove());
  testSubcommands(() => {
    const store = server.url;
    return { store, queue: postgresQueue({ name: "cli", connection: store, durability: "trust" }) };
  });
});

it.each(["", "missing.db", "mysql://a"])("rejects the store %j", async (store) => {
  const ended = await runCommand(["queue", "stats", "--name", "cli"], { PUSH_QUEUE: store });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("PUSH_QUEUE") });
});
