import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "push-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
