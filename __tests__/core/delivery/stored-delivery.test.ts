import { createHandlers, PermanentError } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { setConfirm } from "../../../lib/core/delivery/handler-registry";
import { StoredDelivery } from "../../../lib/core/delivery/stored-delivery";
import { silent } from "../../support/receivers";

it.each([
  ["trigger-1", true, false, false, false],
  ["trigger-1", "pending", false, true, false],
  ["trigger-1", false, true, true, true],
  ["evt-trigger-1", false, true, true, false],
  ["final-1", true, true, false, false],
] as const)(
  "a failed run of %s, confirmed: %s, is permanent: %s, forged: %s, invented: %s",
  async (uuid, confirmation, isPermanent, isForged, isInvented) => {
    const handlers = createHandlers().onAny(() => Promise.reject(new Error(`${uuid} is down`)));
    if (uuid === "final-1") handlers.onAny(() => Promise.reject(new PermanentError("never")));
    setConfirm(handlers, undefined, () => !confirmation);
    expect(() => setConfirm(handlers, undefined, () => true)).toThrow(TypeError);
    const recordOutcome = jest.fn(async () => {});
    const queue = { name: "logins", logger: silent, recordOutcome };
    const worker = new StoredDelivery(handlers, { confirm: () => confirmation }, queue);
    const event = eventFixture("challenge.approved", { uuid });
    const read = { event, authenticatedAccount: "login", authTokenIndex: 0, publicUrlIndex: 0 };
    const failure = await worker.run(() => ({ ...read, needsConfirmation: true }), 1);
    expect(failure).toMatchObject({ isPermanent, isForged, isInvented });
    expect(failure?.masked).not.toContain(uuid);
    expect(recordOutcome).toHaveBeenCalledTimes(Number(confirmation === true));
  },
);
