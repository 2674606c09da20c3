import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { StoredDelivery } from "../../../lib/core/delivery/stored-delivery";
import { silent } from "../../support/receivers";

it.each([
  ["trigger-1", true, false, false, false],
  ["trigger-1", "pending", false, true, false],
  ["trigger-1", false, true, true, true],
  ["evt-1", false, true, true, false],
] as const)(
  "a failed run of %s, confirmed: %s, is permanent: %s, forged: %s, invented: %s",
  async (uuid, confirmation, isPermanent, isForged, isInvented) => {
    const handlers = createHandlers().onAny(() => Promise.reject(new Error("down")));
    const recordOutcome = jest.fn(async () => {});
    const queue = { name: "logins", logger: silent, recordOutcome };
    const worker = new StoredDelivery(handlers, { confirm: () => confirmation }, queue);
    const event = eventFixture("challenge.approved", { uuid });
    const read = { event, authenticatedAccount: "login", authTokenIndex: 0, publicUrlIndex: 0 };
    const failure = await worker.run(() => ({ ...read, needsConfirmation: true }), 1);
    expect(failure).toMatchObject({ isPermanent, isForged, isInvented });
    expect(recordOutcome).toHaveBeenCalledTimes(Number(confirmation === true));
  },
);
