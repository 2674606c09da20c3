import { describeMissingWebhooks } from "../../durable/missing-webhooks";
import { closeOpened } from "../../support/durable";

afterEach(() => closeOpened());

describe("waits in the memory of a process", () => describeMissingWebhooks());
