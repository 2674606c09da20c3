import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** Returns the path of a file that does not exist yet, in a folder of its own. */
export function createFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "push-sqlite-"));
  folders.push(folder);
  return join(folder, "push.db");
}

/** Removes the folders of {@link createFile}. */
export function removeFiles(): void {
  // Retries: a thread that was closed without time to finish may still create files.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };
  for (const folder of folders.splice(0)) rmSync(folder, options);
}
