/** Each option that limits a time: it ends what hangs, not before, and no other limit does. */
import { join } from "node:path";
import { redisQueue } from "express-push-verification/durable";
import { sendRequest, type EmulatorOptions } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { readLibrary, readText } from "./support/docs";
import { closeLater, closeOpened, silent, storeFactor } from "./support/durable";
import { startEmulator, stopEmulators } from "./support/emulators";
import { createReceiver } from "./support/receivers";
import { startServer, startSilentTls, stopServers } from "./support/servers";
import { clientAt } from "./support/upstream";
import { createGate } from "./support/waiting";
import { AUTH_TOKEN, eventRequest } from "./support/webhook-requests";

const LIMIT_MS = 200;
/** Of the limits that are not under test. */
const LONG_MS = 2 ** 31 - 1;

afterEach(async () => {
  await closeOpened();
  await stopEmulators();
  await stopServers();
});

const startHanging = async () => `http://127.0.0.1:${await startServer(() => {})}/`;

async function startSilent(): Promise<string> {
  const tls = await startSilentTls();
  return closeLater(tls).url;
}

async function deliver(webhook_url: string, options: EmulatorOptions): Promise<unknown> {
  const emulator = await startEmulator({ connectionRetries: 0, ...options });
  emulator.createWebhook({ webhook_url });
  emulator.createFactor();
  await emulator.settled();
  return emulator.deliveries[0]?.failures[0];
}

function sendTo(url: string, options: object): Promise<unknown> {
  const request = signedRequest({ authToken: AUTH_TOKEN, publicUrl: url }, "factor.created");
  return sendRequest(request, options);
}

async function closeBusy(deadlineMs: number): Promise<unknown> {
  const options = { acknowledge: "before", handlerTimeoutMs: LONG_MS } as const;
  const { push, receive, failed } = createReceiver(options);
  const handler = createGate();
  push.onAny(() => handler.opened);
  await receive(eventRequest("factor.created"));
  await push.close({ deadlineMs });
  handler.open();
  return { code: failed.length === 0 ? "closed" : "the handler has ended" };
}

type Run = (limitMs: number) => Promise<unknown>;
/** By option: the code of the end, and what hangs; or the file that proves it. */
const ROWS: Record<string, [code: string, run: Run] | string> = {
  "AdminClientOptions.timeoutMs": [
    "TIMEOUT",
    async (timeoutMs) => clientAt(await startHanging(), { timeoutMs }).keys.page(),
  ],
  "BodyLimits.deadlineMs": "core/receiver/node-request.test.ts",
  "CloseOptions.deadlineMs": ["closed", closeBusy],
  "EmulatorOptions.connectTimeoutMs": [
    "CONNECT_TIMEOUT",
    async (connectTimeoutMs) =>
      deliver(await startSilent(), { connectTimeoutMs, totalTimeoutMs: LONG_MS }),
  ],
  "EmulatorOptions.totalTimeoutMs": [
    "TIMEOUT",
    async (totalTimeoutMs) =>
      deliver(await startHanging(), { totalTimeoutMs, connectTimeoutMs: LONG_MS }),
  ],
  "PushWebhooksOptions.deadlineMs": "core/receiver/deadline.test.ts",
  "PushWebhooksOptions.handlerTimeoutMs": "core/delivery/handlers.test.ts",
  "QueueOptions.storeTimeoutMs": [
    "STORE_UNAVAILABLE",
    (storeTimeoutMs) => {
      const options = { name: "q", connection: "redis://127.0.0.1:9", logger: silent };
      return storeFactor(closeLater(redisQueue({ ...options, storeTimeoutMs })), "a");
    },
  ],
  "RehearseOptions.timeoutMs": "admin/rehearsal/rehearse.test.ts",
  "SendRequestOptions.connectTimeoutMs": [
    "CONNECT_TIMEOUT",
    async (connectTimeoutMs) =>
      sendTo(await startSilent(), { connectTimeoutMs, timeoutMs: LONG_MS }),
  ],
  "SendRequestOptions.timeoutMs": [
    "TIMEOUT",
    async (timeoutMs) => sendTo(await startHanging(), { timeoutMs, connectTimeoutMs: LONG_MS }),
  ],
  "WaitOptions.timeoutMs": "core/delivery/challenge-wait.test.ts",
  "WorkOptions.handlerTimeoutMs": "durable/contract.ts",
};

it("has a row for each option that limits a time", () => {
  const interfaces = Array.from(readLibrary().matchAll(/^export interface (\w+)([^]*?)^\}/gm));
  const found = interfaces.flatMap(([, name, members = ""]) =>
    Array.from(
      members.matchAll(/^ {2}(?:readonly )?(\w*(?:imeout|eadline)\w*Ms)\?:/gm),
      ([, member]) => `${name}.${member}`,
    ),
  );
  expect(Object.keys(ROWS)).toEqual(found.toSorted());
});

it.each(Object.entries(ROWS))("%s ends what hangs", async (name, row) => {
  if (typeof row === "string") {
    expect(readText(join("__tests__", row))).toContain(name.split(".")[1]);
    return;
  }
  const [code, run] = row;
  const startMs = performance.now();
  const end = await run(LIMIT_MS).catch((error: unknown) => error);
  expect(end).toMatchObject({ code });
  // A timer may be early by a millisecond.
  expect(performance.now() - startMs).toBeGreaterThan(LIMIT_MS - 2);
});
