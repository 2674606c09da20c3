import { describeOnSqlite } from "../../support/sqlite-engine";
import { SQL_SUITES } from "../suites";

for (const [title, suite] of SQL_SUITES) describeOnSqlite(title, suite);
