/** Compiles against the packed types where no optional peer is installed. */
import { createServer } from "node:http";
import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { createEmulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/webhooks/push" };
const push = pushWebhooks(settings).on("challenge.denied", (event) => {
  const sid: string = event.challenge_sid;
  // @ts-expect-error: no event has it, so the event is not any
  void event.nothing;
  void sid;
});
// oxlint-disable-next-line typescript/no-misused-promises -- as users write it
createServer(push);

const { url, headers, body } = signedRequest(settings, "factor.created", {});
const request = { method: "POST", url, headers: new Headers(headers), body: Buffer.from(body!) };
void verifyPushRequest(request, settings).then(({ type }) => type.length);
void createEmulator().listen(0);
