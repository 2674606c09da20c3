import { spawnSync } from "node:child_process";
import { join } from "node:path";

const support = join(__dirname, "support");

/** Runs a script in a process whose PATH has no folder. */
function run(script: string, env: NodeJS.ProcessEnv = {}) {
  const options = { env: { PATH: "/nowhere", ...env }, encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(process.execPath, ["-e", script], options);
  return { status, stdout };
}

const findRedis = `require(${JSON.stringify(join(support, "find-redis.js"))})();`;
const printServer = "console.log(JSON.stringify(process.env.PUSH_TEST_REDIS_SERVER));";

describe("the set-up of the tests without a Redis", () => {
  it("installs nothing, and lets the tests be skipped", () => {
    expect(run(findRedis + printServer)).toEqual({ status: 0, stdout: '""\n' });
  });

  it("fails with CI=true, unless REDIS_URL names a server", () => {
    expect(run(findRedis, { CI: "true" }).status).toBe(1);
    expect(run(findRedis, { CI: "true", REDIS_URL: "redis://a.test" }).status).toBe(0);
  });

  it("ends a run with the requirements of the skipped tests", () => {
    const results = {
      numPassedTests: 3,
      numFailedTests: 1,
      numRuntimeErrorTestSuites: 1,
      numPendingTests: 3,
      testResults: [
        { testResults: [{ status: "pending", fullName: "x: needs initdb and postgres" }] },
        {
          testResults: [
            { status: "pending", fullName: "the recipes for other frameworks compile" },
          ],
        },
        { testResults: [{ status: "passed", fullName: "y" }] },
      ],
    };
    const script = `const ClosingLine = require(${JSON.stringify(join(support, "closing-line.js"))});
      new ClosingLine().onRunComplete([], ${JSON.stringify(results)});`;
    const lines = run(script, { PUSH_TEST_REDIS_SERVER: "" }).stdout.trim().split("\n");
    expect(lines).toEqual([
      "3 tests were skipped. They need:",
      expect.stringMatching(/^ {2}Redis: .*redis-server/),
      expect.stringMatching(/^ {2}PostgreSQL: .*postgresql/),
      expect.stringMatching(/^ {2}The packages of the recipes: npm run frameworks$/),
      "3 passed, 2 failed",
    ]);
  });
});
