/** The app of examples/push-login with an emulator, over HTTP. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { confirmWith } from "express-push-verification/admin";
import { createApp } from "../../examples/push-login/app";
import { createLoginAttempts } from "../../examples/push-login/login-attempts";
import { createCheckPassword } from "../../examples/push-login/passwords";
import { readSettings } from "../../examples/push-login/settings";
import { createSimulatedPhone } from "../../examples/push-login/simulated-phone";
import { envOf, startEmulator } from "./emulators";
import { createReceiver } from "./receivers";
import { until } from "./waiting";

export const PASSWORD = "correct horse";
export const ADA = "ada-0001";
export const STAFF_KEY = "staff key";

/** For all apps of a test file: a hash of a password takes its time. */
const checkPassword = createCheckPassword({
  ada: { password: PASSWORD, entityIdentity: ADA },
  bob: { password: PASSWORD, entityIdentity: "bob-0001" },
});

/** Starts the app; an attempt expires after `ttlMs`, and a request waits for `waitMs`. */
export async function startLoginApp(ttlMs = 60_000, waitMs = 20_000) {
  const emulator = await startEmulator();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const PUSH_PUBLIC_URL = `${url}/webhooks/push`;
  const webhook = emulator.createWebhook({ webhook_url: PUSH_PUBLIC_URL });
  const settings = readSettings({ ...envOf(emulator), PUSH_PUBLIC_URL });
  const { accountSid, authToken, publicUrl, client, service } = settings;
  const bound = { allowedAccountSids: [accountSid], confirm: confirmWith(client) };
  const { push, rejected } = createReceiver({ authToken, publicUrl, ...bound });
  const attempts = createLoginAttempts(ttlMs);
  const phone = createSimulatedPhone(emulator, ADA, "Zoë's phone", attempts);
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
    server.close();
    server.closeAllConnections();
    await push.close();
    await emulator.close();
  }

  const loseWebhooks = () => client.webhooks.delete(webhook.sid);
  /** On a clock of the tests: ends the attempt of the next request that waits for its outcome. */
  async function passAttempt(): Promise<void> {
    const wait = jest.spyOn(push, "waitForChallenge");
    await until(() => wait.mock.calls.length > 0);
    wait.mockRestore();
    await jest.advanceTimersByTimeAsync(ttlMs);
  }

  const readNumber = () =>
    emulator.fetchChallenge(challengeSids.at(-1) ?? "").hidden_details?.number as string;

  const actions = { loseWebhooks, passAttempt, readNumber, stop };
  return { url, emulator, push, rejected, challengeSids, server, ...actions };
}

export type LoginApp = Awaited<ReturnType<typeof startLoginApp>>;
