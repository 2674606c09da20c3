/** Waits for challenges whose webhook request does not arrive. */
import { confirmWith } from "express-push-verification/admin";
import { clientOf, startEmulator, stopEmulators } from "../../support/emulators";
import { createReceiver } from "../../support/receivers";
import { countTime } from "../../support/waiting";

countTime(10);
afterEach(stopEmulators);

it.each([true, false])(
  "resolve by the service's word, of a service that is allowed: %s",
  async (isAllowed) => {
    const emulator = await startEmulator();
    const { authToken, serviceSid } = emulator;
    const { push } = createReceiver({
      authToken,
      confirm: confirmWith(clientOf(emulator)),
      allowedServiceSids: [isAllowed ? serviceSid : `VA${"9".repeat(32)}`],
    });
    const { sid: factor_sid } = emulator.createFactor({ entity_identity: "ada-lovelace" });
    emulator.verifyFactor(factor_sid);
    const { sid: challengeSid } = emulator.createChallenge({ factor_sid });
    emulator.approveChallenge(challengeSid);
    const wait = () => push.waitForChallenge({ challengeSid, entityIdentity: "ada-lovelace" });
    if (!isAllowed) return expect(wait()).rejects.toHaveProperty("code", "ACCOUNT_NOT_ALLOWED");
    const outcome = await wait();
    expect(outcome).toMatchObject({ type: "challenge.approved", source: "service" });
    expect(await wait()).toEqual(outcome);
  },
);
