/** How a login of examples/login.ts ends, as the table of docs/challenges.md says. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Express } from "express";
import type { PushWebhooks } from "express-push-verification";
import { readSection, readText } from "../support/docs";
import { send, startServer, stopServers } from "../support/servers";
import { countTime } from "../support/waiting";
import { useWarnings } from "../support/warnings";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  FACTOR_SID,
  PUBLIC_URL,
  SERVICE_SID,
} from "../support/webhook-requests";

const USER = "user-7f3a-22";
const folder = join(__dirname, ".readme-login");
useWarnings();
countTime();
afterEach(stopServers);

/** The challenge as the API of the service shows it. */
let shown: Record<string, unknown>;
const api = createServer((req, res) => {
  const [, identity = USER] = /Entities\/([^/]+)/.exec(req.url ?? "") ?? [];
  const sids = { sid: CHALLENGE_SID, service_sid: SERVICE_SID, factor_sid: FACTOR_SID };
  const date_responded = new Date().toISOString();
  res.end(
    JSON.stringify({ ...sids, account_sid: ACCOUNT_SID, identity, date_responded, ...shown }),
  );
});
beforeAll(async () => {
  await once(api.listen(0, "127.0.0.1"), "listening");
  mkdirSync(folder, { recursive: true });
  Object.assign(process.env, {
    PUSH_AUTH_TOKEN: AUTH_TOKEN,
    PUSH_PUBLIC_URL: PUBLIC_URL,
    PUSH_VERIFY_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    PUSH_ACCOUNT_SID: ACCOUNT_SID,
    PUSH_SERVICE_SID: SERVICE_SID,
  });
  Object.assign(globalThis, {
    checkPassword: () => Promise.resolve(USER),
    findFactorSid: () => Promise.resolve(FACTOR_SID),
  });
});
afterAll(() => {
  api.close().closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;

async function begin() {
  const file = join(folder, `login-${++count}.ts`);
  const code = readText("examples/login.ts")
    .replace("timeoutMs: 25_000", "timeoutMs: 300")
    .replace("app.listen(process.env.PORT ?? 3000);", "export { app, push };");
  writeFileSync(file, code);
  const { app, push } = require(file) as { app: Express; push: PushWebhooks };
  const port = await startServer(app);
  const post = async (path: string, body?: string) => {
    const headers = { "content-type": "application/json" };
    return send(port, { method: "POST", path, headers, body });
  };
  const begun = await post("/login", "{}");
  const { attempt } = (await begun.json()) as { attempt: string };
  const wait = async () => (await post(`/login/${attempt}`)).status;
  const deliver = async (type: "challenge.approved" | "challenge.denied", user = USER) => {
    const event = eventRequest(type, { entity_identity: user });
    return (await send(port, { ...event, path: "/webhooks/push" })).status;
  };
  return { push, post, wait, deliver };
}

it.each<[what: string, exit: number, run: () => Promise<number>]>([
  [
    "the user denies",
    403,
    async () => {
      shown = { status: "denied" };
      const { wait, deliver } = await begin();
      const waiting = wait();
      expect(await deliver("challenge.denied")).toBe(200);
      return waiting;
    },
  ],
  [
    "the user does nothing for 25 s",
    202,
    async () => {
      shown = { status: "pending", date_responded: null };
      return (await begin()).wait();
    },
  ],
  [
    "the webhook request never arrives",
    200,
    async () => {
      shown = { status: "approved" };
      return (await begin()).wait();
    },
  ],
  [
    "`confirm` says no: a forged approval",
    202,
    async () => {
      shown = { status: "expired", date_responded: null };
      const { wait, deliver } = await begin();
      const waiting = wait();
      expect(await deliver("challenge.approved")).toBe(403);
      return waiting;
    },
  ],
  [
    "the approval is of another user",
    403,
    async () => {
      shown = { status: "approved" };
      const { wait, deliver } = await begin();
      expect(await deliver("challenge.approved", "mallory-1")).toBe(200);
      return wait();
    },
  ],
  [
    "the process shuts down",
    503,
    async () => {
      shown = { status: "pending", date_responded: null };
      const { push, wait } = await begin();
      await push.close();
      return wait();
    },
  ],
])("%s: %i", async (what, exit, run) => {
  const section = readSection("docs/challenges.md", "### The sequence, and how it ends");
  const row = section.split("\n").find((line) => line.startsWith(`| ${what} `)) ?? "";
  expect(row.split("|")[3]?.trim()).toMatch(new RegExp(`^${exit}\\b`));
  expect(await run()).toBe(exit);
});

it("an attempt ends with its outcome", async () => {
  shown = { status: "approved" };
  const { post, wait } = await begin();
  expect(await wait()).toBe(200);
  expect(await wait()).toBe(404);
  expect((await post("/login/unknown")).status).toBe(404);
});
