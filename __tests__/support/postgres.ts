import { execFileSync } from "node:child_process";
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
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
