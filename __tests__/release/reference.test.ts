/** docs/api is equal to the output of `npm run docs`, and every export and method has a doc comment. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../support/docs";

const typedoc = join(ROOT, "docs", "node_modules", "typedoc", "bin", "typedoc");
// The last lines of a run name the missing requirements of skipped tests.
const describeWithTypedoc = existsSync(typedoc) ? describe : describe.skip;

describeWithTypedoc("the API reference", () => {
  let folder: string;
  let output: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "push-reference-"));
    const args = [typedoc, "--options", join(ROOT, "docs", "typedoc.json"), "--out", folder];
    // The generator fails on a warning: then `output` says which.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      cwd: ROOT,
    }).catch((error: unknown) => error as { stdout: string; stderr: string });
    output = stdout + stderr;
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("documents every export and every method, and names no type that is missing", () => {
    expect(output.split("\n").filter((line) => /warning|error/.test(line))).toEqual([]);
    expect(output).toContain("markdown generated");
  });

  it("is equal to the output of npm run docs", () => {
    const files = readdirSync(folder).toSorted();
    expect(readdirSync(join(ROOT, "docs", "api")).toSorted()).toEqual(files);
    const read = (directory: string, file: string) => readFileSync(join(directory, file), "utf8");
    const stale = files.filter(
      (file) => read(join(ROOT, "docs", "api"), file) !== read(folder, file),
    );
    expect(stale).toEqual([]);
  });
});
