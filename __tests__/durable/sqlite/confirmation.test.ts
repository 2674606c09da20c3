import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeConfirmation } from "../confirmation";

describeOnSqlite("events that need a confirmation", describeConfirmation);
