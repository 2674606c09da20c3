import { describeOnPostgres } from "../../support/postgres-engine";
import { SUITES } from "../suites";

for (const [title, suite] of SUITES) describeOnPostgres(title, suite);
