import { createHmac } from "node:crypto";
import {
  pushWebhooks,
  sign,
  verifyPushRequest,
  verifySignature,
  type AuthTokens,
} from "express-push-verification";
import { createEmulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { words } from "../support/attacker-texts";
import { loadCopy } from "../support/package-copy";
import { useWarnings } from "../support/warnings";
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
  ...words(`undefined null NaN ${ACCOUNT_SID} ${ACCOUNT_SID.toLowerCase()} ${SERVICE_SID}`),
  "[object Object]",
  "[object Promise]",
  "",
  " ",
  "\t\n",
  "\0",
];
const made = eventRequest("factor.created");
const request = { ...made, url: made.path };
const UNTRIMMED = [`${AUTH_TOKEN}\n`, ` ${AUTH_TOKEN}`, `\uFEFF${AUTH_TOKEN}`];

describe("a token that anyone can guess", () => {
  const warnings = useWarnings();

  // The last one is the same key for an HMAC as without the NUL.
  it.each([...GUESSABLE, ...UNTRIMMED, `${AUTH_TOKEN}\0`])(
    "is rejected at construction: %j",
    async (token) => {
      const rejected = expect.objectContaining({
        name: "TypeError",
        message: expect.not.stringContaining(AUTH_TOKEN),
      });
      const signed = { authToken: token, url: publicUrl, params: [] };
      for (const use of [
        () => pushWebhooks({ authToken: token, publicUrl }),
        () => pushWebhooks({ authToken: [AUTH_TOKEN, token], publicUrl }),
        () => createEmulator({ authToken: token }),
        () => createEmulator({ previousAuthToken: token }),
        () => signedRequest({ authToken: token, publicUrl }, "factor.created"),
        () => sign(signed),
        () => verifySignature({ ...signed, signature: "" }),
      ]) {
        expect(use).toThrow(rejected);
      }
      const verified = verifyPushRequest(request, { authToken: [AUTH_TOKEN, token], publicUrl });
      await expect(verified).rejects.toEqual(rejected);
    },
  );

  it.each([...GUESSABLE, ...UNTRIMMED])(
    "is ignored with one warning when a function returns it: %j",
    async (token) => {
      // A copy has warned of nothing yet.
      const copy = loadCopy();
      let resolved: AuthTokens = token;
      const push = copy.pushWebhooks({ authToken: () => resolved, publicUrl });
      push.onAny(() => {}).onRejected(() => {});
      const statusOf = async (account: string, signer: string) => {
        const account_sid = ACCOUNT_SID.replace("AC3", account);
        const pairs = eventPairs("factor.created", "v2", { account_sid });
        const text = publicUrl + pairs.toSorted().flat().join("");
        const signed = signedRequestOf(pairs);
        // Not by sign(), which rejects these tokens.
        const hmac = createHmac("sha1", signer).update(text).digest("base64");
        signed.headers["x-service-signature"] = hmac;
        return (await push.fetch(toWebRequest(signed))).status;
      };
      for (const account of ["AC3", "AC4"]) expect(await statusOf(account, token)).toBe(403);
      // A new function, as in an app that creates one for each request.
      const verified = copy.verifyPushRequest(request, { authToken: () => token, publicUrl });
      await expect(verified).rejects.toHaveProperty("code", "SIGNATURE_MISMATCH");
      resolved = [token, AUTH_TOKEN];
      expect(await statusOf("AC5", token)).toBe(403);
      expect(await statusOf("AC5", AUTH_TOKEN)).toBe(200);
      expect(warnings.listCodes()).toEqual(["AUTH_TOKEN_UNUSABLE"]);
      expect(warnings.listMessages()[0]).not.toContain(AUTH_TOKEN);
    },
  );

  it.each(["x", "a b", "undefined1", "nullable"])("is not %j", (authToken) => {
    pushWebhooks({ authToken, publicUrl });
    expect(warnings.list()).toEqual([]);
  });
});

describe("a token of fewer than 16 characters", () => {
  const warnings = useWarnings();
  const { NODE_ENV } = process.env;
  afterEach(() => void (process.env.NODE_ENV = NODE_ENV));

  it("emits one warning, in production only", () => {
    const fresh = loadCopy();
    fresh.pushWebhooks({ authToken: "fifteen letters", publicUrl });
    process.env.NODE_ENV = "production";
    fresh.pushWebhooks({ authToken: "sixteen letters.", publicUrl });
    expect(warnings.list()).toEqual([]);
    for (let times = 0; times < 2; times++) {
      fresh.pushWebhooks({ authToken: [AUTH_TOKEN, "fifteen letters"], publicUrl });
    }
    expect(warnings.listCodes()).toEqual(["AUTH_TOKEN_SHORT"]);
    expect(warnings.listMessages()[0]).not.toContain("fifteen letters");
  });
});
