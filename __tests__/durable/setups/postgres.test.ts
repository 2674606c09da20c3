/** Postgres as people run it; `npm run setups` prints the table. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { postgresQueue, type PostgresQueueOptions } from "express-push-verification/durable";
import { createCertificate } from "../../support/certificate";
import { closeLater, closeOpened, patient, storeFactor } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { needs } from "../../support/needs";
import * as postgres from "../../support/postgres";
import { describeSetups, type Rejection, type Setup } from "./setup";

type Options = Partial<PostgresQueueOptions>;

const PGBOUNCER = "/usr/sbin/pgbouncer";
const PGPOOL = "/usr/sbin/pgpool";
let server: postgres.PostgresProcess;
let queues = 0;
let pooler: ChildProcess | undefined;

const open = (options: Options = {}) => {
  // The servers of some set-ups are the same.
  const settings = { name: `setup${++queues}`, backoff: 20, ...patient, ...options };
  return () => postgresQueue({ connection: server.url, ...settings });
};

const as = (role: string, schema: string) => () => ({
  schema,
  connection: server.url.replace("push@", `${role}@`),
});
const asLeast = as("least", "least");

const withSql = (
  title: string,
  sql: string,
  options: () => Options,
  rejects?: Rejection,
  undo?: string,
): Setup => [
  title,
  async () => {
    await server.query(sql);
    return open(options());
  },
  rejects,
  async () => undo !== undefined && server.query(undo),
];

const withProvider = (name: string, rejects?: Rejection): Setup => [
  `${name} = off, "provider"`,
  async () => {
    await server.set(name, "off");
    return open({ durability: "provider" });
  },
  rejects,
  () => server.set(name, "on"),
];

/** The rights that the docs list. */
const RIGHTS = [
  "usage on schema least",
  "select on least.version",
  ...["select", "insert", "update"].map((right) => `${right} on least.queue`),
  ...["select", "insert", "delete"].map((right) => `${right} on least.entry`),
  ...["delivery", "event", "outcome", "member", "minute"].flatMap((table) =>
    ["select", "insert", "update", "delete"].map((right) => `${right} on least.${table}`),
  ),
  "usage on sequence least.event_id_seq",
  "usage on sequence least.entry_id_seq",
];

const withTls = (title: string, parameters: string, rejects?: Rejection): Setup => [
  `TLS: ${title}`,
  async () => {
    const { key, cert } = createCertificate(server.folder);
    postgres.giveToServer(server, key, cert);
    await server.set("ssl_key_file", key);
    await server.set("ssl_cert_file", cert);
    await server.set("ssl", "on");
    return open({ connection: `${server.url}?${parameters.replace("$CERT", cert)}` });
  },
  rejects,
  () => server.set("ssl", "off"),
];

/** A pooler before the server, with these settings in a file; none where it is not installed. */
function behind(
  title: string,
  [command = "", ...args]: string[],
  settings: string,
  rejects?: Rejection,
  parameters = "",
): Setup[] {
  async function start() {
    const [port, pcp] = [await findFreePort(), await findFreePort()];
    const { folder, port: own } = server;
    const [file, users] = [join(folder, "pooler.ini"), join(folder, "users.txt")];
    const values = new Map(Object.entries({ port, folder, server: own, pcp }));
    const text = settings.replaceAll(/\$(\w+)/g, (_, name: string) => String(values.get(name)));
    writeFileSync(users, '"push" ""\n');
    writeFileSync(file, text);
    execFileSync("chmod", ["a+rX", file, users]);
    const user = postgres.findServerUser();
    pooler = spawn(command, [...args, file], { ...user, stdio: "ignore" });
    const connection = server.url.replace(String(own), String(port)) + parameters;
    const create = open({ schema: basename(command), connection });
    // An older pgbouncer keeps the named statements of the first process.
    if (rejects !== undefined) await closeLater(create()).ready().catch(closeOpened);
    return create;
  }
  async function end() {
    // Ends both without waiting for their clients.
    if (pooler?.kill("SIGQUIT") === true) await once(pooler, "exit");
  }
  return existsSync(command) ? [[title, start, rejects, end]] : [];
}

const behindPgbouncer = (mode: string, size: number, rejects?: Rejection) => {
  const title = `pgbouncer: ${mode} mode, ${size} connections`;
  return behind(title, [PGBOUNCER], pgbouncer(mode, size), rejects);
};

const pgbouncer = (mode: string, size: number) => `[databases]
    * = host=127.0.0.1 port=$server
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = $port
    unix_socket_dir =
    auth_type = trust
    auth_file = $folder/users.txt
    pool_mode = ${mode}
    default_pool_size = ${size}`;

const behindPgpool = (mode: string, rejects?: Rejection) => {
  const folders = ["unix_socket_directories", "pcp_socket_dir", "logdir", "memqcache_oiddir"];
  const settings = `backend_clustering_mode = ${mode}
    listen_addresses = '127.0.0.1'
    port = $port
    backend_hostname0 = '127.0.0.1'
    backend_port0 = $server
    sr_check_user = push
    ${[...folders, "work_dir"].map((name) => `${name} = '$folder'`).join("\n")}
    pcp_port = $pcp
    pid_file_name = '$folder/pgpool.pid'`;
  const command = [PGPOOL, "-n", "-a", "/dev/null", "-f"];
  return behind(`pgpool-II: ${mode} mode`, command, settings, rejects);
};

async function openWithWrongPassword() {
  const file = join(server.folder, "data", "pg_hba.conf");
  const line = "host all locked 127.0.0.1/32 scram-sha-256";
  writeFileSync(file, `${line}\n${readFileSync(file, "utf8")}`);
  await server.query("create role locked login password 'pw'; select pg_reload_conf()");
  return open(as("locked:hush", "push")());
}

function openSocket() {
  const { folder: host, port } = server;
  return open({ connection: { host, port, user: "push", database: "postgres" } });
}

const ADDRESSES: Setup[] = [
  "postgresql://push@127.0.0.1:$port/postgres",
  "POSTGRES://push@127.0.0.1:$port/postgres",
  "postgres://push@%socket:$port/postgres",
  "postgres:///postgres?host=$folder&port=$port&user=push",
  "postgres://push:p%23%2F%3F%40%25@127.0.0.1:$port/postgres?sslmode=disable&channel_binding=prefer&pgbouncer=true",
].map((template) => [
  template,
  () => {
    const { folder, port } = server;
    const named = template.replace("%socket", encodeURIComponent(folder));
    return open({ connection: named.replace("$folder", folder).replace("$port", String(port)) });
  },
]);

const REJECTED = (words: RegExp): Rejection => ["POSTGRES_REJECTED", words];
const POOLED: Rejection = ["POSTGRES_POOLED", /Pass the address of Postgres/];
/** Changes of the schema of a queue, which is "$". */
const CHANGES = [
  ["of a newer version", "update $.version set version = 99", "99", "POSTGRES_NEWER"],
  ["without a column", "alter table $.event drop column errors", "errors"],
  ["with a key of text", "alter table $.delivery alter key type text", "uuid"],
  ["without a primary key", "alter table $.outcome drop constraint outcome_pkey", "ON CONFLICT"],
];

/** A schema that the processes of an app create at the same time. */
async function openTogether() {
  await server.query(`create role strict login; grant create on database postgres to strict;
    alter role strict set default_transaction_isolation = 'serializable';
    alter role strict set statement_timeout = '20ms'`);
  const start = open({ ...as("strict", "strict")(), name: "together" });
  const first = Array.from({ length: 4 }, () => closeLater(start()));
  await Promise.all(first.map((queue) => queue.ready()));
  await closeOpened();
  await server.query("alter role strict reset statement_timeout");
  return start;
}

/** A server that speaks German, where its translations are installed; a role that lacks a privilege. */
const inGerman = (title: string, sql: string, grant: RegExp): Setup => {
  let german: postgres.PostgresProcess | undefined;
  return [
    `messages in German: ${title}`,
    async () => {
      const settings = { lc_messages: "C.UTF-8" };
      german = await postgres.startPostgres({ settings, env: { LANGUAGE: "de" } });
      await german.query(`create role app login; ${sql}`);
      return open({ connection: german.url.replace("push@", "app@") });
    },
    REJECTED(grant),
    () => german?.remove(),
  ];
};

/** A copy that was replicated: it has the rows, and not where the sequences are. */
async function openReplica() {
  const former = open({ schema: "replica" })();
  await former.ready();
  await storeFactor(former, "a");
  await former.close();
  await server.query(`alter sequence replica.queue_id_seq restart;
    alter sequence replica.event_id_seq restart`);
  return open({ schema: "replica" });
}

const SETUPS: Setup[] = [
  ["sequences behind the rows, and another queue", openReplica],
  ["the defaults of Postgres", () => open()],
  inGerman("no schema", "", /grant create on database "postgres" to "app"/),
  inGerman("no tables", "create schema push", /grant usage, create on schema push to "app"/),
  ["serializable, a statement_timeout of 20 ms, 4 processes at first", openTogether],
  ["a Unix socket", openSocket],
  ...ADDRESSES,
  // advice.test.ts has the default durability, and other problems that an advice solves.
  withProvider("fsync"),
  withProvider("full_page_writes"),
  withProvider("synchronous_commit", [
    "POSTGRES_NOT_DURABLE",
    /alter system set synchronous_commit = on/,
  ]),
  ["a wrong password", openWithWrongPassword, REJECTED(/^(?!.*hush).*rejects the password/)],
  ["no password", () => open(as("locked", "push")()), REJECTED(/Check password/)],
  withSql("a role that does not exist", "", as("missing", "push"), REJECTED(/rejects the role/)),
  withSql(
    "a role with CREATE on the database",
    "create role first login; grant create on database postgres to first",
    as("first", "owned"),
  ),
  withSql(
    "its member, without CREATE",
    "revoke create on database postgres from first; create role app login in role first",
    as("app", "owned"),
  ),
  withSql("least rights", "", asLeast),
  ...RIGHTS.map((right) =>
    withSql(
      `least rights, without ${right}`,
      `revoke ${right} from least`,
      asLeast,
      REJECTED(new RegExp(`denied for \\w+ ${/\w+$/.exec(right)?.[0]}.*grant `)),
      `grant ${right} to least`,
    ),
  ),
  withSql(
    "least rights, a sequence behind the rows",
    `insert into least.event (queue, run_at, uuid_hash, body) values (99, 0, gen_random_uuid(), '');
     alter sequence least.event_id_seq restart`,
    asLeast,
    REJECTED(/denied for sequence event_id_seq.*usage, update on all sequences/),
    "delete from least.event where queue = 99",
  ),
  ...[
    ["event", "create table $.event (id int)"],
    ["version", "create table $.version (id int)"],
    ["version, queue", "create table $.version (version text); create table $.queue (id int)"],
  ].map(([tables = "", sql = ""], index) => {
    const schema = `app${index}`;
    const all = `create schema ${schema}; ${sql.replaceAll("$", schema)}`;
    const rejects: Rejection = ["POSTGRES_FOREIGN", new RegExp(`has ${tables}, but not`)];
    return withSql(`a schema with the app's ${tables}`, all, () => ({ schema }), rejects);
  }),
  ...CHANGES.map(([title = "", sql = "", words = "", code = "POSTGRES_FOREIGN"], index) => {
    const schema = `own${index}`;
    const rejects: Rejection = [code, new RegExp(words)];
    const changed = sql.replaceAll("$", schema);
    return withSql(`its own schema ${title}`, changed, () => ({ schema }), rejects);
  }),
  withTls("a certificate of its own", "sslmode=verify-full", REJECTED(/ssl: \{ ca \}/)),
  withTls("its certificate with sslrootcert", "sslmode=verify-full&sslrootcert=$CERT"),
  ...behindPgbouncer("transaction", 5, POOLED),
  ...behindPgbouncer("transaction", 1, POOLED),
  ...behindPgbouncer("statement", 5, POOLED),
  ...behindPgbouncer("session", 20),
  ...behind(
    "pgbouncer: a parameter that it does not know",
    [PGBOUNCER],
    pgbouncer("session", 20),
    REJECTED(/leave options out of connection/),
    "?options=-c%20lock_timeout%3D1s",
  ),
  ...behindPgpool("streaming_replication"),
  ...behindPgpool("raw", POOLED),
];

postgres.describeWithPostgres("", () => {
  beforeAll(async () => {
    server = await postgres.startPostgres();
    for (const schema of ["least", ...CHANGES.keys()].map(String)) {
      const queue = open({ schema: schema.replace(/^\d/, "own$&") })();
      await queue.ready();
      await queue.close();
    }
    const grants = `create role least login; grant ${RIGHTS.join(" to least; grant ")} to least`;
    await server.query(grants);
  });
  afterAll(() => server.remove());

  describeSetups("Postgres", SETUPS);
  for (const file of [PGBOUNCER, PGPOOL]) {
    if (!existsSync(file))
      needs(false, `${file} (Debian: apt-get install pgbouncer pgpool2)`).it("");
  }
});
