import { Client } from "pg";
import { resolvePostgresOptions, type PostgresSettings } from "../../lib/durable/postgres/options";
import { prepareSchema } from "../../lib/durable/postgres/schema";
import { ServerStorage } from "../../lib/durable/postgres/server-storage";
import { QUEUE_NAME as name, silent } from "./durable";
import { runSuite, type EngineSuite } from "./engine";
import * as postgres from "./postgres";
import { ageMembers, ageRows, listRows } from "./sql-tables";

/** The server of all suites of a file, each of whose tests has a schema of its own. */
let shared: Promise<postgres.PostgresProcess> | undefined;
let count = 0;

afterAll(async () => (await shared)?.remove());

export function describeOnPostgres(
  title: string,
  suite: EngineSuite<{ server(): postgres.PostgresProcess }>,
): void {
  postgres.describeWithPostgres(`postgresQueue: ${title}`, () => {
    let server: postgres.PostgresProcess;
    let isFrozen = false;
    const schema = () => `push_${count}`;
    const setReadOnly = (value: "on" | "off") => server.set("default_transaction_read_only", value);
    async function startAgain(): Promise<void> {
      if (!server.isUp()) await server.start();
    }
    function freezeServer(): void {
      isFrozen = true;
      server.signalAll("SIGSTOP");
    }
    function goOn(): void {
      if (isFrozen && server.isUp()) server.signalAll("SIGCONT");
      isFrozen = false;
    }
    const freeze = { name: "is frozen", begin: freezeServer, end: goOn };
    const kill = { name: "is killed", begin: () => server.kill(), end: startAgain };

    async function hasTables(): Promise<boolean> {
      const [row] = await server.query("select to_regclass($1) as found", [`${schema()}.member`]);
      return typeof row?.found === "string";
    }

    beforeAll(async () => {
      // Nothing but the queue reads the rows.
      shared ??= postgres.createPostgres({ settings: { autovacuum: "off" } });
      server = await shared;
    });

    runSuite(suite, {
      kind: "postgres",
      server: () => server,
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
      passTime: (ms) => server.query(ageRows(`${schema()}.`, ms)),
      passLeases: () => server.query(ageMembers(`${schema()}.`)),
      createStorage() {
        const place = { name, connection: server.url, schema: schema(), logger: silent };
        return new ServerStorage(resolvePostgresOptions(place));
      },
      async listKept(longestMs) {
        if (!server.isUp() || !(await hasTables())) return [];
        const rows = await server.query(listRows(`${schema()}.`, longestMs));
        return rows.map(({ kind }) => String(kind));
      },
      format: {
        codes: "POSTGRES",
        set: ({ schema: number, events }) =>
          server.query(`update ${schema()}.version set version = $1, events = $2`, [
            number,
            events,
          ]),
        forget: () => server.query(`alter table ${schema()}.version drop column events`),
        async migrate() {
          const client = new Client({ connectionString: server.url });
          await client.connect();
          const settings = { name, schema: schema(), create: true } as PostgresSettings;
          const step = (quoted: string) =>
            `alter table ${quoted}.event add column note text default 'new'`;
          await prepareSchema(client, settings, [], { 2: step });
          await client.end();
          const [row] = await server.query(`select note from ${schema()}.event`);
          return row?.note;
        },
        dump: async () => Buffer.from(postgres.dumpSchema(server, schema())),
        restore: (dump) => server.query(dump.toString().replaceAll("push_fixture", schema())),
      },
      async change(assignment, index) {
        const event = `${schema()}.event`;
        const id = `(select id from ${event} order by id limit 1 offset ${index})`;
        await server.query(`update ${event} set ${assignment} where id = ${id}`);
      },
    });
  });
}
