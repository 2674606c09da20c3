/** Resources that the test files of a run share: the first that needs one makes it. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./waiting";

/** The folder of the run, which Jest removes at its end; outside Jest, one for this process. */
const runFolder = process.env.PUSH_TEST_RUN ?? createFolder();

/** Returns a folder that `make` fills once a run, also when several processes ask for it. */
export async function makeOncePerRun(
  name: string,
  make: (folder: string) => unknown,
): Promise<string> {
  const [folder, making, failed] = ["", ".making", ".failed"].map((end) =>
    join(runFolder, name + end),
  ) as [string, string, string];
  try {
    mkdirSync(making);
  } catch {
    // Another process makes it, or has made it.
    await until(() => existsSync(folder) || existsSync(failed));
    if (existsSync(folder)) return folder;
    throw new Error(`${name} could not be made; see the other error.`);
  }
  try {
    const unfinished = join(making, "unfinished");
    mkdirSync(unfinished);
    await make(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    mkdirSync(failed);
    throw error;
  }
  return folder;
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "push-run-"));
  // The user of a server reaches its files.
  chmodSync(folder, 0o711);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
