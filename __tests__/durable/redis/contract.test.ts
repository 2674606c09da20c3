import { describeOnRedis } from "../../support/redis-engine";
import { describeContract } from "../contract";

describeOnRedis("contract", describeContract);
