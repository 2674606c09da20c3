/** A PostgreSQL of its own that tests and benches kill, freeze and start again. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { findFreePort } from "./ports";
import { binaries, findServerUser, makeCluster } from "./postgres";
import { until } from "./waiting";

/** How a server is set up. */
export interface ServerOptions {
  /** Lines of postgresql.conf. */
  settings?: Record<string, string>;
  /** The folder for its files; by default that of temporary files. */
  disk?: string;
  /** Variables of its environment beside those of this process. */
  env?: Record<string, string>;
}

/** A PostgreSQL on a port of its own. */
export interface PostgresProcess {
  url: string;
  folder: string;
  port: number;
  /** Undefined before it was started. */
  child: ChildProcess | undefined;
  /** Starts it, and resolves when it accepts connections. */
  start(): Promise<void>;
  /** Ends it with all its processes; `SIGKILL` as a crash would. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Signals all its processes, as a crash or a freeze of the machine would. */
  signalAll(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Changes a setting, and waits until new connections have it. */
  set(name: string, value: string): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

const MAX_STARTS = 20;

/** Creates a database cluster; `start` starts its server. */
export async function createPostgres(options: ServerOptions = {}): Promise<PostgresProcess> {
  const folder = mkdtempSync(join(options.disk ?? tmpdir(), "push-postgres-"));
  const user = findServerUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
  chmodSync(folder, 0o755);
  const data = join(folder, "data");
  const cluster = await makeCluster();
  execFileSync("cp", ["-r", cluster, data], user);
  const port = await findFreePort();
  const settings = { listen_addresses: "127.0.0.1", port: String(port), ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const env = { ...process.env, ...options.env };
  const url = `postgres://push@127.0.0.1:${port}/postgres`;

  async function query(text: string, values: unknown[] = []) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  const one: PostgresProcess = {
    url,
    folder,
    port,
    child: undefined,
    query,
    async start() {
      const run = { ...user, env, stdio: "ignore" } as const;
      const args = ["-D", data, "-k", folder, ...flags];
      const open = () => (one.child = spawn(join(binaries ?? "", "postgres"), args, run));
      let child = open();
      for (let starts = 1; !(await canQuery(query)); await sleep(10)) {
        if (child.exitCode === null) continue;
        if (starts++ === MAX_STARTS) throw new Error("postgres ended");
        // The processes of a killed server end a little later, and keep its memory until then.
        await sleep(100);
        child = open();
      }
    },
    async kill(signal = "SIGKILL") {
      const { child } = one;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      if (signal === "SIGKILL") one.signalAll(signal);
      else child.kill(signal);
      await exited;
    },
    signalAll(signal) {
      for (const pid of listProcesses(one.child!.pid!)) signalProcess(pid, signal);
    },
    async set(name, value) {
      await query(`alter system set ${name} = '${value}'`);
      await query("select pg_reload_conf()");
      await until(async () => (await query(`show ${name}`))[0]?.[name] === value);
    },
    async remove() {
      await one.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return one;
}

/** Creates a database cluster and starts its server. */
export async function startPostgresProcess(options?: ServerOptions): Promise<PostgresProcess> {
  const created = await createPostgres(options);
  await created.start();
  return created;
}

/** The postmaster, then those that it started: each is a session of its own. */
function listProcesses(postmaster: number): number[] {
  const list = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" });
  const pairs = list
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  return [
    postmaster,
    ...pairs.flatMap(([pid = 0, parent]) => (parent === postmaster ? [pid] : [])),
  ];
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process ended after it was listed.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function canQuery(query: PostgresProcess["query"]): Promise<boolean> {
  return query("select 1").then(
    () => true,
    () => false,
  );
}
