import { inspect } from "node:util";
import { WebhookError } from "../lib/errors";
import { resolveVerifyOptions, type VerifyOptions } from "../lib/verify-options";
import { createCoverGet, createCoverPost } from "../lib/signed-parts";
import { createVerifyRequest } from "../lib/verify";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  callParams,
  PUBLIC_URL,
  SERVICE_SID,
  signedCall,
} from "./support/calls";

const params = callParams("challenge.approved");
const signature = signedCall(params).headers["x-service-signature"] ?? "";
const head = { method: "POST", signature } as const;

const personal = params.flatMap(([name, value]) =>
  /^(entity|.*(name|metadata|details)$)/.test(name) ? [value] : [],
);
const escape = (text: string) => text.replaceAll(/[$()*+.?[\]^{|}\\]/g, "\\$&");

function verify(options: Partial<VerifyOptions>) {
  const settings = resolveVerifyOptions("test", {
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    ...options,
  });
  return createVerifyRequest(settings)(
    head,
    createCoverPost(settings.publicUrls, settings.urlMatching)(params),
    received,
  );
}

const received = { readUrl: () => PUBLIC_URL, readBody: () => undefined };

describe("createVerifyRequest", () => {
  it.each<[string, VerifyOptions["authToken"], number]>([
    ["one token", AUTH_TOKEN, 0],
    ["several", ["next", AUTH_TOKEN], 1],
    ["a resolver of one", () => AUTH_TOKEN, 0],
    ["a resolver of several", async () => ["next", AUTH_TOKEN], 1],
  ])("takes %s", async (_what, authToken, authTokenIndex) => {
    const verified = await verify({ authToken });
    expect(verified).toMatchObject({ authTokenIndex, event: { type: "challenge.approved" } });
  });

  it("asks the resolver with what the call claims", async () => {
    const resolver = jest.fn(() => AUTH_TOKEN);
    await verify({ authToken: resolver });
    expect(resolver.mock.calls).toEqual([[{ account_sid: ACCOUNT_SID, service_sid: SERVICE_SID }]]);
  });

  it.each([[undefined], [""], [[]], [[""]], [null], ["another token"]])(
    "refuses when the resolver finds %j",
    async (found) => {
      const verified = verify({ authToken: () => found as string });
      await expect(verified).rejects.toMatchObject({ code: "SIGNATURE_MISMATCH" });
    },
  );

  it("sits out a resolver that fails for a moment", async () => {
    let calls = 0;
    const verified = await verify({
      authToken: () => {
        if (calls++ === 0) throw new Error("database restarts");
        return AUTH_TOKEN;
      },
    });
    expect(verified.authTokenIndex).toBe(0);
  });

  it.each([
    ["a signature that matches", signature, "fulfilled", 3],
    [
      "a signature that does not",
      signature.replace(/^./, (first) => (first === "A" ? "B" : "A")),
      "rejected",
      2,
    ],
  ])(
    "looks an account without a token up again only after a verified signature: %s",
    async (...row) => {
      const [, first, status, lookups] = row;
      const found = [AUTH_TOKEN, undefined, AUTH_TOKEN];
      const resolver = jest.fn(() => found.shift());
      const settings = resolveVerifyOptions("test", { authToken: resolver, publicUrl: PUBLIC_URL });
      const verifyRequest = createVerifyRequest(settings);
      const results: PromiseSettledResult<unknown>[] = [];
      for (const given of [first, signature, signature]) {
        const parts = createCoverPost([PUBLIC_URL], "ports")(params);
        const call = verifyRequest({ method: "POST", signature: given }, parts, received);
        results.push(...(await Promise.allSettled([call])));
      }
      expect(results.map((result) => result.status).slice(1)).toEqual(["rejected", status]);
      expect(resolver).toHaveBeenCalledTimes(lookups);
    },
  );

  it.each<[string, readonly string[], string | undefined]>([
    ["the service of the request", [SERVICE_SID], undefined],
    ["another service", [SERVICE_SID.replace("VA4", "VA5")], "ACCOUNT_NOT_ALLOWED"],
    ["no service", [], "ACCOUNT_NOT_ALLOWED"],
    ["a service that is no list", SERVICE_SID as never, "ACCOUNT_NOT_ALLOWED"],
  ])("binds the token of a resolver to %s", async (_what, serviceSids, code) => {
    const verified = verify({ authToken: () => ({ authToken: AUTH_TOKEN, serviceSids }) });
    if (code === undefined) await expect(verified).resolves.toHaveProperty("authTokenIndex", 0);
    else await expect(verified).rejects.toMatchObject({ code, status: 403 });
  });

  it("accepts any of several publicUrls and returns its index", async () => {
    const publicUrl = ["https://new.example.test/push", PUBLIC_URL];
    expect(await verify({ publicUrl })).toHaveProperty("publicUrlIndex", 1);
    expect(await verify({ publicUrl: publicUrl.toReversed() })).toHaveProperty("publicUrlIndex", 0);
    await expect(verify({ publicUrl: publicUrl.slice(0, 1) })).rejects.toHaveProperty(
      "code",
      "SIGNATURE_MISMATCH",
    );
  });

  it("gives up a slow resolver at the deadline of the request", async () => {
    const settings = resolveVerifyOptions("test", {
      authToken: () => new Promise(() => {}),
      publicUrl: PUBLIC_URL,
    });
    const startMs = performance.now();
    const alternatives = createCoverPost([PUBLIC_URL], "ports")(params);
    const verified = createVerifyRequest(settings)(head, alternatives, received, startMs + 50);
    await expect(verified).rejects.toMatchObject({ code: "TOKEN_UNAVAILABLE", status: 503 });
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  it("uses urlMatching", async () => {
    const publicUrl = PUBLIC_URL.replace(".test/", ".test:443/");
    await expect(verify({ publicUrl })).resolves.toBeDefined();
    await expect(verify({ publicUrl, urlMatching: "exact" })).rejects.toHaveProperty(
      "code",
      "SIGNATURE_MISMATCH",
    );
  });
});

describe("a mismatch", () => {
  it.each<[string, Partial<VerifyOptions>, string]>([
    ["another scheme", { publicUrl: PUBLIC_URL.replace("https", "http") }, "URL_SCHEME"],
    [
      "a path that only the request shows",
      { publicUrl: "https://hooks.example.test/" },
      "URL_PATH",
    ],
    ["a token with a line break", { authToken: `${AUTH_TOKEN}\n` }, "TOKEN_WHITESPACE"],
    ["another token", { authToken: "another" }, "TOKEN_WRONG"],
    ["none of several tokens", { authToken: () => ["another", "one"] }, "TOKEN_WRONG"],
  ])("explains itself: %s", async (_what, options, code) => {
    const error = await verify(options).catch((refusal: unknown) => refusal as WebhookError);
    if (!(error instanceof WebhookError)) throw new Error("It was taken.");
    expect(error.explain()?.causes[0]).toMatchObject({ code });
    expect(inspect([error, error.explain()], { showHidden: true, depth: 9 })).not.toMatch(
      new RegExp([AUTH_TOKEN, signature, ...personal].map(escape).join("|")),
    );
  });

  it("explains a GET call without what its URL says of the user", async () => {
    const settings = resolveVerifyOptions("test", { authToken: "x", publicUrl: PUBLIC_URL });
    const { path } = signedCall(params, { method: "GET", authToken: "y" });
    const verified = createVerifyRequest(settings)(
      { method: "GET", signature },
      createCoverGet([PUBLIC_URL], "ports")(path),
      { ...received, readUrl: () => `https://hooks.example.test${path}` },
    );
    const error = await verified.catch((refusal: unknown) => refusal as WebhookError);
    const report = JSON.stringify((error as WebhookError).explain());
    expect(report).toContain("events?…");
    expect(report).not.toContain("entity_identity");
    for (const name of ["entity_identity", "factor_friendly_name", "challenge_details"]) {
      const value = params.find((pair) => pair[0] === name)?.[1] ?? "missing";
      expect(report).not.toContain(encodeURIComponent(value));
    }
  });

  it("explains a token of another account, and a query that publicUrl has too much", async () => {
    const other = `AC${"0".repeat(32)}`;
    const error = await verify({ authToken: "x", allowedAccountSids: [other] }).catch(
      (refusal: unknown) => refusal as WebhookError,
    );
    expect((error as WebhookError).explain()?.causes[0]).toHaveProperty("code", "TOKEN_ACCOUNT");
    const covered = Promise.resolve().then(() =>
      createCoverGet(["https://h.test/p?t=1"], "ports")("/p?a=1"),
    );
    const refusal = await covered.catch((thrown: unknown) => thrown as WebhookError);
    expect((refusal as WebhookError).explain()?.causes).toMatchObject([
      { code: "URL_QUERY_EXTRA", subject: "https://h.test/p?t=1" },
    ]);
  });

  it("shows no user info of publicUrl", async () => {
    const publicUrl = "https://svc:hunter2@hooks.example.test/elsewhere";
    const error = await verify({ publicUrl, authToken: "x" }).catch(
      (refusal: unknown) => refusal as WebhookError,
    );
    expect(JSON.stringify((error as WebhookError).explain())).not.toContain("hunter2");
  });

  it("is explained within the budget of its receiver, which is back after a minute", async () => {
    let nowMs = 0;
    jest.spyOn(performance, "now").mockImplementation(() => nowMs);
    const createReceiver = () => {
      const settings = resolveVerifyOptions("test", { authToken: "x", publicUrl: PUBLIC_URL });
      const verifyRequest = createVerifyRequest(settings);
      return async () => {
        const verified = verifyRequest(head, createCoverPost([PUBLIC_URL], "ports")([]), received);
        return (await verified.catch((refusal: unknown) => refusal)) as WebhookError;
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

  it("has nothing to explain when there is no token", async () => {
    const error = await verify({ authToken: () => undefined }).catch((refusal: unknown) => refusal);
    expect((error as WebhookError).explain()).toBeUndefined();
  });
});
