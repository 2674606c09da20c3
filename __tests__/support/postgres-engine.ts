import { openQueue, type StoppableEngine } from "./engine";
import { describeWithPostgres } from "./postgres";
import { createPostgres, type PostgresProcess } from "./postgres-server";

/** Runs a suite on a Postgres of its own; skipped, and counted, where there is none. */
export function describeOnPostgres(title: string, suite: (engine: StoppableEngine) => void): void {
  describeWithPostgres(`postgresQueue: ${title}`, () => {
    let server: PostgresProcess;
    let isFrozen = false;
    let count = 0;
    const name = () => `q${count}`;
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

    suite({
      async start() {
        count++;
        await startAgain();
      },
      open: (options) => openQueue("postgres", server.url, { name: name(), ...options }),
      async stop() {
        freeze.end();
      },
      listArguments: () => ["postgres", server.url, name()],
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
          error: "read-only",
        },
      ],
      async change(assignment, index) {
        await server.query(
          `update push.event set ${assignment} where id = (select id from push.event
            where queue = (select id from push.queue where name = '${name()}')
            order by id limit 1 offset ${index})`,
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
