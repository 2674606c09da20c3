/** What the environment of the tests finds in a test file that does not end, or leaves something behind. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jest as config } from "../../package.json";
import { ROOT } from "./docs";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "push-environment-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function run(test: string, env: NodeJS.ProcessEnv): Promise<string> {
  writeFileSync(join(folder, "a.test.ts"), test);
  const own = { rootDir: ROOT, roots: [folder], testMatch: [`${folder}/*.test.ts`] };
  const args = ["--config", JSON.stringify({ ...config, ...own }), "--runInBand", "--forceExit"];
  const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [jest, ...args],
      { env: { ...process.env, ...env } },
      (_, ...texts) => resolve(texts.join("")),
    );
  });
}

const lib = JSON.stringify(join(ROOT, "lib"));
const importing = (file: string) => `const part = require(${lib} + "/${file}");`;

it.each<[what: string, test: string, found: RegExp, env?: NodeJS.ProcessEnv]>([
  ["a test that is fine", `it("a", () => {});`, /^1 passed, 0 failed$/m],
  [
    "a loop of promises",
    `it("a", async () => { for (;;) await undefined; });`,
    /a\.test\.ts has not ended after 0\.05 minutes/,
    { PUSH_TEST_FILE_MINUTES: "0.05" },
  ],
  [
    "a server, a temporary file, a listener of the process",
    `it("a", (done) => {
      process.on("SIGHUP", () => {});
      require("node:fs").mkdtempSync(require("node:os").tmpdir() + "/x-");
      require("node:net").createServer().listen(0, done);
    });`,
    /leaves behind: (?=.*1 TCPSERVERWRAP)(?=.*temporary file x-).*1 listener of SIGHUP/i,
  ],
  [
    "a timer of lib that keeps no process alive",
    `${importing("durable/outcomes.ts")}
    it("a", () => void new part.SharedOutcomes({}, { name: "q", maxWaiting: 1 }));`,
    /A timer is not cleared: .*outcomes\.ts/,
  ],
  [
    "a skipped test with CI=true",
    `it.skip("a [needs b]", () => {});`,
    /^0 passed, 0 failed; skipped, which CI=true forbids: 1 \(needs b\)$/m,
    { CI: "true" },
  ],
])("finds %s", async (_what, test, found, env = {}) => {
  expect(await run(test, { ...env, PUSH_TEST_ENDS_MS: "100" })).toMatch(found);
});
