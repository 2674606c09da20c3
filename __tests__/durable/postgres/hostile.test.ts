import { describeOnPostgres } from "../../support/postgres-engine";
import { describeHostile } from "../hostile";

describeOnPostgres("hostile parameters", describeHostile);
