import { describeOnPostgres } from "../../support/postgres-engine";
import { describeConfirmation } from "../confirmation";

describeOnPostgres("events that need a confirmation", describeConfirmation);
