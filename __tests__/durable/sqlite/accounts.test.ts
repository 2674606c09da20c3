import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeAccounts } from "../accounts";

describeOnSqlite("accounts on one queue", describeAccounts);
