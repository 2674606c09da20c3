import type { RequestOptions } from "../../lib/admin/client/transport";
import type { KeyInput } from "../../lib/admin/client/key";
import type { PageQuery } from "../../lib/admin/client/list";
import type { WebhookChange } from "../../lib/admin/client/webhook";
import type { DeadLetterOptions } from "../../lib/durable/dead-letters";
import type { ChallengeDecision, NewChallenge } from "../../lib/emulator/resources/challenge";
import type { NewFactor } from "../../lib/emulator/resources/factor";
import type { NewKey } from "../../lib/emulator/resources/keys";
import type { NewWebhook } from "../../lib/emulator/options";
import { expectTypeOf } from "expect-type";
import {
  createMemoryDedupe,
  explainSignature,
  pushWebhooks,
  verifySignature,
} from "express-push-verification";
import type {
  CloseOptions,
  DispatchContext,
  ExplainSignatureOptions,
  MemoryDedupeOptions,
  PushWebhooksOptions,
  VerifyOptions,
  VerifySignatureOptions,
  WaitOptions,
} from "express-push-verification";
import { adminRouter, createAdminClient } from "express-push-verification/admin";
import type {
  AdminClientOptions,
  AdminRouterOptions,
  WebhookInput,
} from "express-push-verification/admin";
import type {
  Backoff,
  RedisQueueOptions,
  RedisConnectionOptions,
  WorkOptions,
} from "express-push-verification/durable";
import { createEmulator } from "express-push-verification/emulator";
import type { EmulatorOptions, Fault } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import type {
  EventFixtureOptions,
  EventOverrides,
  ReceiverSettings,
  SignedRequestOptions,
} from "express-push-verification/testing";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, SERVICE_SID } from "../support/webhook-requests";

const receiver = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const urls = { accountUrl: "https://api.example.test", verifyUrl: "https://verify.example.test" };
const admin = { ...urls, accountSid: ACCOUNT_SID, serviceSid: SERVICE_SID, password: "secret" };
const router = { client: createAdminClient(admin), authorize: () => true };

/** The options of every function. */
type Options =
  | CloseOptions
  | DispatchContext
  | ExplainSignatureOptions
  | MemoryDedupeOptions
  | PushWebhooksOptions
  | VerifyOptions
  | VerifySignatureOptions
  | WaitOptions
  | AdminClientOptions
  | AdminRouterOptions
  | RequestOptions
  | KeyInput
  | PageQuery
  | WebhookChange
  | WebhookInput
  | Backoff
  | DeadLetterOptions
  | RedisQueueOptions
  | RedisConnectionOptions
  | WorkOptions
  | ChallengeDecision
  | EmulatorOptions
  | Fault
  | NewChallenge
  | NewFactor
  | NewKey
  | NewWebhook
  | EventFixtureOptions
  | EventOverrides<"challenge.approved">
  | EventOverrides<"factor.created", "v1">
  | ReceiverSettings
  | SignedRequestOptions;

/** The optional members of a type that do not accept undefined under exactOptionalPropertyTypes. */
type Strict<Type> = Type extends unknown
  ? {
      [Name in keyof Type]-?: object extends Pick<Type, Name>
        ? undefined extends Required<Type>[Name]
          ? never
          : Name
        : never;
    }[keyof Type]
  : never;

describe("an optional option", () => {
  it("accepts undefined in the types of every function", () => {
    expectTypeOf<Strict<{ a?: number; b?: string | undefined; c: 5 }>>().toEqualTypeOf<"a">();
    expectTypeOf<Strict<Options>>().toEqualTypeOf<never>();
  });

  it("may be undefined at run time", async () => {
    const none = undefined;
    const unset = { signatureHeader: none, urlMatching: none, limitBytes: none };
    const push = pushWebhooks({ ...receiver, ...unset, name: none, dedupe: none, logger: none });
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
    signedRequest(receiver, "factor.created", { uuid: none }, { version: none, method: none });
    const signed = { ...receiver, url: PUBLIC_URL, params: [], signature: "x", urlMatching: none };
    expect(verifySignature(signed)).toBeUndefined();
    expect(explainSignature({ ...signed, method: none, body: none }).matches).toBe(false);
  });

  it("of dispatch may be undefined and then has its default", async () => {
    const push = pushWebhooks({ ...receiver, name: "login" });
    const handler = jest.fn();
    push.onAny(handler);
    const event = { type: "x.y", uuid: "u", account_sid: ACCOUNT_SID, params: [], issues: [] };
    await push.dispatch(event, { attempt: undefined, receiver: undefined, publicUrlIndex: 2 });
    const { attempt, authTokenIndex, publicUrlIndex, receiver: name } = handler.mock.calls[0][1];
    expect([attempt, authTokenIndex, publicUrlIndex, name]).toEqual([1, 0, 2, "login"]);
  });
});
