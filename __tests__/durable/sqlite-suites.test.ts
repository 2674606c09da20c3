import { describeSqliteFiles } from "../support/sqlite-run";

describeSqliteFiles("suites");
