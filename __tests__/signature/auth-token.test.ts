import { createHmac } from "node:crypto";
import * as library from "express-push-verification";
import {
  pushWebhooks,
  sign,
  verifyPushRequest,
  verifySignature,
  type AuthTokens,
} from "express-push-verification";
import { createEmulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  eventRequest,
  PUBLIC_URL as publicUrl,
  SERVICE_SID,
  signedRequestOf,
  toWebRequest,
} from "../support/webhook-requests";

const GUESSABLE = [
  "",
  " ",
  "\t\n",
  "\0",
  "undefined",
  "null",
  "NaN",
  "[object Object]",
  "[object Promise]",
  ACCOUNT_SID,
  ACCOUNT_SID.toLowerCase(),
  SERVICE_SID,
];
const UNTRIMMED = [`${AUTH_TOKEN}\n`, ` ${AUTH_TOKEN}`, `\uFEFF${AUTH_TOKEN}`];

/** Loads the library again, which has warned of nothing yet. */
async function isolate() {
  let fresh: typeof library | undefined;
  await jest.isolateModulesAsync(async () => {
    fresh = await import("express-push-verification");
  });
  return fresh as typeof library;
}

describe("a token that anyone can guess", () => {
  let warnings: jest.SpyInstance;
  beforeEach(() => {
    warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterEach(() => warnings.mockRestore());

  // The last one is the same key for an HMAC as without the NUL.
  it.each([...GUESSABLE, ...UNTRIMMED, `${AUTH_TOKEN}\0`])(
    "is rejected at construction: %j",
    async (token) => {
      const rejected = expect.objectContaining({
        name: "TypeError",
        message: expect.not.stringContaining(AUTH_TOKEN),
      });
      const request = eventRequest("factor.created");
      for (const authToken of [token, [AUTH_TOKEN, token]]) {
        expect(() => pushWebhooks({ authToken, publicUrl })).toThrow(rejected);
        await expect(
          verifyPushRequest({ ...request, url: request.path }, { authToken, publicUrl }),
        ).rejects.toEqual(rejected);
      }
      expect(() => createEmulator({ authToken: token })).toThrow(rejected);
      expect(() => createEmulator({ previousAuthToken: token })).toThrow(rejected);
      expect(() => signedRequest({ authToken: token, publicUrl }, "factor.created")).toThrow(
        rejected,
      );
      const signed = { authToken: token, url: publicUrl, params: [] };
      expect(() => sign(signed)).toThrow(rejected);
      expect(() => verifySignature({ ...signed, signature: "" })).toThrow(rejected);
    },
  );

  /** Expects that a token which a resolver returns signs nothing, alone and beside a good one. */
  async function expectNoToken(
    { pushWebhooks: create, verifyPushRequest: verify }: typeof library,
    token: string,
  ): Promise<void> {
    let resolved: AuthTokens = token;
    const push = create({ authToken: () => resolved, publicUrl });
    push.onRejected(() => {});
    const statusOf = async (account_sid: string, signer: string) => {
      const pairs = eventPairs("factor.created", "v2", { account_sid });
      const text = publicUrl + pairs.toSorted().flat().join("");
      const request = signedRequestOf(pairs);
      request.headers["x-service-signature"] = createHmac("sha1", signer)
        .update(text)
        .digest("base64");
      return (await push.fetch(toWebRequest(request))).status;
    };
    const [first, second, third] = ["AC3", "AC4", "AC5"].map((start) =>
      ACCOUNT_SID.replace("AC3", start),
    ) as [string, string, string];
    expect(await statusOf(first, token)).toBe(403);
    expect(await statusOf(second, token)).toBe(403);
    // A new function, as in an app that creates one for each request.
    const request = eventRequest("factor.created");
    await expect(
      verify({ ...request, url: request.path }, { authToken: () => token, publicUrl }),
    ).rejects.toHaveProperty("code", "SIGNATURE_MISMATCH");
    resolved = [token, AUTH_TOKEN];
    expect(await statusOf(third, token)).toBe(403);
    expect(await statusOf(third, AUTH_TOKEN)).toBe(200);
  }

  it.each([...GUESSABLE, ...UNTRIMMED])("counts as no token from a resolver: %j", (token) =>
    expectNoToken(library, token),
  );

  it.each(["", "undefined", `${AUTH_TOKEN}\n`])(
    "is reported once from a resolver: %j",
    async (token) => {
      await expectNoToken(await isolate(), token);
      expect(warnings.mock.calls).toEqual([
        [
          expect.not.stringContaining(AUTH_TOKEN),
          { type: "PushWebhooksWarning", code: "AUTH_TOKEN_UNUSABLE" },
        ],
      ]);
    },
  );

  it("does not include other short texts, or white space inside", () => {
    for (const authToken of ["x", "a b", "undefined1", "nullable"]) {
      expect(() => pushWebhooks({ authToken, publicUrl })).not.toThrow();
    }
    expect(warnings).not.toHaveBeenCalled();
  });
});

describe("a token of fewer than 16 characters", () => {
  const { NODE_ENV } = process.env;
  afterEach(() => {
    process.env.NODE_ENV = NODE_ENV;
    jest.restoreAllMocks();
  });

  it("emits one warning, in production only", async () => {
    const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const fresh = await isolate();
    fresh.pushWebhooks({ authToken: "fifteen letters", publicUrl });
    expect(warnings).not.toHaveBeenCalled();
    process.env.NODE_ENV = "production";
    fresh.pushWebhooks({ authToken: "sixteen letters.", publicUrl });
    expect(warnings).not.toHaveBeenCalled();
    for (let times = 0; times < 2; times++) {
      fresh.pushWebhooks({ authToken: [AUTH_TOKEN, "fifteen letters"], publicUrl });
    }
    expect(warnings.mock.calls).toEqual([
      [
        expect.not.stringContaining("fifteen letters"),
        { type: "PushWebhooksWarning", code: "AUTH_TOKEN_SHORT" },
      ],
    ]);
  });
});
