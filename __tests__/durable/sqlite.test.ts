/** Runs the tests of the SQLite engine, but for its set-ups, which `npm run test:release` runs. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describeSqliteFiles } from "../support/sqlite-run";

const files = readdirSync(join(__dirname, "sqlite")).filter((name) => name.endsWith(".test.ts"));

describeSqliteFiles(files.filter((name) => name !== "setups.test.ts"));
