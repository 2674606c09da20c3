import { describeOnAnyRedis } from "../../support/redis-engine";
import { describeHostile } from "../hostile";

describeOnAnyRedis("hostile parameters", describeHostile);
