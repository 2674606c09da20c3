import { describeOnRedis } from "../../support/redis-engine";
import { describeReceiverOutages } from "../receiver-outages";

describeOnRedis("a receiver during an outage", describeReceiverOutages);
