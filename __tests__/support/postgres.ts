/** A PostgreSQL of its own that tests and benches kill, freeze and start again. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { needs } from "./needs";
import { makeOncePerRun } from "./once-per-run";
import { has } from "./platform";
import { findFreePort } from "./ports";
import { until } from "./waiting";

/** The folder of initdb and postgres: chosen, else where Debian installs them, else on the PATH. */
const binaries = findBinaries();

export const { describe: describeWithPostgres } = needs(
  binaries !== undefined,
  "initdb and postgres on the PATH, or PUSH_TEST_POSTGRES_BIN (Debian: apt-get install postgresql)",
);

function findBinaries(): string | undefined {
  if (!has("signals")) return undefined;
  const { PUSH_TEST_POSTGRES_BIN: chosen = "", PATH = "" } = process.env;
  if (chosen !== "") return chosen;
  const debian = "/usr/lib/postgresql";
  const versions = fs.existsSync(debian) ? fs.readdirSync(debian) : [];
  const folders = versions.map((version) => join(debian, version, "bin"));
  const all = [...folders, ...PATH.split(delimiter)];
  return all.find((folder) => fs.existsSync(join(folder, "initdb")));
}

/** Returns the user of the servers. For root it is another one: PostgreSQL does not run as root. */
export function findServerUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = fs.readFileSync("/etc/passwd", "utf8");
  // Debian's package creates the first; without it, PUSH_TEST_POSTGRES_BIN names the binaries.
  const [own, other] = [/^postgres:[^:]*:(\d+):(\d+)/m, /^nobody:[^:]*:(\d+):(\d+)/m];
  const [, uid, gid] = own.exec(users) ?? other.exec(users) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Returns the files of a new cluster, for servers to start with a copy of them. */
async function makeCluster(): Promise<string> {
  const user = findServerUser();
  const made = await makeOncePerRun("cluster", (folder) => {
    if (user.uid !== undefined) fs.chownSync(folder, user.uid, user.gid ?? user.uid);
    // The user of the server reaches it by its full path, and initdb makes it private.
    const data = join(folder, "data");
    const init = ["-D", data, "-U", "push", "--auth=trust", "--no-sync", "-E", "UTF8"];
    execFileSync(join(binaries ?? "", "initdb"), init, { ...user, stdio: "ignore" });
  });
  return join(made, "data");
}

export interface ServerOptions {
  /** Lines of postgresql.conf. */
  settings?: Record<string, string>;
  /** The folder for its files; by default that of temporary files. */
  disk?: string;
  env?: Record<string, string>;
}

export type PostgresProcess = Awaited<ReturnType<typeof createPostgres>>;

/** Returns the SQL that creates a schema and its rows again, under the name `push_fixture`. */
export function dumpSchema({ url }: PostgresProcess, schema: string): string {
  const args = [`--schema=${schema}`, "--inserts", "--no-owner", url];
  const text = execFileSync(join(binaries ?? "", "pg_dump"), args, { encoding: "utf8" });
  // Comments, commands of psql, and settings that other versions do not have.
  const lines = text
    .split("\n")
    .filter((line) => !/^(--|\\|SET |SELECT pg_catalog\.set_config|$)/.test(line));
  return lines.join("\n").replaceAll(schema, "push_fixture");
}

/** Creates a database cluster; `start` starts its server. */
export async function createPostgres(options: ServerOptions = {}) {
  const folder = fs.mkdtempSync(join(options.disk ?? tmpdir(), "push-postgres-"));
  const user = findServerUser();
  if (user.uid !== undefined) fs.chownSync(folder, user.uid, user.gid ?? user.uid);
  fs.chmodSync(folder, 0o755);
  const data = join(folder, "data");
  const cluster = await makeCluster();
  execFileSync("cp", ["-r", cluster, data], user);
  const port = await findFreePort();
  const settings = { listen_addresses: "127.0.0.1", port: String(port), ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const run = { ...user, env: { ...process.env, ...options.env }, stdio: "ignore" } as const;
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
  const canQuery = () => query("select 1").then(Boolean, () => false);

  const one = {
    url,
    folder,
    port,
    child: undefined as ChildProcess | undefined,
    query,
    isUp: (): boolean => one.child?.exitCode === null && one.child.signalCode === null,
    async start(): Promise<void> {
      const args = ["-D", data, "-k", folder, ...flags];
      const open = () => void (one.child = spawn(join(binaries ?? "", "postgres"), args, run));
      open();
      await until(async () => {
        if (await canQuery()) return true;
        if (one.isUp()) return false;
        // The processes of a killed server end a little later, and keep its memory until then.
        await sleep(100);
        open();
        return false;
      });
    },
    async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
      if (!one.isUp()) return;
      const exited = once(one.child!, "exit");
      if (signal === "SIGKILL") one.signalAll(signal);
      else one.child?.kill(signal);
      await exited;
    },
    /** Signals all its processes, as a crash or a freeze of the machine would. */
    signalAll(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
      // Else it would notice the end of the others, each of which is a session of its own.
      one.child?.kill("SIGSTOP");
      spawnSync("pkill", [signal.replace("SIG", "-"), "-P", String(one.child?.pid)]);
      one.child?.kill(signal);
    },
    /** Changes a setting, and waits until new connections have it. */
    async set(name: string, value: string): Promise<void> {
      await query(`alter system set ${name} = '${value}'`);
      await query("select pg_reload_conf()");
      await until(async () => (await query(`show ${name}`))[0]?.[name] === value);
    },
    async remove(): Promise<void> {
      await one.kill();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
  return one;
}

export function giveToServer({ folder }: PostgresProcess, ...files: string[]): void {
  const { uid, gid } = fs.statSync(folder);
  for (const file of files) fs.chownSync(file, uid, gid);
}

export async function startPostgres(options?: ServerOptions): Promise<PostgresProcess> {
  const created = await createPostgres(options);
  await created.start();
  return created;
}
