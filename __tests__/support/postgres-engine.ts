import {
  postgresQueue,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { closeLater, closeOpened, QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import { describeWithPostgres } from "./postgres";
import {
  createPostgres,
  startPostgresProcess,
  type PostgresProcess,
  type ServerOptions,
} from "./postgres-server";

/** A Postgres for the tests of a block, and its queues, which are closed after each test. */
export function usePostgres(options?: ServerOptions) {
  const app = {} as {
    server: PostgresProcess;
    /** Opens a queue as a process would. */
    open(queueOptions?: Partial<PostgresQueueOptions>): DurableQueue;
  };
  app.open = (queueOptions) =>
    closeLater(
      postgresQueue({ connection: app.server.url, name, logger: silent, ...queueOptions }),
    );
  beforeAll(async () => {
    app.server = await startPostgresProcess(options);
  });
  afterEach(closeOpened);
  afterAll(() => app.server.remove());
  return app;
}

/** Runs a suite on a Postgres of its own; skipped, and counted, where there is none. */
export function describeOnPostgres(title: string, suite: EngineSuite): void {
  describeWithPostgres(`postgresQueue: ${title}`, () => {
    let server: PostgresProcess;
    let isFrozen = false;
    let count = 0;
    const schema = () => `push_${count}`;
    const isUp = () => server.child?.exitCode === null && server.child.signalCode === null;
    const startAgain = async () => {
      if (!isUp()) await server.start();
    };
    const setReadOnly = (value: "on" | "off") => server.set("default_transaction_read_only", value);
    const freeze = {
      name: "is frozen",
      begin() {
        server.signalAll("SIGSTOP");
        isFrozen = true;
      },
      end() {
        if (isFrozen && isUp()) server.signalAll("SIGCONT");
        isFrozen = false;
      },
    };
    const kill = { name: "is killed", begin: () => server.kill(), end: startAgain };

    beforeAll(async () => {
      server = await createPostgres();
    });
    afterAll(() => server.remove());

    runSuite(suite, {
      kind: "postgres",
      async start() {
        count++;
        await startAgain();
      },
      place: () => ({ name, connection: server.url, schema: schema() }),
      async stop() {
        freeze.end();
      },
      freeze,
      keepsRuns: true,
      kill,
      outages: [
        // SIGTERM would wait for the end of all connections.
        { name: "is stopped", begin: () => server.kill("SIGINT"), end: startAgain },
        kill,
        freeze,
      ],
      failures: [
        {
          name: "is read-only",
          begin: () => setReadOnly("on"),
          end: () => setReadOnly("off"),
          error: "POSTGRES_REJECTED",
        },
      ],
      async change(assignment, index) {
        const rows = index === undefined ? "" : `order by id limit 1 offset ${index}`;
        const event = `${schema()}.event`;
        await server.query(
          `update ${event} set ${assignment} where id in (select id from ${event} ${rows})`,
        );
      },
      async countConnections() {
        const rows = await server.query(
          `select pid from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid()`,
        );
        return rows.length;
      },
    });
  });
}
