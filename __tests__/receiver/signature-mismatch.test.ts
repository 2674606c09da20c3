import { inspect } from "node:util";
import { WebhookError } from "../../lib/errors/webhook-error";
import { resolveVerifyOptions, type VerifyOptions } from "../../lib/receiver/verify-options";
import { createGetParts, createPostParts } from "../../lib/signature/signed-parts";
import { createAuthenticate } from "../../lib/receiver/authenticate";
import { toWebhookError } from "../../lib/receiver/rejection";
import { AUTH_TOKEN, PUBLIC_URL, signedRequestOf } from "../support/webhook-requests";
import { headers, params, readEvidence, signature, verifyEvent } from "../support/verify-event";

const personal = params.flatMap(([name, value]) =>
  /^(entity|.*(name|metadata|details)$)/.test(name) ? [value] : [],
);
const escape = (text: string) => text.replaceAll(/[$()*+.?[\]^{|}\\]/g, "\\$&");

describe("createMismatch", () => {
  it.each<[string, Partial<VerifyOptions>, string]>([
    ["another scheme", { publicUrl: PUBLIC_URL.replace("https", "http") }, "URL_SCHEME"],
    ["a path that only the request has", { publicUrl: "https://hooks.example.test/" }, "URL_PATH"],
    ["a token in quotes", { authToken: `"${AUTH_TOKEN}"` }, "TOKEN_WHITESPACE"],
    ["another token", { authToken: "another" }, "TOKEN_WRONG"],
    ["none of several tokens", { authToken: () => ["another", "one"] }, "TOKEN_WRONG"],
  ])("is explained: %s", async (_what, options, code) => {
    const error = await verifyEvent(options).catch(
      (rejection: unknown) => rejection as WebhookError,
    );
    if (!(error instanceof WebhookError)) throw new Error("It was accepted.");
    expect(error.explain()?.causes[0]).toMatchObject({ code });
    expect(inspect([error, error.explain()], { showHidden: true, depth: 9 })).not.toMatch(
      new RegExp([AUTH_TOKEN, signature, ...personal].map(escape).join("|")),
    );
  });

  it("is explained for a GET request without the parameters in its URL", async () => {
    const settings = resolveVerifyOptions({ authToken: "x", publicUrl: PUBLIC_URL });
    const { path } = signedRequestOf(params, { method: "GET", authToken: "y" });
    const verified = createAuthenticate(settings)(
      { method: "GET", signature },
      createGetParts([PUBLIC_URL], "ports")(path),
      () => ({ url: `https://hooks.example.test${path}`, body: undefined }),
    );
    const error = await verified.catch((rejection: unknown) => rejection as WebhookError);
    const report = JSON.stringify((error as WebhookError).explain());
    expect(report).toContain("events?…");
    expect(report).not.toContain("entity_identity");
    for (const name of ["entity_identity", "factor_friendly_name", "challenge_details"]) {
      const value = params.find((pair) => pair[0] === name)?.[1] ?? "missing";
      expect(report).not.toContain(encodeURIComponent(value));
    }
  });

  it("is explained for a token of another account, and for an extra query of publicUrl", async () => {
    const other = `AC${"0".repeat(32)}`;
    const error = await verifyEvent({ authToken: "x", allowedAccountSids: [other] }).catch(
      (rejection: unknown) => rejection as WebhookError,
    );
    expect((error as WebhookError).explain()?.causes[0]).toHaveProperty("code", "TOKEN_ACCOUNT");
    const covered = Promise.resolve().then(() =>
      createGetParts(["https://h.test/p?t=1"], "ports")("/p?a=1"),
    );
    const rejection = await covered.catch((thrown: unknown) => toWebhookError(thrown));
    expect((rejection as WebhookError).explain()?.causes).toMatchObject([
      { code: "URL_QUERY_EXTRA", subject: "https://h.test/p?t=1" },
    ]);
  });

  it("shows no user info of publicUrl", async () => {
    const publicUrl = "https://svc:hunter2@hooks.example.test/elsewhere";
    const error = await verifyEvent({ publicUrl, authToken: "x" }).catch(
      (rejection: unknown) => rejection as WebhookError,
    );
    expect(JSON.stringify((error as WebhookError).explain())).not.toContain("hunter2");
  });

  it("is explained within the budget of its receiver, which is free again after a minute", async () => {
    let nowMs = 0;
    jest.spyOn(performance, "now").mockImplementation(() => nowMs);
    const createReceiver = () => {
      const settings = resolveVerifyOptions({ authToken: "x", publicUrl: PUBLIC_URL });
      const authenticate = createAuthenticate(settings);
      return async () => {
        const parts = createPostParts([PUBLIC_URL], "ports")([]);
        const verified = authenticate(headers, parts, readEvidence);
        return (await verified.catch((rejection: unknown) => rejection)) as WebhookError;
      };
    };
    const [reject, rejectElsewhere] = [createReceiver(), createReceiver()];
    const reported: boolean[] = [];
    let last = await reject();
    for (let count = 0; count < 12; count++) {
      last = await reject();
      reported.push(last.explain() !== undefined);
    }
    expect(reported).toEqual([...Array(10).fill(true), false, false]);
    expect((await rejectElsewhere()).explain()).toBeDefined();
    nowMs += 59_999;
    expect(last.explain()).toBeUndefined();
    nowMs += 1;
    expect(last.explain()).toMatchObject({ matches: false });
    jest.restoreAllMocks();
  });

  it("has no explanation when there is no token", async () => {
    const error = await verifyEvent({ authToken: () => undefined }).catch(
      (rejection: unknown) => rejection,
    );
    expect((error as WebhookError).explain()).toBeUndefined();
  });
});
