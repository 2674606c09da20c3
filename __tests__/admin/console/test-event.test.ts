import type { PushEvent, PushWebhooksOptions } from "express-push-verification";
import { findFreePort } from "../../support/ports";
import { startServer } from "../../support/servers";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";
import { startConsole, useConsoles } from "./console-app";

useConsoles();

/** A console, and the events that its receiver handled. */
async function start(receiver: Partial<PushWebhooksOptions> = {}) {
  const { call, push } = await startConsole({ receiver });
  const handled: PushEvent[] = [];
  push.on("challenge.approved", (event) => void handled.push(event));
  push.on("challenge.denied", () => {
    throw new Error("the database is away");
  });
  const sendEvent = async (choice: object = {}) =>
    (await call("/test-event", { type: "challenge.approved", ...choice })).body as unknown;
  return { handled, sendEvent };
}

const uuid = expect.stringMatching(/^console-test-[\da-f-]{36}$/);
const durationMs = expect.any(Number);

describe("a test event that is sent directly", () => {
  it("is of no user, and has a fresh uuid and a fresh challenge each time", async () => {
    const { handled, sendEvent } = await start();
    expect(await sendEvent()).toEqual({ status: 200, durationMs, uuid });
    await sendEvent();
    const account_sid = `AC${"0".repeat(32)}`;
    const common = { version: "v2", account_sid, entity_identity: "console-test-event" };
    expect(handled).toMatchObject(Array(2).fill({ uuid, ...common, issues: [] }));
    expect(new Set(handled.map((event) => event.uuid)).size).toBe(2);
    const sids = handled.map((event) => "challenge_sid" in event && event.challenge_sid);
    expect(new Set(sids).size).toBe(2);
  });

  it("is of an account and a service that the receiver allows", async () => {
    const { handled, sendEvent } = await start({
      allowedAccountSids: [ACCOUNT_SID],
      allowedServiceSids: [SERVICE_SID],
    });
    expect(await sendEvent({ version: "v1" })).toMatchObject({ status: 200 });
    expect(handled).toMatchObject([
      { version: "v1", account_sid: ACCOUNT_SID, service_sid: SERVICE_SID },
    ]);
  });

  it.each([
    "https://hooks.example.test",
    "https://hooks.example.test/a?b=c",
    "http://h.test:8080/",
  ])("reaches a receiver at %s", async (publicUrl) => {
    const { sendEvent } = await start({ publicUrl });
    expect(await sendEvent()).toMatchObject({ status: 200 });
  });

  it("has the status of a failed handler", async () => {
    const { sendEvent } = await start();
    expect(await sendEvent({ type: "challenge.denied" })).toEqual({
      status: 500,
      durationMs,
      uuid,
    });
  });
});

describe("a test event that is sent over the network", () => {
  it("goes to the publicUrl, and follows no redirect", async () => {
    const seen: string[] = [];
    const port = await startServer((req, res) => {
      seen.push(`${req.method} ${req.url}`);
      res.writeHead(302, { location: "/elsewhere" }).end();
    });
    const { handled, sendEvent } = await start({ publicUrl: `http://127.0.0.1:${port}/push` });
    expect(await sendEvent({ via: "network" })).toEqual({ status: 302, durationMs, uuid });
    expect([seen, handled]).toEqual([["POST /push"], []]);
  });

  it.each<[string, () => Promise<number>, RegExp]>([
    ["that is refused", findFreePort, /^ECONNREFUSED$/],
    [
      "that ends without a response",
      () => startServer((req) => req.socket.destroy()),
      /^(UND_ERR_SOCKET|ECONNRESET)$/,
    ],
  ])("names a connection %s", async (_how, listen, failure) => {
    const { sendEvent } = await start({ publicUrl: `http://127.0.0.1:${await listen()}/` });
    expect(await sendEvent({ via: "network" })).toEqual({
      durationMs,
      failure: expect.stringMatching(failure),
      uuid,
    });
  });
});
