/**
 * Runs a suite whose command depends on the machine; package.json has one script for each.
 *
 * tsx __tests__/suites.ts <name> [argument of Jest]...
 */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { TYPESCRIPT_OPTIONS } from "./support/child-processes";
import { findNodeWithSqlite } from "./support/node-24";

interface Suite {
  /** The arguments of Jest. */
  args: string[];
  env?: NodeJS.ProcessEnv;
  node?: string | undefined;
}

const IGNORING = ["--testPathIgnorePatterns", "/node_modules/"];
const cores = availableParallelism();
const { PUSH_TEST_SHOTS = "screenshots" } = process.env;

/** What a suite in `durable/sqlite` needs. */
const onNode24 = (env: NodeJS.ProcessEnv = {}) => ({
  env: { NODE_OPTIONS: TYPESCRIPT_OPTIONS, ...env },
  node: findNodeWithSqlite(),
});

const SUITES: Record<string, () => Suite> = {
  test: () => ({
    args: [
      `--maxWorkers=${cores + 7}`,
      ...IGNORING,
      ...["durable/sqlite", "durable/setups", "release", "fuzz"].map(
        (room) => `__tests__/${room}/`,
      ),
    ],
  }),
  release: () => ({
    args: [`--maxWorkers=${cores}`, "__tests__/release/", "__tests__/durable/setups/"],
  }),
  setups: () => ({
    args: [
      "--runInBand",
      "__tests__/durable/setups/",
      "__tests__/durable/sqlite/setups",
      "__tests__/durable/sqlite/advice",
    ].concat(IGNORING),
    ...onNode24({ PUSH_TEST_TABLE: "1" }),
  }),
  contract: () => ({
    args: ["--runInBand", "-t", "contract (?!other)", "__tests__/durable/sqlite/suites"].concat(
      IGNORING,
    ),
    ...onNode24(),
  }),
  screenshots: () => ({
    args: ["release/console-states", "examples/push-login-page"].map(
      (file) => `__tests__/${file}.test.ts`,
    ),
    env: { PUSH_TEST_SHOTS },
  }),
};

const [, , name = "", ...others] = process.argv;
const suite = SUITES[name]?.();
if (suite === undefined) throw new Error(`The suites are: ${Object.keys(SUITES).join(", ")}`);
const { args, env, node = process.execPath } = suite;
const jest = join(__dirname, "..", "node_modules", "jest", "bin", "jest.js");
const { status } = spawnSync(node, [jest, ...others, ...args], {
  stdio: "inherit",
  env: { ...process.env, PUSH_TEST_NODE_24: findNodeWithSqlite() ?? "", ...env },
});
process.exitCode = status ?? 1;
