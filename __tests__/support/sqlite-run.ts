/** Runs tests of the SQLite engine on a Node.js that has node:sqlite. */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { TYPESCRIPT_OPTIONS } from "./child-processes";
import { ROOT } from "./docs";
import { findNodeWithSqlite, itWithSqlite } from "./node-24";

/** The folder of temporary files in which Jest keeps its cache; that of a test file is removed. */
const tmpdirOfRun = () => dirname(process.env.PUSH_TEST_RUN ?? join(tmpdir(), "run"));

export function describeSqliteFiles(pattern: string): void {
  const node = findNodeWithSqlite();
  itWithSqlite(node)(
    `tests of SQLite pass on a Node.js with node:sqlite: ${pattern}`,
    async () => {
      const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
      // Jest ignores this folder by default, because it runs on the Node.js of the machine.
      const paths = ["--testPathIgnorePatterns", "/node_modules/", "--testPathPatterns"];
      // In one process: beside it, the other tests have the other cores.
      const args = [jest, "--runInBand", ...paths, `__tests__/durable/sqlite/${pattern}`];
      // The engine starts a thread of its own, which Jest does not transform.
      const env = { ...process.env, NODE_OPTIONS: TYPESCRIPT_OPTIONS, TMPDIR: tmpdirOfRun() };
      // It rejects with the names of the tests that fail.
      const { stderr } = await promisify(execFile)(node ?? "", args, { cwd: ROOT, env });
      expect(stderr).toMatch(/^Test Suites: (\d+) passed, \1 total/m);
    },
    1_800_000,
  );
}
