import { describeOnRedis } from "../../support/redis-engine";
import { describeAccounts } from "../accounts";

describeOnRedis("accounts on one queue", describeAccounts);
