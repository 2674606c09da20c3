/** Postgres as people run it; `npm run setups` prints the table. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgresQueue, type PostgresQueueOptions } from "express-push-verification/durable";
import { silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { describeWithPostgres, findServerUser } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/waiting";
import { describeSetups, type Rejection, type Setup } from "./describe-setups";

type Options = Partial<PostgresQueueOptions>;

const PGBOUNCER = "/usr/sbin/pgbouncer";
const PGPOOL = "/usr/sbin/pgpool";
let server: PostgresProcess;
let queues = 0;
let pooler: ChildProcess | undefined;

const open = (options: Options = {}) => {
  // The servers of some set-ups are the same.
  const settings = { name: `setup${++queues}`, backoff: 20, logger: silent, ...options };
  return () => postgresQueue({ connection: server.url, ...settings });
};
const openAs = (role: string, schema: string) =>
  open({ schema, connection: server.url.replace("push@", `${role}@`) });

/** Lets a queue create a schema, which statements then change. */
async function create(schema: string, sql = "select 1") {
  const queue = open({ schema })();
  await queue.ready();
  await queue.close();
  await server.query(sql.replaceAll("$", schema));
}

/** Changes a setting of the server, and waits until new connections have it. */
async function change(name: string, value: string): Promise<void> {
  await server.query(`alter system set ${name} = '${value}'`);
  await server.query("select pg_reload_conf()");
  await until(async () => (await server.query(`show ${name}`))[0]?.[name] === value);
}

/** A setting that is off, or on, for the time of the set-up. */
const withSetting = (name: string, value: "on" | "off", options?: Options) => ({
  async start() {
    await change(name, value);
    return open(options);
  },
  end: () => change(name, value === "on" ? "off" : "on"),
});

/** A role that may do what the docs list, except one right. */
const withoutRight = (right: string): Setup => ({
  title: `least rights, without ${right}`,
  start: async () => {
    await openAsLeast();
    await server.query(`revoke ${right} from least`);
    return openAs("least", "least");
  },
  end: () => server.query(`grant ${right} to least`),
  rejects: REJECTED(new RegExp(`denied for \\w+ ${/\w+$/.exec(right)?.[0]}.*grant `)),
});

/** Opens a queue in a schema of another role, with the rights that the docs list. */
async function openAsLeast() {
  if (!(await hasRole("least"))) {
    await create("least", "create role least login");
    await server.query(`grant ${RIGHTS.join(" to least; grant ")} to least`);
  }
  return openAs("least", "least");
}
const hasRole = async (name: string) =>
  (await server.query("select 1 from pg_roles where rolname = $1", [name])).length > 0;

const RIGHTS = [
  "usage on schema least",
  "select on least.version",
  ...["select", "insert", "update"].map((right) => `${right} on least.queue`),
  ...["delivery", "event", "outcome", "member"].flatMap((table) =>
    ["select", "insert", "update", "delete"].map((right) => `${right} on least.${table}`),
  ),
  "usage on sequence least.event_id_seq",
];

/** A server with a certificate of its own, and a URL with these parameters. */
const withTls = (parameters: string) => ({
  async start() {
    const [key = "", cert = ""] = ["key", "cert"].map((name) => join(server.folder, `${name}.pem`));
    const subject = ["-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-keyout", key, "-out", cert, "-days", "1"];
    execFileSync("openssl", ["req", "-x509", "-nodes", ...files, ...subject], { stdio: "ignore" });
    execFileSync("chown", [`--reference=${server.folder}`, key, cert]);
    for (const name of ["key", "cert"]) {
      await change(`ssl_${name}_file`, join(server.folder, `${name}.pem`));
    }
    await change("ssl", "on");
    return open({ connection: `${server.url}?${parameters.replace("$CERT", cert)}` });
  },
  end: () => change("ssl", "off"),
});

/** Starts a pooler, which reads its configuration from a file, before the server. */
async function startPooler(command: string, args: string[], text: string, name: string) {
  const port = await findFreePort();
  const file = join(server.folder, name);
  writeFileSync(join(server.folder, "users.txt"), '"push" ""\n');
  writeFileSync(file, text.replaceAll("PORT", String(port)));
  execFileSync("chmod", ["a+rX", file, join(server.folder, "users.txt")]);
  pooler = spawn(command, [...args, file], { ...findServerUser(), stdio: "ignore" });
  return open({
    schema: name.replace(/\W.*/, ""),
    connection: server.url.replace(String(server.port), String(port)),
  });
}
/** Ends a pooler and its processes at once, by the signal that it has for that. */
async function stopPooler(signal: NodeJS.Signals): Promise<void> {
  if (pooler?.kill(signal) === true) await once(pooler, "exit");
}

const behindPgbouncer = (mode: string, size: number, rejects?: Rejection): Setup => ({
  title: `pgbouncer: ${mode} mode, ${size} connections`,
  start: () =>
    startPooler(
      PGBOUNCER,
      [],
      `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = PORT\nunix_socket_dir =\nauth_type = trust\nauth_file = ${server.folder}/users.txt\npool_mode = ${mode}\ndefault_pool_size = ${size}\n`,
      "pgbouncer.ini",
    ),
  end: () => stopPooler("SIGTERM"),
  ...(rejects !== undefined && { rejects }),
});

const behindPgpool = (mode: string, rejects?: Rejection): Setup => ({
  title: `pgpool-II: ${mode} mode`,
  start() {
    const folder = server.folder;
    const lines = {
      backend_clustering_mode: mode,
      listen_addresses: "127.0.0.1",
      port: "PORT",
      backend_hostname0: "127.0.0.1",
      backend_port0: String(server.port),
      sr_check_user: "push",
      ...Object.fromEntries(
        ["unix_socket_directories", "pcp_socket_dir", "logdir", "memqcache_oiddir", "work_dir"].map(
          (name) => [name, folder],
        ),
      ),
      pid_file_name: `${folder}/pgpool.pid`,
      pcp_port: String(server.port + 1),
    };
    const text = Object.entries(lines).map(([name, value]) => `${name} = '${value}'\n`);
    return startPooler(PGPOOL, ["-n", "-a", "/dev/null", "-f"], text.join(""), "pgpool.conf");
  },
  end: () => stopPooler("SIGINT"),
  ...(rejects !== undefined && { rejects }),
});

const REJECTED = (words: RegExp): Rejection => ["POSTGRES_REJECTED", words];
const POOLED: Rejection = ["POSTGRES_POOLED", /Pass the address of Postgres/];
const FOREIGN = (words: RegExp): Rejection => ["POSTGRES_FOREIGN", words];

const SETUPS: Setup[] = [
  { title: "the defaults of Postgres", start: async () => open() },
  {
    title: "a Unix socket",
    start: async () =>
      open({
        connection: { host: server.folder, port: server.port, user: "push", database: "postgres" },
      }),
  },
  ...["fsync", "full_page_writes", "synchronous_commit"].flatMap((name): Setup[] => [
    {
      title: `${name} = off`,
      ...withSetting(name, "off"),
      rejects: ["POSTGRES_NOT_DURABLE", new RegExp(`${name} = on`)],
    },
    {
      title: `${name} = off, "provider"`,
      ...withSetting(name, "off", { durability: "provider" }),
      ...(name === "synchronous_commit" && {
        rejects: ["POSTGRES_NOT_DURABLE", new RegExp(`${name} = on`)],
      }),
    },
  ]),
  {
    title: "default_transaction_read_only = on",
    ...withSetting("default_transaction_read_only", "on"),
    rejects: REJECTED(/default_transaction_read_only = off/),
  },
  {
    title: "a wrong password",
    async start() {
      await server.query("create role locked login password 'pw'");
      const file = join(server.folder, "data", "pg_hba.conf");
      const line = "host all locked 127.0.0.1/32 scram-sha-256";
      writeFileSync(file, `${line}\n${readFileSync(file, "utf8")}`);
      await server.query("select pg_reload_conf()");
      return openAs("locked:hush", "push");
    },
    rejects: REJECTED(/^(?!.*hush).*rejects the password/),
  },
  {
    title: "a database that does not exist",
    start: async () => open({ connection: server.url.replace("/postgres", "/missing") }),
    rejects: REJECTED(/no such database/),
  },
  {
    title: "a role that does not exist",
    start: async () => openAs("stranger", "push"),
    rejects: REJECTED(/rejects the role/),
  },
  {
    title: "a role with CREATE on the database",
    async start() {
      await server.query("create role first login; grant create on database postgres to first");
      return openAs("first", "owned");
    },
  },
  {
    title: "its member, without CREATE",
    async start() {
      await server.query("revoke create on database postgres from first");
      await server.query("create role app login in role first");
      return openAs("app", "owned");
    },
  },
  {
    title: "no schema, without CREATE",
    start: async () => openAs("app", "denied"),
    rejects: REJECTED(/denied/),
  },
  { title: "least rights", start: () => openAsLeast() },
  ...RIGHTS.map(withoutRight),
  {
    title: "least rights, row-level security",
    async start() {
      await server.query("alter table least.member enable row level security");
      return openAs("least", "least");
    },
    end: () => server.query("alter table least.member disable row level security"),
    rejects: REJECTED(/row-level security/),
  },
  ...[
    ["the app's table event", "create table $.event (id int)", "has event"],
    ["the app's version(id)", "create table $.version (id int)", "has version"],
    [
      "the app's version 57",
      "create table $.version (version int); insert into $.version values (57)",
      "has version",
    ],
    [
      "the app's version of text and queue",
      "create table $.version (version text); insert into $.version values ('2024.1'); create table $.queue (id int)",
      "has version, queue",
    ],
  ].map(([title = "", sql = "", words = ""], index) => ({
    title: `a schema with ${title}`,
    async start() {
      const schema = `app${index}`;
      await server.query(`create schema ${schema}; ${sql.replaceAll("$", schema)}`);
      return open({ schema });
    },
    rejects: FOREIGN(new RegExp(words)),
  })),
  ...[
    ["of a newer version", "update $.version set version = 99", "POSTGRES_NEWER", "99"],
    ["without a column", "alter table $.event drop column errors", "POSTGRES_FOREIGN", "errors"],
    [
      "with a key of text",
      "alter table $.delivery alter key type text",
      "POSTGRES_FOREIGN",
      "uuid",
    ],
    [
      "without a primary key",
      "alter table $.outcome drop constraint outcome_pkey",
      "POSTGRES_FOREIGN",
      "ON CONFLICT",
    ],
  ].map(([title = "", sql = "", code = "", words = ""], index): Setup => ({
    title: `its own schema ${title}`,
    async start() {
      await create(`own${index}`, sql);
      return open({ schema: `own${index}` });
    },
    rejects: [code, new RegExp(words)],
  })),
  {
    title: "TLS: sslmode=verify-full to a server without it",
    start: async () => open({ connection: `${server.url}?sslmode=verify-full` }),
    rejects: REJECTED(/does not support SSL/),
  },
  {
    title: "TLS: a certificate of its own",
    ...withTls("sslmode=verify-full"),
    rejects: REJECTED(/ssl: \{ ca \}/),
  },
  {
    title: "TLS: its certificate with sslrootcert",
    ...withTls("sslmode=verify-full&sslrootcert=$CERT"),
  },
  ...(existsSync(PGBOUNCER)
    ? [
        behindPgbouncer("transaction", 5, POOLED),
        behindPgbouncer("transaction", 1, POOLED),
        behindPgbouncer("statement", 5, POOLED),
        behindPgbouncer("session", 20),
      ]
    : []),
  ...(existsSync(PGPOOL)
    ? [behindPgpool("streaming_replication"), behindPgpool("raw", POOLED)]
    : []),
];

describeWithPostgres("", () => {
  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(() => server.remove());

  describeSetups("Postgres", SETUPS);
});
