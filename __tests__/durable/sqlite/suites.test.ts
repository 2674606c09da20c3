import { describeOnSqlite } from "../../support/sqlite-engine";
import { SUITES } from "../suites";

for (const [title, suite] of SUITES) describeOnSqlite(title, suite);
