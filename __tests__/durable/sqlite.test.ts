import { describeSqliteFiles } from "../support/sqlite-run";

// `npm run test:release` runs the set-ups.
describeSqliteFiles("(?!setups|suites)");
