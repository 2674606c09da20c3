import { describeOnRedis } from "../../support/redis-engine";
import { describeProcessExit } from "../process-exit";

describeOnRedis("a process that closes its queue", describeProcessExit);
