import { describeOnRedis } from "../../support/redis-engine";
import { SUITES } from "../suites";

for (const [title, suite] of SUITES) describeOnRedis(title, suite, true);
