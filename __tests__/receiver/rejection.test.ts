import { WebhookError } from "../../lib/errors/webhook-error";
import { decodeForm, MAX_PARAMETERS } from "../../lib/form/form";
import { addCode, toWebhookError } from "../../lib/receiver/rejection";
import { createGetParts } from "../../lib/signature/signed-parts";

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

const malformed = thrownBy(() => decodeForm("a=%"));
const tooLong = thrownBy(() => decodeForm("a=1&".repeat(MAX_PARAMETERS + 1)));
const uncovered = thrownBy(() => createGetParts(["https://h.test/p?t=1"], "ports")("/p?a=1"));

describe("addCode", () => {
  it.each([
    ["BODY_MALFORMED", 400, malformed],
    ["BODY_TOO_LARGE", 413, tooLong],
    ["SIGNATURE_MISMATCH", 403, uncovered],
  ])("returns %s, which responds %d", (code, status, error) => {
    expect(addCode(error)).toBeInstanceOf(WebhookError);
    expect(addCode(error)).toMatchObject({ code, status, message: (error as Error).message });
  });

  it("explains the target of a GET request that no publicUrl covers", () => {
    expect((addCode(uncovered) as WebhookError).explain()?.causes).toMatchObject([
      { code: "URL_QUERY_EXTRA", subject: "https://h.test/p?t=1" },
    ]);
  });

  it("returns any other error unchanged", () => {
    for (const error of [new TypeError("x"), new WebhookError("CLOSING", "x"), undefined]) {
      expect(addCode(error)).toBe(error);
    }
  });
});

describe("toWebhookError", () => {
  it("returns INTERNAL_ERROR for an error without a code, with a cause without its arguments", () => {
    const error = toWebhookError(Object.assign(new TypeError("x"), { command: "secret" }));
    expect(error).toMatchObject({ code: "INTERNAL_ERROR", status: 500 });
    expect(error.cause).toMatchObject({ message: "x" });
    expect(error.cause).not.toHaveProperty("command");
  });

  it("returns a WebhookError unchanged", () => {
    const error = new WebhookError("CLOSING", "x");
    expect(toWebhookError(error)).toBe(error);
  });
});
