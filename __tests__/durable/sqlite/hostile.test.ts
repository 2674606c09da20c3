import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeHostile } from "../hostile";

describeOnSqlite("hostile parameters", describeHostile);
