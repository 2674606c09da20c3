import { createClosedError } from "../../lib/durable/closed-error";

it("creates a new error each time, whose response asks the service to send the event again", () => {
  expect(createClosedError()).toMatchObject({ code: "CLOSING", status: 503 });
  expect(createClosedError()).not.toBe(createClosedError());
});
