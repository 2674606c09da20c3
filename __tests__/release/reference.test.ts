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
  it("documents every export and method, and is equal to the output of npm run docs", async () => {
    const folder = mkdtempSync(join(tmpdir(), "push-reference-"));
    const args = [typedoc, "--options", join(ROOT, "docs", "typedoc.json"), "--out", folder];
    // The generator fails on a warning, such as an export without documentation or a missing type.
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    expect(stdout).toContain("markdown generated");
    const files = readdirSync(folder).toSorted();
    const api = join(ROOT, "docs", "api");
    expect(readdirSync(api).toSorted()).toEqual(files);
    const read = (directory: string, file: string) => readFileSync(join(directory, file), "utf8");
    expect(files.filter((file) => read(api, file) !== read(folder, file))).toEqual([]);
    rmSync(folder, { recursive: true });
  }, 120_000);
});
