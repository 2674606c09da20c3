/** The app of examples/push-login with an emulator, over HTTP. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pushWebhooks } from "express-push-verification";
import { confirmWith } from "express-push-verification/admin";
import { createEmulator } from "express-push-verification/emulator";
import { createApp } from "../../examples/push-login/app";
import { createLoginAttempts } from "../../examples/push-login/login-attempts";
import { createCheckPassword } from "../../examples/push-login/passwords";
import { createSimulatedPhone } from "../../examples/push-login/simulated-phone";
import { createVerificationService } from "../../examples/push-login/verification-service";
import { clientOf } from "./emulators";

export const PASSWORD = "correct horse";
/** The identity of the user ada. */
export const ADA = "ada-0001";
export const STAFF_KEY = "staff key";

/** For all apps of a test file: a hash of a password takes its time. */
const checkPassword = createCheckPassword({
  ada: { password: PASSWORD, entityIdentity: ADA },
  bob: { password: PASSWORD, entityIdentity: "bob-0001" },
});

/** Starts the app; an attempt expires after `ttlMs`, and a request waits for `waitMs`. */
export async function startLoginApp(ttlMs = 60_000, waitMs = 20_000) {
  const emulator = createEmulator();
  await emulator.listen(0);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { accountSid, authToken, serviceSid, url: verifyUrl } = emulator;
  const publicUrl = `${url}/webhooks/push`;
  const webhook = emulator.createWebhook({ webhook_url: publicUrl });
  const client = clientOf(emulator);
  const confirm = confirmWith(client);
  const push = pushWebhooks({ authToken, publicUrl, allowedAccountSids: [accountSid], confirm });
  const rejected: string[] = [];
  push.onRejected(({ code }) => void rejected.push(code));
  const attempts = createLoginAttempts(ttlMs);
  const phone = createSimulatedPhone(emulator, ADA, "Zoë's phone", attempts);
  const credentials = { username: accountSid, password: authToken };
  const service = createVerificationService({ verifyUrl, serviceSid, ...credentials });
  const challengeSids: string[] = [];
  const app = createApp({
    push,
    service: {
      ...service,
      async createChallenge(...args) {
        const sid = await service.createChallenge(...args);
        challengeSids.push(sid);
        return sid;
      },
    },
    accountSid,
    attempts,
    waitMs,
    checkPassword: await checkPassword,
    sessionSecret: "a secret",
    isHttps: false,
    phone,
    staff: { client, key: STAFF_KEY },
  });
  server.on("request", app);
  phone.register();

  async function stop(): Promise<void> {
    phone.close();
    server.close();
    server.closeAllConnections();
    await push.close();
    await emulator.close();
  }

  /** From now on, no webhook request reaches the app. */
  const loseWebhooks = () => client.webhooks.delete(webhook.sid);
  /** The number that the newest login shows. */
  const readNumber = () =>
    emulator.fetchChallenge(challengeSids.at(-1) ?? "").hidden_details?.number as string;

  return { url, emulator, loseWebhooks, readNumber, push, rejected, challengeSids, server, stop };
}

export type LoginApp = Awaited<ReturnType<typeof startLoginApp>>;
