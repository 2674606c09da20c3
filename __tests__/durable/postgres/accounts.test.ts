import { describeOnPostgres } from "../../support/postgres-engine";
import { describeAccounts } from "../accounts";

describeOnPostgres("accounts on one queue", describeAccounts);
