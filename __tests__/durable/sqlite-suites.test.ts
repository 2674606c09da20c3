import { describeSqliteFiles } from "../support/sqlite-run";

// A file of its own, as it takes as long as all others: Jest runs both at once.
describeSqliteFiles("suites");
