import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeContract } from "../contract";

describeOnSqlite("contract", describeContract);
