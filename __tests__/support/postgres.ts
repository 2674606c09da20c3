import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { makeOncePerRun } from "./once-per-run";

/**
 * The folder of initdb and postgres: PUSH_TEST_POSTGRES_BIN, else where Debian installs them, else on
 * the PATH.
 */
export const binaries = findBinaries();

/** Tests that start a PostgreSQL of their own; one skipped test stands for them without binaries. */
export function describeWithPostgres(name: string, define: () => void): void {
  if (binaries !== undefined) describe(name, define);
  else it.skip(`${name}: needs initdb and postgres on the PATH`, define);
}

/** A PostgreSQL with an empty database, on a socket in a folder of its own. */
export interface PostgresServer {
  pool: Pool;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "push-postgres-"));
  const user = findServerUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
  const data = join(folder, "data");
  const run = { ...user, stdio: "ignore" as const };
  execFileSync("cp", ["-r", await makeCluster(), data], run);
  const settings = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-F"];
  const child = spawn(join(binaries ?? "", "postgres"), settings, run);
  const exited = once(child, "exit");
  const pool = new Pool({ host: folder, user: "push", database: "postgres", max: 20 });
  // Idle connections fail when the server stops.
  pool.on("error", () => {});
  while (
    !(await pool.query("SELECT 1").then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error("postgres ended");
    await sleep(20);
  }
  return {
    pool,
    async stop() {
      await pool.end();
      child.kill("SIGINT");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the files of a new cluster, for servers to start with a copy of them. */
export async function makeCluster(): Promise<string> {
  const user = findServerUser();
  const made = await makeOncePerRun("cluster", (folder) => {
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
    // The user of the server reaches it by its full path, and initdb makes it private.
    const data = join(folder, "data");
    const init = ["-D", data, "-U", "push", "--auth=trust", "--no-sync", "-E", "UTF8"];
    execFileSync(join(binaries ?? "", "initdb"), init, { ...user, stdio: "ignore" });
  });
  return join(made, "data");
}

function findBinaries(): string | undefined {
  const { PUSH_TEST_POSTGRES_BIN: chosen = "" } = process.env;
  if (chosen !== "") return chosen;
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")));
}

/** Returns the user of the servers. For root it is another one: PostgreSQL does not run as root. */
export function findServerUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  // Debian's package creates the first; without it, PUSH_TEST_POSTGRES_BIN names the binaries.
  const found = ["postgres:", "nobody:"].flatMap((name) =>
    users.filter((line) => line.startsWith(name)),
  );
  const [, , uid, gid] = found[0]?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}
