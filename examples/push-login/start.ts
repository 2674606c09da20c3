/**
 * A login that waits for a phone, with an emulated service, a simulated phone, and the admin
 * console. With PUSH_AUTH_TOKEN and the variables of settings.ts, the same app uses the real
 * service. It runs until Ctrl-C.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pushWebhooks } from "express-push-verification";
import { createApp } from "./app";
import { createLoginAttempts } from "./login-attempts";
import { createCheckPassword } from "./passwords";
import { emulateService, readServiceSettings } from "./settings";

const USER = "ada";
const ATTEMPT_TTL_MS = 300_000;

void main();

async function main(): Promise<void> {
  const server = createServer();
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
  await once(server, "listening");
  const appUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings =
    process.env.PUSH_AUTH_TOKEN === undefined
      ? await emulateService(appUrl, USER)
      : readServiceSettings(process.env);
  const { accountSid, authToken, publicUrl, signatureHeader, service, client, phone } = settings;

  const push = pushWebhooks({
    authToken,
    publicUrl,
    signatureHeader,
    allowedAccountSids: [accountSid],
  });
  push.onAny((event) => console.log(`handled: ${event.type}`));
  push.onRejected((error, { path }) => console.log(`rejected: ${error.code} at ${path}`));

  const password = process.env.DEMO_PASSWORD ?? randomBytes(4).toString("hex");
  const staffKey = randomBytes(16).toString("hex");
  const app = createApp({
    push,
    service,
    accountSid,
    attempts: createLoginAttempts(ATTEMPT_TTL_MS),
    checkPassword: await createCheckPassword({ [USER]: password }),
    sessionSecret: process.env.SESSION_SECRET ?? randomBytes(32).toString("hex"),
    isHttps: publicUrl.startsWith("https:"),
    phone,
    staff: { client, key: staffKey },
  });
  server.on("request", app);
  phone?.register();

  console.log(`The login:         ${appUrl}/  (user ${USER}, password ${password})`);
  console.log(`The admin console: ${appUrl}/staff?key=${staffKey}`);
  // The shell of "npm start" does not pass SIGTERM on: kill this process, not npm.
  console.log(`It runs until Ctrl-C, or "kill ${process.pid}" in another terminal.`);

  const end = async () => {
    server.close();
    await push.close();
    await settings.close();
    server.closeAllConnections();
  };
  process.once("SIGINT", () => void end()).once("SIGTERM", () => void end());
}
