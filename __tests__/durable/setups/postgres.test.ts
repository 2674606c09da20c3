/** Postgres as people run it; `npm run setups` prints the table. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { postgresQueue, type PostgresQueueOptions } from "express-push-verification/durable";
import { createCertificate } from "../../support/certificate";
import { silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { describeWithPostgres, findServerUser } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
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

/** A setting that is off, or on, for the time of the set-up. */
const withSetting = (
  [name, value, note = ""]: [name: string, value: "on" | "off", note?: string],
  rejects?: Rejection,
  options?: Options,
): Setup => [
  `${name} = ${value}${note}`,
  async () => {
    await server.set(name, value);
    return open(options);
  },
  rejects,
  () => server.set(name, value === "on" ? "off" : "on"),
];

/** Opens a queue in a schema of another role, with the rights that the docs list. */
const openAsLeast = () => openAs("least", "least");

/** A role that may do what the docs list, except one right. */
const withoutRight = (right: string): Setup => [
  `least rights, without ${right}`,
  async () => {
    await server.query(`revoke ${right} from least`);
    return openAsLeast();
  },
  REJECTED(new RegExp(`denied for \\w+ ${/\w+$/.exec(right)?.[0]}.*grant `)),
  () => server.query(`grant ${right} to least`),
];

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
const withTls = (title: string, parameters: string, rejects?: Rejection): Setup => [
  `TLS: ${title}`,
  async () => {
    const { key, cert } = createCertificate(server.folder);
    execFileSync("chown", [`--reference=${server.folder}`, key, cert]);
    await server.set("ssl_key_file", key);
    await server.set("ssl_cert_file", cert);
    await server.set("ssl", "on");
    return open({ connection: `${server.url}?${parameters.replace("$CERT", cert)}` });
  },
  rejects,
  () => server.set("ssl", "off"),
];

/** A pooler before the server, which reads its settings from a file and which a signal ends at once. */
const behind = (
  title: string,
  [command = "", ...args]: string[],
  end: NodeJS.Signals,
  listSettings: (port: number) => Record<string, string | number>,
  rejects?: Rejection,
): Setup => [
  title,
  async () => {
    const port = await findFreePort();
    const [file, users] = ["pooler.ini", "users.txt"].map((name) => join(server.folder, name));
    writeFileSync(users!, '"push" ""\n');
    const lines = Object.entries(listSettings(port)).map(([name, value]) => `${name} = ${value}\n`);
    writeFileSync(file!, lines.join(""));
    execFileSync("chmod", ["a+rX", file!, users!]);
    pooler = spawn(command, [...args, file!], { ...findServerUser(), stdio: "ignore" });
    const connection = server.url.replace(String(server.port), String(port));
    return open({ schema: basename(command), connection });
  },
  rejects,
  async () => {
    if (pooler?.kill(end) === true) await once(pooler, "exit");
  },
];

const behindPgbouncer = (mode: string, size: number, rejects?: Rejection): Setup =>
  behind(
    `pgbouncer: ${mode} mode, ${size} connections`,
    [PGBOUNCER],
    "SIGTERM",
    (port) => ({
      "[databases]\n*": `host=127.0.0.1 port=${server.port}`,
      "[pgbouncer]\nlisten_addr": "127.0.0.1",
      listen_port: port,
      unix_socket_dir: "",
      auth_type: "trust",
      auth_file: `${server.folder}/users.txt`,
      pool_mode: mode,
      default_pool_size: size,
    }),
    rejects,
  );

const behindPgpool = (mode: string, rejects?: Rejection): Setup =>
  behind(
    `pgpool-II: ${mode} mode`,
    [PGPOOL, "-n", "-a", "/dev/null", "-f"],
    "SIGINT",
    (port) => ({
      backend_clustering_mode: mode,
      listen_addresses: "'127.0.0.1'",
      port,
      backend_hostname0: "'127.0.0.1'",
      backend_port0: server.port,
      sr_check_user: "push",
      unix_socket_directories: `'${server.folder}'`,
      pcp_socket_dir: `'${server.folder}'`,
      logdir: `'${server.folder}'`,
      memqcache_oiddir: `'${server.folder}'`,
      work_dir: `'${server.folder}'`,
      pid_file_name: `'${server.folder}/pgpool.pid'`,
      pcp_port: server.port + 1,
    }),
    rejects,
  );

async function openWithWrongPassword() {
  await server.query("create role locked login password 'pw'");
  const file = join(server.folder, "data", "pg_hba.conf");
  const line = "host all locked 127.0.0.1/32 scram-sha-256";
  writeFileSync(file, `${line}\n${readFileSync(file, "utf8")}`);
  await server.query("select pg_reload_conf()");
  return openAs("locked:hush", "push");
}

const REJECTED = (words: RegExp): Rejection => ["POSTGRES_REJECTED", words];
const POOLED: Rejection = ["POSTGRES_POOLED", /Pass the address of Postgres/];
const NOT_DURABLE = (name: string): Rejection => [
  "POSTGRES_NOT_DURABLE",
  new RegExp(`${name} = on`),
];

const SETUPS: Setup[] = [
  ["the defaults of Postgres", () => open()],
  [
    "a Unix socket",
    () => {
      const { folder: host, port } = server;
      return open({ connection: { host, port, user: "push", database: "postgres" } });
    },
  ],
  ...["fsync", "full_page_writes", "synchronous_commit"].flatMap((name) => {
    const rejects = NOT_DURABLE(name);
    const provider = { durability: "provider" } as const;
    const byProvider = name === "synchronous_commit" ? rejects : undefined;
    return [
      withSetting([name, "off"], rejects),
      withSetting([name, "off", ', "provider"'], byProvider, provider),
    ];
  }),
  withSetting(
    ["default_transaction_read_only", "on"],
    REJECTED(/default_transaction_read_only = off/),
  ),
  ["a wrong password", openWithWrongPassword, REJECTED(/^(?!.*hush).*rejects the password/)],
  [
    "a database that does not exist",
    () => open({ connection: server.url.replace("/postgres", "/missing") }),
    REJECTED(/no such database/),
  ],
  ["a role that does not exist", () => openAs("missing", "push"), REJECTED(/rejects the role/)],
  [
    "a role with CREATE on the database",
    async () => {
      await server.query("create role first login; grant create on database postgres to first");
      return openAs("first", "owned");
    },
  ],
  [
    "its member, without CREATE",
    async () => {
      await server.query("revoke create on database postgres from first");
      await server.query("create role app login in role first");
      return openAs("app", "owned");
    },
  ],
  ["no schema, without CREATE", () => openAs("app", "denied"), REJECTED(/denied/)],
  ["least rights", openAsLeast],
  ...RIGHTS.map(withoutRight),
  [
    "least rights, row-level security",
    async () => {
      await server.query("alter table least.member enable row level security");
      return openAsLeast();
    },
    REJECTED(/row-level security/),
    () => server.query("alter table least.member disable row level security"),
  ],
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
  ].map(([title = "", sql = "", words = ""], index): Setup => [
    `a schema with ${title}`,
    async () => {
      const schema = `app${index}`;
      await server.query(`create schema ${schema}; ${sql.replaceAll("$", schema)}`);
      return open({ schema });
    },
    ["POSTGRES_FOREIGN", new RegExp(words)],
  ]),
  ...[
    ["of a newer version", "update $.version set version = 99", "99", "POSTGRES_NEWER"],
    ["without a column", "alter table $.event drop column errors", "errors"],
    ["with a key of text", "alter table $.delivery alter key type text", "uuid"],
    ["without a primary key", "alter table $.outcome drop constraint outcome_pkey", "ON CONFLICT"],
  ].map(([title = "", sql = "", words = "", code = "POSTGRES_FOREIGN"], index): Setup => [
    `its own schema ${title}`,
    async () => {
      await create(`own${index}`, sql);
      return open({ schema: `own${index}` });
    },
    [code, new RegExp(words)],
  ]),
  [
    "TLS: sslmode=verify-full to a server without it",
    () => open({ connection: `${server.url}?sslmode=verify-full` }),
    REJECTED(/does not support SSL/),
  ],
  withTls("a certificate of its own", "sslmode=verify-full", REJECTED(/ssl: \{ ca \}/)),
  withTls("its certificate with sslrootcert", "sslmode=verify-full&sslrootcert=$CERT"),
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
    await create(
      "least",
      `create role least login; grant ${RIGHTS.join(" to least; grant ")} to least`,
    );
  });
  afterAll(() => server.remove());

  describeSetups("Postgres", SETUPS);
});
