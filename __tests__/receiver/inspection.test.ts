import {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "../../lib/receiver/inspection";
import { eventRequest } from "../support/webhook-requests";
import { createReceiver } from "../support/receivers";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();

function observe() {
  const { push, receive } = createReceiver({ methods: ["POST"] });
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const observed: ObservedRequest[] = [];
  const stop = inspection.observe((request) => void observed.push({ ...request }));
  return { inspection, observed, stop, receive };
}

describe("inspectReceiver", () => {
  it("responds 200 although an observer throws", async () => {
    const { inspection, receive } = observe();
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
});
