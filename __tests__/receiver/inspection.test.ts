import { inspectReceiver, type ReceiverInspection } from "../../lib/receiver/inspection";
import { eventRequest } from "../support/webhook-requests";
import { createReceiver } from "../support/receivers";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();

it("an observer that throws changes no response, and one that was removed observes no more", async () => {
  const { push, receive } = createReceiver({ methods: ["POST"] });
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const observer = jest.fn(() => {
    throw new Error("of the observer");
  });
  const stop = inspection.observe(observer);
  expect(await receive(eventRequest("challenge.approved"))).toBe(200);
  stop();
  await receive(eventRequest("challenge.approved"));
  expect(observer).toHaveBeenCalledTimes(1);
  expect(warnings.listCodes()).toEqual(["LISTENER_FAILED"]);
});
