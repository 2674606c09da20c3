import type { PushEvent, PushWebhooksOptions } from "express-push-verification";
import { findFreePort } from "../../support/ports";
import { startServer } from "../../support/servers";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";
import { startConsole, useConsoles } from "./console-app";

useConsoles();

/** A console, and the events that its receiver handled. */
async function start(receiver: Partial<PushWebhooksOptions> = {}) {
  const { call, push, audits } = await startConsole({ receiver });
  const handled: PushEvent[] = [];
  push.on("challenge.approved", (event) => void handled.push(event));
  push.on("challenge.denied", () => {
    throw new Error("the database is away");
  });
  const sendEvent = async (choice: object = {}) =>
    (await call("/test-event", { type: "challenge.approved", ...choice })).body as PushEvent;
  return { handled, sendEvent, audits };
}

const uuid = expect.stringMatching(/^console-test-[\da-f-]{36}$/);
const durationMs = expect.any(Number);

describe("a test event that is sent directly", () => {
  it("is of no user, has a fresh uuid, which is audited, a fresh challenge, and the status of its handlers", async () => {
    const { handled, sendEvent, audits } = await start();
    const sent = await sendEvent();
    expect(sent).toEqual({ status: 200, durationMs, uuid });
    expect(audits).toMatchObject([{ action: "test-event.send", status: 200, uuid: sent.uuid }]);
    await sendEvent();
    const failed = { status: 500, durationMs, uuid };
    expect(await sendEvent({ type: "challenge.denied" })).toEqual(failed);
    const account_sid = `AC${"0".repeat(32)}`;
    const common = { version: "v2", account_sid, entity_identity: "console-test-event" };
    expect(handled).toMatchObject(Array(2).fill({ uuid, ...common, issues: [] }));
    for (const name of ["uuid", "challenge_sid"] as const) {
      expect(new Set(handled.map((event) => Reflect.get(event, name) as string)).size).toBe(2);
    }
  });

  it("is of an account and a service that the receiver allows, at a URL without a path", async () => {
    const [account_sid, service_sid] = [ACCOUNT_SID, SERVICE_SID];
    const allowed = { allowedAccountSids: [account_sid], allowedServiceSids: [service_sid] };
    const publicUrl = "https://hooks.example.test:8080?b=c";
    const { handled, sendEvent } = await start({ ...allowed, publicUrl });
    expect(await sendEvent()).toMatchObject({ status: 200 });
    expect(handled).toMatchObject([{ account_sid, service_sid }]);
  });
});

describe("a test event that is sent over the network", () => {
  const sendTo = async (port: number) => {
    const { handled, sendEvent } = await start({ publicUrl: `http://127.0.0.1:${port}/push` });
    const sent = await sendEvent({ via: "network" });
    expect(handled).toEqual([]);
    return sent;
  };

  it("goes to the publicUrl, and follows no redirect", async () => {
    const seen: string[] = [];
    const port = await startServer((req, res) => {
      seen.push(`${req.method} ${req.url}`);
      res.writeHead(302, { location: "/elsewhere" }).end();
    });
    expect(await sendTo(port)).toEqual({ status: 302, durationMs, uuid });
    expect(seen).toEqual(["POST /push"]);
  });

  it("names a connection that is refused", async () => {
    const refused = { durationMs, failure: "ECONNREFUSED", uuid };
    expect(await sendTo(await findFreePort())).toEqual(refused);
  });
});
