/** What operators do with bull-board, redis-cli and psql; `npm run setups` prints the table. */
import { Queue } from "bullmq";
import type { Logger } from "express-push-verification";
import { postgresQueue, redisQueue } from "express-push-verification/durable";
import { patient } from "../../support/durable";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../../support/postgres";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { describeStates, type State } from "./operators";

const name = "operated";

describeWithRedis("", () => {
  let server: RedisServer;
  let board: Queue;
  beforeEach(async () => {
    server = await startRedis();
    board = new Queue(name, { prefix: "push", connection: { port: server.port } });
    board.on("error", () => {});
  });
  afterEach(async () => {
    await board.close();
    await stopRedis();
  });

  const addJob = (id: string, field: string) =>
    server.redis
      .multi()
      .hset(`push:${name}:${id}`, "data", "{}", field, "x", "name", "event")
      .lpush(`push:${name}:wait`, id)
      .zadd(`push:${name}:marker`, 0, "0")
      .exec();

  describeStates(
    "Redis",
    (logger) => redisQueue({ name, connection: server.url, ...patient, logger }),
    [
      [
        "pauses it",
        () => board.pause(),
        () => board.resume(),
        ["QUEUE_PAUSED", /is paused in BullMQ/],
      ],
      [
        "limits its concurrency to 1",
        () => board.setGlobalConcurrency(1),
        () => board.removeGlobalConcurrency(),
      ],
      [
        "limits its rate to 1 event an hour",
        () => board.setGlobalRateLimit(1, 3_600_000),
        async () => {
          await board.removeGlobalRateLimit();
          await board.removeRateLimitKey();
        },
      ],
      ["drains it", () => board.drain(true)],
      ["cleans it", () => board.clean(0, 1_000, "wait")],
      ["obliterates it", () => board.obliterate({ force: true })],
      ["runs FLUSHALL", () => server.redis.flushall()],
      ["runs SCRIPT FLUSH", () => server.redis.script("FLUSH")],
      ["ends its connections", () => server.redis.call("CLIENT", "KILL", "TYPE", "normal")],
      ["removes its meta key", () => server.redis.del(`push:${name}:meta`)],
      [
        "adds 5 jobs whose starts are no number",
        async () => {
          for (let job = 0; job < 5; job++) await addJob(`foreign${job}`, "ats");
        },
      ],
      ["adds a job whose failures are no number", () => addJob("foreign", "atm")],
      ["adds a job whose stalls are no number", () => addJob("foreign", "stc")],
      ["adds a job of its own", () => board.add("other", { a: 1 })],
    ],
  );
});

describeWithPostgres("", () => {
  let server: PostgresProcess;
  let count = 0;
  const schema = () => `operated${count}`;
  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(() => void count++);
  afterAll(() => server.remove());

  const run = (sql: string) => () => server.query(sql.replaceAll("$", schema()));
  const setReadOnly = (value: "on" | "off") => () =>
    server.set("default_transaction_read_only", value);
  const states: State[] = [
    [
      "makes it read-only",
      setReadOnly("on"),
      setReadOnly("off"),
      ["STORE_UNAVAILABLE", /read-only/],
    ],
    ["sets its sequence back", run("alter sequence $.event_id_seq restart")],
    [
      "replicates rows into it",
      run(`insert into $.event (id, queue, run_at, uuid_hash, body) overriding system value
        select id, 1, 0, gen_random_uuid(), '{}' from generate_series(1, 2000) as id
        on conflict do nothing`),
    ],
    [
      "inserts the greatest id",
      run(
        "insert into $.event (id, queue, run_at, uuid_hash, body) values (9223372036854775807, 1, 0, gen_random_uuid(), '{}')",
      ),
    ],
    ["truncates its tables", run("truncate $.delivery, $.event, $.outcome, $.member")],
    [
      "ends its connections",
      run(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'push-webhooks'",
      ),
    ],
    [
      "sets the isolation of the database",
      run("alter database postgres set default_transaction_isolation = 'serializable'"),
    ],
    ["runs VACUUM FULL", run("vacuum full $.event")],
  ];
  const open = (logger: Logger) =>
    postgresQueue({ name, schema: schema(), connection: server.url, ...patient, logger });
  describeStates("Postgres", open, states);
});
