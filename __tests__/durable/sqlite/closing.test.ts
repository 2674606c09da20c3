import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeClosing } from "../closing";

describeOnSqlite("closing", describeClosing);
