import { describeOnPostgres } from "../../support/postgres-engine";
import { describeLostReplies } from "../lost-replies";

describeOnPostgres("with a reply that is lost,", (engine) =>
  describeLostReplies(engine, [["the event", "first-1"]]),
);
