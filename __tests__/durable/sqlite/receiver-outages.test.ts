import { describeOnSqlite } from "../../support/sqlite-engine";
import { describeReceiverOutages } from "../receiver-outages";

describeOnSqlite("a receiver during an outage", describeReceiverOutages);
