import express from "express";
import supertest from "supertest";
import * as main from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { CHALLENGE_SID as challengeSid } from "./support/webhook-requests";
import { loadCopy } from "./support/package-copy";
import { createGate, never, until } from "./support/waiting";
import { startServer, stopServers } from "./support/servers";

const options = { authToken: "token", publicUrl: "https://app.example.com/push" };
const { path, headers, body } = signedRequest(options, "challenge.approved");
const LOADED: [when: string, load: () => typeof main][] = [
  ["before the timers were faked", () => main],
  // As with `fakeTimers: { enableGlobally: true }` in the settings of Jest.
  ["while the timers are faked", loadCopy],
];

beforeEach(() => void jest.useFakeTimers());
afterEach(async () => {
  jest.useRealTimers();
  await stopServers();
});

describe.each(LOADED)("a receiver that was loaded %s of Jest", (_when, load) => {
  it("responds to a body of any size before it closes", async () => {
    const push = load().pushWebhooks(options);
    const app = express().use("/push", push);
    const post = (text: string) => supertest(app).post(path).set(headers).send(text);
    await post(body!).expect(200);
    await post("a=b").expect(403);
    await post("a".repeat(400_000)).expect(413);
    await push.close();
  });

  it("resolves push.close() at its deadline while handlers run", async () => {
    const gate = createGate();
    const push = load()
      .pushWebhooks(options)
      .onAny(() => (gate.open(), never()));
    const port = await startServer(express().use("/push", push));
    const init = { method: "POST", headers, body: body! };
    fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => {});
    await gate.opened;
    await push.close({ deadlineMs: 50 });
  });

  it("times out by the faked clock: waits and the retries of a store", async () => {
    const down = () => Promise.reject(new Error("down"));
    const claim = jest.fn(down);
    const dedupe = { claim, complete: down, release: down };
    const push = load().pushWebhooks({ ...options, dedupe });
    push.onRejected(() => {});
    const wait = push.waitForChallenge({ challengeSid, entityIdentity: "u", timeoutMs: 5_000 });
    const settled = expect(wait).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    const app = express().use("/push", push);
    // supertest sends a request when it is awaited.
    const post = async () => supertest(app).post(path).set(headers).send(body).expect(503);
    const response = post();
    await until(() => claim.mock.calls.length > 0);
    jest.advanceTimersByTime(8_000);
    await settled;
    await response;
    await push.close();
  });
});
