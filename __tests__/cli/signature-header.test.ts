import { findSignature } from "../../lib/cli/signature-header";
import { UsageError } from "../../lib/cli/usage-error";

describe("findSignature", () => {
  it.each<[string[], string | undefined, string | undefined]>([
    [["abc="], undefined, "abc="],
    [["X-Any: abc="], undefined, "abc="],
    [["X-Service-Signature:abc=", "Host: a"], undefined, "abc="],
    [["X-Hub-Signature: x", "x-service-signature: abc="], undefined, "abc="],
    [["Host: a", "X-Twilio-Signature: abc="], undefined, "abc="],
    [["abc=", "Host: a"], undefined, "abc="],
    [["X-Any: abc=", "X-Service-Signature: x"], "x-ANY", "abc="],
    [["X-Service-Signature: a", "X-Service-Signature: b"], undefined, "a, b"],
    [["Host: a", "Accept: b"], undefined, undefined],
    [["Host: a", "Accept: b"], "X-Service-Signature", undefined],
    [[], undefined, undefined],
  ])("finds in %j with the name %s: %s", (lines, name, signature) => {
    expect(findSignature(lines, name)).toBe(signature);
  });

  it("rejects several possible headers with a UsageError", () => {
    const lines = ["X-A-Signature: a", "X-B-Signature: b"];
    expect(() => findSignature(lines)).toThrow(UsageError);
    expect(findSignature(lines, "X-A-Signature")).toBe("a");
  });
});
