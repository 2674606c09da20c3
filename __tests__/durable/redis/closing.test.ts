import { describeOnRedis } from "../../support/redis-engine";
import { describeClosing } from "../closing";

describeOnRedis("closing", describeClosing);
