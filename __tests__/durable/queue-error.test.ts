import { inspect } from "node:util";
import { WebhookError } from "express-push-verification";
import { reportQueueError, toQueueError } from "../../lib/durable/queue-error";

describe("toQueueError", () => {
  it("gives a failure of Redis a code and a cause without arguments", async () => {
    const reply = Object.assign(new Error("READONLY"), { command: { args: ["ada"] } });
    const error = await reportQueueError(Promise.reject(reply)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { message: "READONLY" } });
    expect(inspect(error, { depth: 5 })).not.toContain("ada");
  });

  it.each([new TypeError("accountSid"), new WebhookError("CLOSING", "closed")])(
    "keeps %p",
    (error) => {
      expect(toQueueError(error)).toBe(error);
    },
  );

  it("passes results on", async () => {
    await expect(reportQueueError(Promise.resolve(5))).resolves.toBe(5);
  });
});
