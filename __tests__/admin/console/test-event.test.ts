import { pushWebhooks, type PushEvent, type PushWebhooksOptions } from "express-push-verification";
import { sendTestEvent, type TestEventChoice } from "../../../lib/admin/console/test-event";
import { inspectReceiver, type ReceiverInspection } from "../../../lib/receiver/inspection";
import { findFreePort } from "../../support/ports";
import { startServer, stopServers } from "../../support/servers";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../../support/webhook-requests";

afterEach(stopServers);

/** A receiver, and what sends it test events. */
function startReceiver(options: Partial<PushWebhooksOptions> = {}) {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  const handled: PushEvent[] = [];
  push.onError(() => {});
  push.on("challenge.approved", (event) => void handled.push(event));
  push.on("challenge.denied", () => {
    throw new Error("the database is away");
  });
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const { signRequest } = inspection;
  if (signRequest === undefined) throw new Error("The receiver has several tokens.");
  const sendEvent = (choice: Partial<TestEventChoice> = {}) =>
    sendTestEvent(
      { type: "challenge.approved", version: "v2", via: "direct", ...choice },
      push,
      inspection,
      signRequest,
    );
  return { push, handled, sendEvent };
}

describe("sendTestEvent, directly", () => {
  it("runs the handlers with an event of no user, and names its uuid", async () => {
    const { handled, sendEvent } = startReceiver();
    const result = await sendEvent();
    expect(result).toEqual({
      status: 200,
      durationMs: expect.any(Number),
      failure: undefined,
      uuid: expect.stringMatching(/^console-test-[\da-f-]{36}$/),
    });
    expect(handled).toMatchObject([
      {
        uuid: result.uuid,
        version: "v2",
        account_sid: `AC${"0".repeat(32)}`,
        entity_identity: "console-test-event",
        issues: [],
      },
    ]);
  });

  it("sends a fresh uuid and a fresh challenge each time", async () => {
    const { handled, sendEvent } = startReceiver();
    await sendEvent();
    await sendEvent();
    expect(new Set(handled.map(({ uuid }) => uuid)).size).toBe(2);
    const sids = handled.map((event) => "challenge_sid" in event && event.challenge_sid);
    expect(new Set(sids).size).toBe(2);
  });

  it("is of an account and a service that the receiver allows", async () => {
    const { handled, sendEvent } = startReceiver({
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
    const { sendEvent } = startReceiver({ publicUrl });
    expect(await sendEvent()).toMatchObject({ status: 200 });
  });

  it("returns the status of a failed handler", async () => {
    const { sendEvent } = startReceiver();
    expect(await sendEvent({ type: "challenge.denied" })).toMatchObject({
      status: 500,
      failure: undefined,
    });
  });
});

describe("sendTestEvent, over the network", () => {
  it("sends to the publicUrl, and does not follow a redirect", async () => {
    const seen: string[] = [];
    const port = await startServer((req, res) => {
      seen.push(`${req.method} ${req.url}`);
      res.writeHead(302, { location: "/elsewhere" }).end();
    });
    const { handled, sendEvent } = startReceiver({ publicUrl: `http://127.0.0.1:${port}/push` });
    expect(await sendEvent({ via: "network" })).toMatchObject({ status: 302, failure: undefined });
    expect([seen, handled]).toEqual([["POST /push"], []]);
  });

  it("names the failure of a connection", async () => {
    const { sendEvent } = startReceiver({ publicUrl: `http://127.0.0.1:${await findFreePort()}/` });
    expect(await sendEvent({ via: "network" })).toMatchObject({
      status: undefined,
      failure: "ECONNREFUSED",
      uuid: expect.stringMatching(/^console-test-/),
    });
  });

  it("names a connection that ends without a response", async () => {
    const port = await startServer((req) => req.socket.destroy());
    const { sendEvent } = startReceiver({ publicUrl: `http://127.0.0.1:${port}/` });
    expect(await sendEvent({ via: "network" })).toMatchObject({
      status: undefined,
      failure: expect.stringMatching(/^(UND_ERR_SOCKET|ECONNRESET)$/),
    });
  });
});
