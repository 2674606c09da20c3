import { describeOnPostgres } from "../../support/postgres-engine";
import { describeProcessExit } from "../process-exit";

describeOnPostgres("a process that closes its queue", describeProcessExit);
