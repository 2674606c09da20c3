import { createHandlers, pushWebhooks, verifySignature } from "express-push-verification";
import {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "../../lib/receiver/inspection";
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
