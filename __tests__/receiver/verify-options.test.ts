import { resolveVerifyOptions, type VerifyOptions } from "../../lib/receiver/verify-options";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL } from "../support/webhook-requests";

const good: VerifyOptions = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const otherSid = ACCOUNT_SID.replace("AC3", "AC4");

describe("resolveVerifyOptions", () => {
  it("adds the defaults", () => {
    expect(resolveVerifyOptions(good)).toEqual({
      authToken: AUTH_TOKEN,
      publicUrls: [PUBLIC_URL],
      methods: ["POST"],
      signatureHeader: "x-service-signature",
      urlMatching: "ports",
      limitBytes: 65_536,
      allowedAccountSids: undefined,
      allowedServiceSids: undefined,
      extraParameters: [],
      undeclaredParameters: "reject",
    });
  });

  it("accepts undefined for every optional option", () => {
    const options = {
      ...good,
      signatureHeader: undefined,
      urlMatching: undefined,
      limitBytes: undefined,
      allowedAccountSids: undefined,
      allowedServiceSids: undefined,
      extraParameters: undefined,
    };
    expect(resolveVerifyOptions(options)).toEqual(resolveVerifyOptions(good));
  });

  it("copies lists, so that a later change has no effect", () => {
    const authToken = ["a", "b"];
    const settings = resolveVerifyOptions({ ...good, authToken });
    authToken.push("c");
    expect(settings.authToken).toEqual(["a", "b"]);
  });

  it.each<[string, Partial<VerifyOptions>, boolean]>([
    ["a list of tokens and several accounts", { authToken: ["a", "b"] }, false],
    ["a function and several accounts", { authToken: () => "a" }, true],
    ["one token and several accounts", { authToken: "a" }, true],
    [
      "a list of tokens and one account",
      { authToken: ["a", "b"], allowedAccountSids: [ACCOUNT_SID] },
      true,
    ],
  ])("with %s", (_what, options, isAccepted) => {
    const resolve = () =>
      resolveVerifyOptions({
        ...good,
        allowedAccountSids: [ACCOUNT_SID, otherSid],
        ...options,
      });
    if (isAccepted) expect(resolve).not.toThrow();
    else expect(resolve).toThrow(TypeError);
  });
});
