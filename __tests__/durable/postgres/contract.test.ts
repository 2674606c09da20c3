import { describeOnPostgres } from "../../support/postgres-engine";
import { describeContract } from "../contract";

describeOnPostgres("contract", describeContract);
