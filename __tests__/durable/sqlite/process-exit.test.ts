import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeProcessExit } from "../process-exit";

describeOnSqlite("a process that closes its queue", describeProcessExit);
