import { describeOnPostgres } from "../../support/postgres-engine";
import { describeClosing } from "../closing";

describeOnPostgres("closing", describeClosing);
