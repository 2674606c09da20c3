/** Runs tests of the SQLite engine on a Node.js that has node:sqlite. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TYPESCRIPT } from "./child-processes";
import { ROOT } from "./docs";
import { findNodeWithSqlite } from "./node-24";

interface TestRun {
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

const node = findNodeWithSqlite();

/** Describes that these files of `__tests__/durable/sqlite` pass; skipped, and counted, where none can. */
export function describeSqliteFiles(files: readonly string[]): void {
  if (node === undefined) {
    it.skip(`runs ${files.length} files of tests: no Node.js with node:sqlite can be installed`, () => {});
    return;
  }
  describe("on a Node.js with node:sqlite", () => {
    let folder: string;
    let run: TestRun;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "push-sqlite-tests-"));
      const output = join(folder, "results.json");
      const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
      // Jest ignores this folder by default, because it runs on the Node.js of the machine.
      const paths = ["--testPathIgnorePatterns", "/node_modules/", "--testPathPatterns"];
      const selected = [...paths, ...files.map((file) => `__tests__/durable/sqlite/${file}`)];
      // In one process: beside it, the other tests have the other cores.
      const args = ["--runInBand", "--json", "--outputFile", output, ...selected];
      // The engine starts a thread of its own, which Jest does not transform.
      const env = { ...process.env, NODE_OPTIONS: TYPESCRIPT.join(" ") };
      await new Promise<void>((resolve) => {
        // It ends with 1 when a test fails; the results say which.
        execFile(node, [jest, ...args], { cwd: ROOT, env }, () => resolve());
      });
      run = JSON.parse(readFileSync(output, "utf8")) as TestRun;
    }, 600_000);

    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(files)("%s passes", (file) => {
      const result = run.testResults.find(({ name }) => name.endsWith(`/sqlite/${file}`));
      const tests = result?.assertionResults ?? [];
      const others = tests.filter(({ status }) => status !== "passed" && status !== "pending");
      const failed = others.map(({ fullName }) => fullName);
      expect({ failed, message: result?.message }).toEqual({ failed: [], message: "" });
      expect(tests.length).toBeGreaterThan(0);
    });
  });
}
