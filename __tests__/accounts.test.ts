import type { AuthTokenResolver, PushWebhooksOptions } from "express-push-verification";
import { ACCOUNT_SID, CHALLENGE_SID, eventRequest } from "./support/webhook-requests";
import { createReceiver } from "./support/receivers";

const A = ACCOUNT_SID;
const B = `AC${"b".repeat(32)}`;
const TOKENS: Record<string, string> = { [A]: "token-of-account-a", [B]: "token-of-account-b" };
const wait = { challengeSid: CHALLENGE_SID, entityIdentity: "ada", timeoutMs: 60_000 };
const challenge = { challenge_sid: CHALLENGE_SID, entity_identity: "ada", uuid: "u1" };

const requestOf = (
  account_sid: string,
  type: Parameters<typeof eventRequest>[0] = "challenge.approved",
  authToken = TOKENS[account_sid] ?? "",
) => eventRequest(type, { account_sid, ...challenge }, { authToken });

describe("two accounts on one receiver", () => {
  const authToken: AuthTokenResolver = ({ account_sid = "" }) => TOKENS[account_sid];

  it("resolve a wait by an event of its account only, in either order", async () => {
    const { push, receive, events } = createReceiver({ authToken });
    const early = push.waitForChallenge({ ...wait, accountSid: A });
    expect(await receive(requestOf(B))).toBe(200);
    const late = push.waitForChallenge({ ...wait, accountSid: A });
    // A denial in account A does not change the outcome of a challenge that B approved.
    expect(await receive(requestOf(A, "challenge.denied"))).toBe(200);
    for (const waited of [early, late, push.waitForChallenge({ ...wait, accountSid: A })]) {
      expect(await waited).toMatchObject({ type: "challenge.denied", account_sid: A });
    }
    const ofB = { type: "challenge.approved", account_sid: B };
    expect(await push.waitForChallenge({ ...wait, accountSid: B })).toMatchObject(ofB);
    // Both events have one uuid.
    expect(events).toMatchObject([ofB, { type: "challenge.denied", account_sid: A }]);
  });

  it("reject an event that names the other account", async () => {
    const { receive, events } = createReceiver({ authToken });
    expect(await receive(requestOf(A, "challenge.approved", TOKENS[B]))).toBe(403);
    expect(events).toEqual([]);
  });
});

const STATIC = { authToken: TOKENS[A] ?? "", allowedAccountSids: [A, B] };

it("a static token separates the accounts that it claims", async () => {
  const { push, receive } = createReceiver(STATIC);
  expect(await receive(requestOf(B, "challenge.approved", TOKENS[A]))).toBe(200);
  const ofB = { ...wait, accountSid: B };
  expect(await push.waitForChallenge(ofB)).toHaveProperty("account_sid", B);
  const ofA = push.waitForChallenge({ ...wait, accountSid: A, timeoutMs: 1 });
  await expect(ofA).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
});

it.each([STATIC, { authToken: () => TOKENS[A] }])(
  "rejects a wait for no account with %j",
  async (options) => {
    const { push } = createReceiver(options);
    await expect(push.waitForChallenge(wait)).rejects.toThrow(TypeError);
  },
);

it.each<[what: string, options: Pick<PushWebhooksOptions, "authToken" | "allowedAccountSids">]>([
  ["a token", { authToken: TOKENS[A] ?? "" }],
  ["a token and one allowed account", { authToken: TOKENS[A] ?? "", allowedAccountSids: [A] }],
  ["a function and one", { authToken: () => TOKENS[A] ?? "", allowedAccountSids: [A] }],
])("a receiver with %s waits for events of its one account only", async (_what, options) => {
  const { push, receive } = createReceiver(options);
  await receive(requestOf(A));
  expect(await push.waitForChallenge(wait)).toHaveProperty("account_sid", A);
  const ofB = push.waitForChallenge({ ...wait, accountSid: B });
  await expect(ofB).rejects.toMatchObject({ code: "ACCOUNT_NOT_ALLOWED", status: 403 });
});
