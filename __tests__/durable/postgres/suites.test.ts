import { types } from "pg";
import { describeOnPostgres } from "../../support/postgres-engine";
import { SUITES } from "../suites";

// As an app does that wants exact integers, for all of pg: the queue reads its own.
const INT4 = 23;
beforeAll(() => types.setTypeParser(INT4, BigInt));

for (const [title, suite] of SUITES) describeOnPostgres(title, suite);
