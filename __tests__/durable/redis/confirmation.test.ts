import { describeOnRedis } from "../../support/redis-engine";
import { describeConfirmation } from "../confirmation";

describeOnRedis("events that need a confirmation", describeConfirmation);
