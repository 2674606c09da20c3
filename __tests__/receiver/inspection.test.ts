import { createHandlers, pushWebhooks, verifySignature } from "express-push-verification";
import {
  createObservers,
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "../../lib/receiver/inspection";
import { WebRequest } from "../../lib/receiver/web-request";
import { AUTH_TOKEN, CHALLENGE_SID, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

afterEach(stopServers);

const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

async function observe(options: Partial<Parameters<typeof pushWebhooks>[0]> = {}) {
  const push = pushWebhooks({ ...settings, ...options });
  push.onError(() => {});
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const observed: ObservedRequest[] = [];
  const stop = inspection.observe((request) => void observed.push({ ...request }));
  const port = await startServer((req, res) => void push(req, res));
  return { push, inspection, observed, stop, port };
}

describe("inspectReceiver", () => {
  it("finds no inspection of anything but a receiver", () => {
    expect(inspectReceiver(() => {})).toBeUndefined();
    expect(inspectReceiver(createHandlers())).toBeUndefined();
  });

  it("observes accepted, duplicate, conflicting and rejected requests", async () => {
    const { observed, port } = await observe();
    const call = eventRequest("challenge.approved");
    const uuid = new URLSearchParams(call.body).get("uuid") ?? "";
    await send(port, call);
    await send(port, call);
    await send(port, eventRequest("challenge.denied", { uuid }));
    await send(port, { ...call, body: `${call.body}x` });
    expect(observed.map(({ id, result, error }) => [id, result, error?.code])).toEqual([
      [1, "new", undefined],
      [2, "duplicate", undefined],
      [3, "conflict", undefined],
      [4, undefined, "SIGNATURE_MISMATCH"],
    ]);
    expect(observed[0]?.queued).toMatchObject({ uuid, authTokenIndex: 0, publicUrlIndex: 0 });
    expect(observed[3]?.request).toMatchObject({ method: "POST", path: "/push/events" });
  });

  it("has the event of a request whose handler failed", async () => {
    const { push, observed, port } = await observe();
    push.on("challenge.approved", () => Promise.reject(new Error("away")));
    expect((await send(port, eventRequest("challenge.approved"))).status).toBe(500);
    expect(observed).toMatchObject([
      { queued: { event: { type: "challenge.approved" } }, error: { code: "HANDLER_FAILED" } },
    ]);
  });

  it("observes a failure after the response as a change of the same request", async () => {
    const { push, observed, port } = await observe({ acknowledge: "before" });
    const failed = new Promise<void>((resolve) => void push.onError(() => resolve()));
    push.on("challenge.approved", async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error("away");
    });
    expect((await send(port, eventRequest("challenge.approved"))).status).toBe(200);
    await failed;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(observed.map(({ id, failedLater, error }) => [id, failedLater, error?.code])).toEqual([
      [1, false, undefined],
      [1, true, "HANDLER_FAILED"],
    ]);
  });

  it("responds 200 although an observer throws", async () => {
    const { inspection, port } = await observe();
    const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    inspection.observe(() => {
      throw new Error("of the observer");
    });
    expect((await send(port, eventRequest("challenge.approved"))).status).toBe(200);
    expect(warn.mock.calls).toEqual([
      [expect.any(String), expect.objectContaining({ code: "LISTENER_FAILED" })],
    ]);
    warn.mockRestore();
  });

  it("does not observe after its observer was removed", async () => {
    const { observed, stop, port } = await observe();
    stop();
    await send(port, eventRequest("challenge.approved"));
    expect(observed).toEqual([]);
  });

  it("counts the pending waits and knows when the oldest began", async () => {
    const { push, inspection, port } = await observe();
    expect(inspection.readPendingWaits()).toEqual({ count: 0, oldestStartMs: undefined });
    const beforeMs = performance.now();
    const wait = push.waitForChallenge({
      challengeSid: CHALLENGE_SID,
      entityIdentity: "user-7f3a-22",
    });
    const { count, oldestStartMs = 0 } = inspection.readPendingWaits();
    expect(count).toBe(1);
    expect(oldestStartMs).toBeGreaterThanOrEqual(beforeMs);
    await send(port, eventRequest("challenge.approved"));
    await wait;
    expect(inspection.readPendingWaits().count).toBe(0);
  });

  it.each([
    ["one token", AUTH_TOKEN, true, 1],
    ["a list of one token", [AUTH_TOKEN], true, 1],
    ["two tokens", [AUTH_TOKEN, "old"], false, 2],
    ["a function", () => AUTH_TOKEN, false, undefined],
  ])("signs with %s: %#", async (_name, authToken, canSign, tokenCount) => {
    const { inspection } = await observe({ authToken });
    expect(inspection.tokenCount).toBe(tokenCount);
    const params = [["uuid", "a"]] as const;
    const signed = inspection.signRequest?.(params);
    expect(signed !== undefined).toBe(canSign);
    if (signed === undefined) return;
    const signature = signed.headers["x-service-signature"] ?? "";
    expect(verifySignature({ ...settings, url: PUBLIC_URL, params, signature })).toBeDefined();
  });
});

describe("createObservers", () => {
  it("starts no observation without an observer", () => {
    const { start, observe: add } = createObservers();
    const request = new WebRequest(new Request(PUBLIC_URL), { limitBytes: 1, bodyTimeoutMs: 1 });
    expect(start(request)).toBeUndefined();
    add(() => {});
    expect(start(request)).toMatchObject({ id: 1, request: { method: "GET" } });
  });
});
