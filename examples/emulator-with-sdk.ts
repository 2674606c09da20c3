/** Creates a factor and a challenge at the emulator with the SDK of the public service. */
import twilio from "twilio";
import type { PushWebhooks } from "express-push-verification";
import type { Emulator } from "express-push-verification/emulator";

export async function login(emulator: Emulator, push: PushWebhooks, identity: string) {
  const client = twilio(emulator.accountSid, emulator.authToken);
  client.verify.baseUrl = emulator.url; // the only change; client.api.baseUrl for Keys
  const entity = client.verify.v2.services(emulator.serviceSid).entities(identity);

  const device = emulator.device(); // the phone of the user, with a private key
  const { sid: factorSid } = await entity.newFactors.create({
    friendlyName: "Zoë's phone",
    factorType: "push",
    "binding.alg": "ES256",
    "binding.publicKey": device.publicKey,
    "config.appId": "com.example.bank",
    "config.notificationPlatform": "none",
  });
  await entity.factors(factorSid).update({ authPayload: device.signFactor(factorSid) });

  device.onChallenge((challenge) => device.approve(challenge.sid));
  const { sid } = await entity.challenges.create({ factorSid, "details.message": "Sign in?" });
  return push.waitForChallenge({ challengeSid: sid, entityIdentity: identity });
}
