import {
  postgresQueue,
  type DurableQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { closeLater, closeOpened, QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import * as postgres from "./postgres";

/** Tests of a Postgres of their own, and its queues, which are closed after each test. */
export function usePostgres(options?: postgres.ServerOptions) {
  const app = {} as {
    server: postgres.PostgresProcess;
    /** Opens a queue as a process would. */
    open(queueOptions?: Partial<PostgresQueueOptions>): DurableQueue;
  };
  app.open = (own) =>
    closeLater(postgresQueue({ connection: app.server.url, name, logger: silent, ...own }));
  beforeAll(async () => {
    app.server = await postgres.startPostgres(options);
  });
  afterEach(closeOpened);
  afterAll(() => app.server.remove());
  return app;
}

/** Runs a suite on a Postgres of its own; skipped, and counted, where there is none. */
export function describeOnPostgres(title: string, suite: EngineSuite): void {
  postgres.describeWithPostgres(`postgresQueue: ${title}`, () => {
    let server: postgres.PostgresProcess;
    let count = 0;
    const schema = () => `push_${count}`;
    const setReadOnly = (value: "on" | "off") => server.set("default_transaction_read_only", value);
    async function startAgain(): Promise<void> {
      if (!server.isUp()) await server.start();
    }
    function goOn(): void {
      if (server.isUp()) server.signalAll("SIGCONT");
    }
    const freeze = { name: "is frozen", begin: () => server.signalAll("SIGSTOP"), end: goOn };
    const kill = { name: "is killed", begin: () => server.kill(), end: startAgain };

    beforeAll(async () => {
      server = await postgres.createPostgres();
    });
    afterAll(() => server.remove());

    runSuite(suite, {
      kind: "postgres",
      async start() {
        count++;
        await startAgain();
      },
      place: () => ({ name, connection: server.url, schema: schema() }),
      stop: goOn,
      freeze,
      keepsRuns: true,
      kill,
      // SIGTERM would wait for the end of all connections.
      outages: [
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
        const event = `${schema()}.event`;
        const id = `(select id from ${event} order by id limit 1 offset ${index})`;
        await server.query(`update ${event} set ${assignment} where id = ${id}`);
      },
      async countConnections() {
        const clients = `select from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`;
        return (await server.query(clients)).length;
      },
    });
  });
}
