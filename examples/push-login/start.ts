/**
 * A login that waits for a phone, with an emulated service, a simulated phone, and the admin
 * console. With PUSH_SERVICE_SID and the other variables of settings.ts, the same app uses the real
 * service, and USER_IDENTITY is the identity that the phone of the user is registered with. It runs
 * until Ctrl-C.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pushWebhooks } from "express-push-verification";
import { confirmWith } from "express-push-verification/admin";
import { createApp } from "./app";
import { createLoginAttempts } from "./login-attempts";
import { createCheckPassword } from "./passwords";
import { startDemo } from "./demo";
import { readSettings, SettingsError } from "./settings";

const USER = "ada";
const { USER_IDENTITY = "7d4c2f0e-6c1b-4d0e-9d3a-1b2c3d4e5f60" } = process.env;
const ATTEMPT_TTL_MS = 300_000;
const WAIT_MS = 20_000;
const CLOSE_MS = 500;

main().catch((error: unknown) => {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exit(1);
});

async function main(): Promise<void> {
  const server = createServer();
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
  await once(server, "listening");
  const appUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const attempts = createLoginAttempts(ATTEMPT_TTL_MS);
  const demo =
    process.env.PUSH_SERVICE_SID === undefined
      ? await startDemo(appUrl, USER_IDENTITY, attempts)
      : undefined;
  const settings = readSettings(demo?.env ?? process.env);
  const { accountSid, authToken, publicUrl, service, client } = settings;

  const push = pushWebhooks({
    authToken,
    publicUrl,
    allowedAccountSids: [accountSid],
    confirm: confirmWith(client),
  });
  push.onAny((event) => console.log(`handled: ${event.type}`));
  push.onRejected((error, { path }) => console.log(`rejected: ${error.code} at ${path}`));

  const password = process.env.DEMO_PASSWORD ?? randomBytes(4).toString("hex");
  const staffKey = randomBytes(16).toString("hex");
  const app = createApp({
    push,
    service,
    accountSid,
    attempts,
    waitMs: WAIT_MS,
    checkPassword: await createCheckPassword({
      [USER]: { password, entityIdentity: USER_IDENTITY },
    }),
    sessionSecret: process.env.SESSION_SECRET ?? randomBytes(32).toString("hex"),
    isHttps: publicUrl.startsWith("https:"),
    phone: demo?.phone,
    staff: { client, key: staffKey },
  });
  server.on("request", app);
  demo?.phone.register();

  console.log(`The login:         ${appUrl}/  (user ${USER}, password ${password})`);
  console.log(`The admin console: ${appUrl}/staff?key=${staffKey}`);
  // The shell of "npm start" does not pass SIGTERM on: kill this process, not npm.
  console.log(`It runs until Ctrl-C, or "kill ${process.pid}" in another terminal.`);

  const end = async () => {
    server.close();
    server.closeIdleConnections();
    // A page that waits for its phone is told at once; a browser's unused connections do not count.
    await push.close({ deadlineMs: CLOSE_MS });
    await demo?.close();
    server.closeAllConnections();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
    process.once(signal, () => void end());
  }
}
