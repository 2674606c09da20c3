import {
  createMemoryDedupe,
  explainSignature,
  pushWebhooks,
  verifySignature,
} from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import { createEmulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { readLibrary } from "../support/docs";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../support/webhook-requests";

const receiver = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const urls = { accountUrl: "https://api.example.test", verifyUrl: "https://verify.example.test" };
const admin = { ...urls, accountSid: ACCOUNT_SID, serviceSid: SERVICE_SID, password: "secret" };
const router = { client: createAdminClient(admin), authorize: () => true };

/** Interfaces of options that no app writes. */
const INTERNAL = /^(Waiters|Deduplication|FairMap|RequestRetry|Server|WebhookError)Options$/;
const OPTIONS =
  /(Options|Input|Change|Query|Settings|Overrides|Decision|Context|Fault|Backoff)$|^New[A-Z]/;

/** Lists the optional members of options that do not accept undefined under exactOptionalPropertyTypes. */
function listStrict(): string[] {
  const code = readLibrary().replaceAll(/\/\*\*[^]*?\*\//g, "");
  const interfaces = code.matchAll(/^export (?:interface|type) (\w+)[^{;]*\{\n([^]*?)^\}/gm);
  return [...interfaces].flatMap(([, name = "", body = ""]) => {
    if (!OPTIONS.test(name) || INTERNAL.test(name)) return [];
    const strict = body.matchAll(/^  (?:readonly )?(\w+)\?:((?!undefined)[^;])*;/gm);
    return Array.from(strict, ([, member]) => `${name}.${member}`);
  });
}

describe("an optional option", () => {
  it("accepts undefined in the types of every function", () => {
    expect(listStrict()).toEqual([]);
  });

  it("may be undefined at run time", async () => {
    const none = undefined;
    const unset = { signatureHeader: none, urlMatching: none, limitBytes: none };
    const push = pushWebhooks({ ...receiver, ...unset, name: "login", dedupe: none, logger: none });
    const handler = jest.fn();
    const event = { type: "x.y", uuid: "u", account_sid: ACCOUNT_SID, params: [], issues: [] };
    const context = { attempt: none, receiver: none, publicUrlIndex: 2 };
    await push.onAny(handler).dispatch(event, context);
    const byDefault = { attempt: 1, authTokenIndex: 0, publicUrlIndex: 2, receiver: "login" };
    expect(handler.mock.calls[0][1]).toMatchObject(byDefault);
    await push.close({ deadlineMs: none });
    createMemoryDedupe({ ttlMs: none, maxEntries: none, maxBytes: none });
    createAdminClient({ ...admin, username: none, timeoutMs: none, maxRetries: none, fetch: none });
    adminRouter({ ...router, readOnly: none, onAudit: none, actor: none, logger: none });
    const emulator = createEmulator({ keys: none, webhooks: none, maxKeys: none, now: none });
    emulator.createWebhook({ webhook_url: "http://127.0.0.1:1/", status: none, version: none });
    emulator.createKey({ sid: none, secret: none, friendly_name: none, type: none });
    const factor = emulator.createFactor({ entity_identity: none, metadata: none });
    emulator.verifyFactor(factor.sid);
    emulator.createChallenge({ factor_sid: factor.sid, details: none, hidden_details: none });
    emulator.injectFault({ kind: "delay", times: none, event_type: none, delay_ms: none });
    await emulator.close();
    signedRequest(
      receiver,
      "factor.created",
      { factor_metadata: none },
      { version: none, method: none },
    );
    const signed = { ...receiver, url: PUBLIC_URL, params: [], signature: "x", urlMatching: none };
    expect(verifySignature(signed)).toBeUndefined();
    expect(explainSignature({ ...signed, method: none, body: none }).matches).toBe(false);
  });
});
