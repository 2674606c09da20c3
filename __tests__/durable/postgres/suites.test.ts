import { types } from "pg";
import { describeOnPostgres } from "../../support/postgres-engine";
import { SQL_SUITES } from "../suites";

// As an app does that wants exact integers, for all of pg: the queue reads its own.
beforeAll(() => types.setTypeParser(types.builtins.INT4, BigInt));

for (const [title, suite] of SQL_SUITES) describeOnPostgres(title, suite);
