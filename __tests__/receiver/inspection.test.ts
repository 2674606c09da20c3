import { createHandlers, verifySignature } from "express-push-verification";
import {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "../../lib/receiver/inspection";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { createReceiver } from "../support/receivers";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();

function observe(options: Parameters<typeof createReceiver>[0] = {}) {
  const { push, receive } = createReceiver(options);
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const observed: ObservedRequest[] = [];
  const stop = inspection.observe((request) => void observed.push({ ...request }));
  return { inspection, observed, stop, receive };
}

describe("inspectReceiver", () => {
  it("finds no inspection of anything but a receiver", () => {
    expect(inspectReceiver(() => {})).toBeUndefined();
    expect(inspectReceiver(createHandlers())).toBeUndefined();
  });

  it("responds 200 although an observer throws", async () => {
    const { inspection, receive } = observe({ methods: ["POST"] });
    inspection.observe(() => {
      throw new Error("of the observer");
    });
    expect(await receive(eventRequest("challenge.approved"))).toBe(200);
    expect(warnings.listCodes()).toEqual(["LISTENER_FAILED"]);
  });

  it("does not observe after its observer was removed", async () => {
    const { observed, stop, receive } = observe();
    stop();
    await receive(eventRequest("challenge.approved"));
    expect(observed).toEqual([]);
  });

  it.each([
    ["one token", AUTH_TOKEN, true, 1],
    ["a list of one token", [AUTH_TOKEN], true, 1],
    ["two tokens", [AUTH_TOKEN, "old"], false, 2],
    ["a function", () => AUTH_TOKEN, false, undefined],
  ])("signs with %s: %#", async (_name, authToken, canSign, tokenCount) => {
    const { inspection } = observe({ authToken });
    expect(inspection.tokenCount).toBe(tokenCount);
    const params = [["uuid", "a"]] as const;
    const signed = inspection.signRequest?.(params);
    expect(signed !== undefined).toBe(canSign);
    if (signed === undefined) return;
    const signature = signed.headers["x-service-signature"] ?? "";
    expect(
      verifySignature({ authToken: AUTH_TOKEN, url: PUBLIC_URL, params, signature }),
    ).toBeDefined();
  });
});
