/**
 * Each advice on a store with events and foreign data: afterwards the problem is gone, and nothing is
 * lost. sqlite/advice.test.ts has those on files.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { setTimeout as sleep } from "node:timers/promises";
import {
  postgresQueue,
  redisQueue,
  type PostgresQueueOptions,
} from "express-push-verification/durable";
import { createCertificate } from "../../support/certificate";
import { closeLater, closeOpened, patient } from "../../support/durable";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../../support/postgres";
import * as redis from "../../support/redis";
import { until } from "../../support/waiting";
import { EVENTS, expectAll, fill, hasTool, isReady, readAdvice, restore } from "./advice";

// A queue asks a store that rejected it again after 2 s.
jest.mock("node:timers/promises", () => {
  const actual = jest.requireActual<{ setTimeout: typeof sleep }>("node:timers/promises");
  const setTimeout: typeof sleep = (ms, ...rest) => actual.setTimeout(Math.min(ms!, 50), ...rest);
  return { ...actual, setTimeout };
});

const name = "advised";

afterEach(closeOpened);

redis.describeWithRedis("the advice of redisQueue", () => {
  const FOREIGN = 200;
  let folder: string;
  let conf: string;
  let server: redis.RedisServer;
  const open = (durability: "require" | "trust" = "require", url = server.url) =>
    closeLater(redisQueue({ name, connection: url, durability, ...patient }));

  async function start(lines: string): Promise<void> {
    folder = mkdtempSync(join(tmpdir(), "push-advice-"));
    conf = join(folder, "redis.conf");
    writeFileSync(conf, lines);
    server = await redis.startRedis({}, [conf]);
    const values = Array.from({ length: FOREIGN }, (_, index) => [`app:${index}`, "x"]);
    await server.redis.mset(...values.flat());
  }
  const countForeign = async () => (await server.redis.keys("app:*")).length;
  afterEach(async () => {
    await redis.stopRedis();
    rmSync(folder, { recursive: true, force: true });
  });

  it("REDIS_NOT_DURABLE makes Redis durable without a restart", async () => {
    // Redis then needs a second to write its data.
    await start(
      "appendonly no\nappendfsync everysec\nmaxmemory-policy allkeys-lru\nrdb-key-save-delay 4000",
    );
    await fill(open("trust"));
    const queue = open();
    const advice = await readAdvice(queue, "REDIS_NOT_DURABLE");
    const commands = advice.match(/^ {2}CONFIG .*$/gm) ?? [];
    expect(commands).toHaveLength(4);
    for (const command of commands) {
      await server.redis.call(...(command.trim().split(" ") as [string, string]));
    }
    await expectAll(queue);
    await server.stop("SIGKILL");
    await server.start();
    await expectAll(open(), EVENTS + 1);
    expect(await countForeign()).toBe(FOREIGN);
  });

  it("REDIS_REJECTED names the rights of a user", async () => {
    await start("appendonly yes\nappendfsync always");
    await fill(open());
    await server.redis.acl("SETUSER", "app", "on", ">pw", "+@all", "~app:*");
    const advice = await readAdvice(
      open("require", server.url.replace("//", "//app:pw@")),
      "REDIS_REJECTED",
    );
    const [, rights = ""] = /ACL (SETUSER .*)$/.exec(advice) ?? [];
    const words = rights.replace("<user>", "queue").replace("<password>", "hush").split(" ");
    await server.redis.acl(...(words as ["SETUSER", string]));
    await expectAll(open("require", server.url.replace("//", "//queue:hush@")));
    expect(await countForeign()).toBe(FOREIGN);
  });

  hasTool("redis-cli")("a backup is restored as docs/durable-redis.md says", async () => {
    await start("appendonly yes\nappendfsync always\nmaxmemory-policy noeviction");
    await fill(open());
    await server.redis.save();
    const [, dir = ""] = await server.redis.config("GET", "dir");
    const backup = join(folder, "backup.rdb");
    copyFileSync(join(dir, "dump.rdb"), backup);
    await server.redis.config("REWRITE");
    await server.redis.flushall();
    await server.stop("SIGKILL");
    restore("docs/durable-redis.md", dir, {
      BACKUP: backup,
      REDIS_CONF: conf,
      REDIS_URL: server.url,
    });
    await expectAll(open());
    expect(await countForeign()).toBe(FOREIGN);
    await closeOpened();
    execFileSync("redis-cli", ["-u", server.url, "SHUTDOWN"]);
    await server.start();
    expect(await open().stats()).toMatchObject({ waiting: EVENTS + 1 });
    expect(await countForeign()).toBe(FOREIGN);
  });
});

describeWithPostgres("the advice of postgresQueue", () => {
  let server: PostgresProcess;
  let count = 0;
  const as = (role: string) => server.url.replace("push@", `${role}@`);
  const schema = () => `advised${count}`;
  const open = (options: Partial<PostgresQueueOptions> = {}) =>
    closeLater(
      postgresQueue({ name, connection: server.url, schema: schema(), ...patient, ...options }),
    );
  const asApp = () => open({ connection: as(`app${count}`) });
  const run = (sql: string) => server.query(sql.replaceAll("$", String(count)));

  beforeAll(async () => {
    server = await startPostgres();
    await run("create table public.foreign_data as select generate_series(1, 200)");
  });
  beforeEach(async () => {
    count++;
    await fill(open());
    await run("create role app$ login in role push");
  });
  afterEach(async () => {
    expect(await run("select from public.foreign_data")).toHaveLength(200);
  });
  afterAll(() => server.remove());

  it.each<[code: string, problem: string, pattern: RegExp]>([
    ["POSTGRES_NOT_DURABLE", "alter system set fsync = off", /alter system set .*;/g],
    ["POSTGRES_NOT_DURABLE", "alter system set full_page_writes = off", /alter system set .*;/g],
    ["POSTGRES_NOT_DURABLE", "alter system set synchronous_commit = off", /alter system set .*;/g],
    ["POSTGRES_NOT_DURABLE", "alter role app$ set synchronous_commit = off", /alter .*;/g],
    ["POSTGRES_NOT_DURABLE", "alter database postgres set synchronous_commit = off", /alter .*;/g],
    [
      "POSTGRES_NOT_DURABLE",
      "alter role app$ in database postgres set synchronous_commit = off",
      /alter .*;/g,
    ],
    ["POSTGRES_REJECTED", "alter system set default_transaction_read_only = on", /alter .*;/g],
    ["POSTGRES_REJECTED", "alter role app$ set default_transaction_read_only = on", /alter .*;/g],
    ["POSTGRES_REJECTED", "alter role app$ nologin", /alter role … login/g],
  ])("%s after %s", async (code, problem, pattern) => {
    await run(problem);
    await run("select pg_reload_conf()");
    const queue = asApp();

    const advice = await readAdvice(queue, code);
    const statements = advice.match(pattern) ?? [];
    expect(statements).toHaveLength(1);
    for (const statement of statements) {
      // A superuser can do this while the database is read-only.
      for (const one of statement.replace("…", `app${count}`).split(/(?<=;) /)) {
        await run(
          `set default_transaction_read_only = off; ${one}`.replace(/^.*?; (?=alter system)/, ""),
        );
      }
    }
    await expectAll(queue);
  });

  it.each([
    ["a right on its tables", "revoke push from app$"],
    [
      "its sequence",
      "revoke push from app$; grant usage on schema advised$ to app$; grant all on all tables in schema advised$ to app$",
    ],
    ["a schema", "revoke push from app$", "other"],
    ["tables", "revoke push from app$; create schema other$", "other"],
  ])("POSTGRES_REJECTED without %s", async (_what, problem, other = "advised") => {
    await run(problem);
    const queue = open({ connection: as(`app${count}`), schema: `${other}${count}` });
    const advice = await readAdvice(queue, "POSTGRES_REJECTED");
    await run(/Run as the owner: (.*)/.exec(advice)?.[1] ?? "");
    await until(() => isReady(queue));
    await expectAll(open());
  });

  it("POSTGRES_REJECTED without its database", async () => {
    const connection = server.url.replace("/postgres", `/missing${count}`);
    const queue = open({ connection });
    expect(await readAdvice(queue, "POSTGRES_REJECTED")).toContain("or create it");
    await run("create database missing$");
    await expectAll(queue, 0);
  });

  it("POSTGRES_REJECTED with row-level security", async () => {
    await run(`revoke push from app$; grant usage on schema advised$ to app$;
      grant all on all tables in schema advised$ to app$;
      grant all on all sequences in schema advised$ to app$;
      alter table advised$.event enable row level security`);
    const queue = asApp();
    const [, statement = ""] =
      /or run: (.*)/.exec(await readAdvice(queue, "POSTGRES_REJECTED")) ?? [];
    await run(statement);
    await expectAll(queue);
  });

  it("POSTGRES_REJECTED without TLS", async () => {
    const queue = open({ connection: `${server.url}?sslmode=no-verify` });
    expect(await readAdvice(queue, "POSTGRES_REJECTED")).toContain("Turn ssl on");
    const { key, cert } = createCertificate(server.folder);
    execFileSync("chown", [`--reference=${server.folder}`, key, cert]);
    for (const [setting, value] of Object.entries({
      ssl_key_file: key,
      ssl_cert_file: cert,
      ssl: "on",
    })) {
      await server.set(setting, value);
    }
    await expectAll(queue);
    await expectAll(
      open({ connection: `${server.url}?sslmode=disable`, schema: schema() }),
      EVENTS + 1,
    );
  });

  hasTool("pg_dump")("a backup is restored as docs/durable-postgres.md says", async () => {
    const env = { DATABASE_URL: server.url, PATH: `${findTools()}${delimiter}${process.env.PATH}` };
    await run("drop schema if exists push cascade");
    await fill(open({ schema: "push" }));
    const dump = ["--schema=push", "--format=custom", "--file=push.dump", server.url];
    execFileSync("pg_dump", dump, { cwd: server.folder, env: { ...process.env, ...env } });
    await run("drop table push.event");
    await server.kill();
    await server.start();
    restore("docs/durable-postgres.md", server.folder, env);
    await expectAll(open({ schema: "push" }));
  });
});

/** The newest tools that Debian has installed. */
function findTools(): string {
  const debian = "/usr/lib/postgresql";
  const [newest = ""] = existsSync(debian) ? readdirSync(debian).toSorted().toReversed() : [];
  return join(debian, newest, "bin");
}
