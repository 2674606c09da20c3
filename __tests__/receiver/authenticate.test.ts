import { resolveVerifyOptions, type VerifyOptions } from "../../lib/receiver/verify-options";
import { sign } from "../../lib/signature/signature";
import { createPostParts } from "../../lib/signature/signed-parts";
import { createAuthenticate } from "../../lib/receiver/authenticate";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../support/webhook-requests";
import { headers, params, readEvidence, verifyEvent } from "../support/verify-event";

describe("createAuthenticate", () => {
  it.each<[string, VerifyOptions["authToken"], number]>([
    ["one token", AUTH_TOKEN, 0],
    ["several", ["next", AUTH_TOKEN], 1],
    ["a resolver of one", () => AUTH_TOKEN, 0],
    ["a resolver of several", async () => ["next", AUTH_TOKEN], 1],
  ])("accepts %s", async (_what, authToken, authTokenIndex) => {
    const verified = await verifyEvent({ authToken });
    expect(verified).toMatchObject({ authTokenIndex, event: { type: "challenge.approved" } });
  });

  it("lists the signatures of the other tokens, and nothing for one token", async () => {
    const alternatives = createPostParts([PUBLIC_URL], "ports")(params);
    const authenticateWith = (authToken: VerifyOptions["authToken"]) => {
      const settings = resolveVerifyOptions({ authToken, publicUrl: PUBLIC_URL });
      return createAuthenticate(settings)(headers, alternatives, readEvidence);
    };
    const others = ["next", "last"].map((token) =>
      sign({ authToken: token, url: PUBLIC_URL, params }),
    );
    const several = await authenticateWith(["next", AUTH_TOKEN, "last"]);
    expect(several.listOtherSignatures?.()).toEqual(others);
    expect((await authenticateWith(AUTH_TOKEN)).listOtherSignatures).toBeUndefined();
  });

  it("passes the claimed identity to the resolver", async () => {
    const resolver = jest.fn(() => AUTH_TOKEN);
    await verifyEvent({ authToken: resolver });
    expect(resolver.mock.calls).toEqual([[{ account_sid: ACCOUNT_SID, service_sid: SERVICE_SID }]]);
  });

  it.each([[undefined], [""], [[]], [[""]], [null], ["another token"]])(
    "rejects when the resolver returns %j",
    async (found) => {
      const verified = verifyEvent({ authToken: () => found as string });
      await expect(verified).rejects.toMatchObject({ code: "SIGNATURE_MISMATCH" });
    },
  );

  it("retries a resolver that fails at first", async () => {
    let calls = 0;
    const verified = await verifyEvent({
      authToken: () => {
        if (calls++ === 0) throw new Error("database restarts");
        return AUTH_TOKEN;
      },
    });
    expect(verified.authTokenIndex).toBe(0);
  });

  it.each<[string, readonly string[], string | undefined]>([
    ["the service of the request", [SERVICE_SID], undefined],
    ["another service", [SERVICE_SID.replace("VA4", "VA5")], "ACCOUNT_NOT_ALLOWED"],
    ["no service", [], "ACCOUNT_NOT_ALLOWED"],
    ["a service that is no list", SERVICE_SID as never, "ACCOUNT_NOT_ALLOWED"],
  ])("binds the token of a resolver to %s", async (_what, serviceSids, code) => {
    const verified = verifyEvent({ authToken: () => ({ authToken: AUTH_TOKEN, serviceSids }) });
    if (code === undefined) await expect(verified).resolves.toHaveProperty("authTokenIndex", 0);
    else await expect(verified).rejects.toMatchObject({ code, status: 403 });
  });

  it("accepts any of several publicUrls and returns its index", async () => {
    const publicUrl = ["https://new.example.test/push", PUBLIC_URL];
    expect(await verifyEvent({ publicUrl })).toHaveProperty("publicUrlIndex", 1);
    expect(await verifyEvent({ publicUrl: publicUrl.toReversed() })).toHaveProperty(
      "publicUrlIndex",
      0,
    );
    await expect(verifyEvent({ publicUrl: publicUrl.slice(0, 1) })).rejects.toHaveProperty(
      "code",
      "SIGNATURE_MISMATCH",
    );
  });

  it("stops waiting for a slow resolver at the deadline of the request", async () => {
    const settings = resolveVerifyOptions({
      authToken: () => new Promise(() => {}),
      publicUrl: PUBLIC_URL,
    });
    const startMs = performance.now();
    const alternatives = createPostParts([PUBLIC_URL], "ports")(params);
    const verified = createAuthenticate(settings)(
      headers,
      alternatives,
      readEvidence,
      startMs + 50,
    );
    await expect(verified).rejects.toMatchObject({ code: "TOKEN_UNAVAILABLE", status: 503 });
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  it("uses urlMatching", async () => {
    const publicUrl = PUBLIC_URL.replace(".test/", ".test:443/");
    await expect(verifyEvent({ publicUrl })).resolves.toBeDefined();
    await expect(verifyEvent({ publicUrl, urlMatching: "exact" })).rejects.toHaveProperty(
      "code",
      "SIGNATURE_MISMATCH",
    );
  });
});
