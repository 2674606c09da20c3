/** Runs tests of the SQLite engine on a Node.js that has node:sqlite. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { TYPESCRIPT } from "./child-processes";
import { ROOT } from "./docs";
import { findNodeWithSqlite } from "./node-24";

/** Describes that files of `__tests__/durable/sqlite` pass; skipped, and counted, where none can. */
export function describeSqliteFiles(files: readonly string[]): void {
  const node = findNodeWithSqlite();
  if (node === undefined) {
    it.skip(`runs ${files.length} files of tests: no Node.js with node:sqlite can be installed`, () => {});
    return;
  }
  it(`${files.join(", ")} pass on a Node.js with node:sqlite`, async () => {
    const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
    // Jest ignores this folder by default, because it runs on the Node.js of the machine.
    const paths = ["--testPathIgnorePatterns", "/node_modules/", "--testPathPatterns"];
    const selected = [...paths, ...files.map((file) => `__tests__/durable/sqlite/${file}`)];
    // The engine starts a thread of its own, which Jest does not transform.
    const env = { ...process.env, NODE_OPTIONS: TYPESCRIPT.join(" ") };
    // In one process: beside it, the other tests have the other cores.
    const run = promisify(execFile)(node, [jest, "--runInBand", ...selected], { cwd: ROOT, env });
    // It rejects with the names of the tests that fail.
    expect((await run).stderr).toMatch(new RegExp(`^Test Suites:.* ${files.length} total`, "m"));
  }, 600_000);
}
