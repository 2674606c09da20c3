import { describeOnPostgres } from "../../support/postgres-engine";
import { describeReceiverOutages } from "../receiver-outages";

describeOnPostgres("a receiver during an outage", describeReceiverOutages);
