import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder for the tests of a file, or of a `describe`, which is removed after them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "push-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
