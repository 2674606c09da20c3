import { describeOnRedis } from "../../support/redis-engine";
import { describeLostReplies } from "../lost-replies";
import { SUITES } from "../suites";

for (const [title, suite] of SUITES) describeOnRedis(title, suite);

describeOnRedis("with a reply that is lost,", (engine) =>
  describeLostReplies(engine, [
    ["the event", "first-1"],
    ["the outcome", ":outcome:"],
  ]),
);
