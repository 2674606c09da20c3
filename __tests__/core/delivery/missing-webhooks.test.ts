import { describeMissingWebhooks } from "../../durable/missing-webhooks";
import { closeOpened } from "../../support/durable";
import { countTime } from "../../support/waiting";

countTime();
afterEach(closeOpened);

describe("waits in the memory of a process", () => describeMissingWebhooks());
