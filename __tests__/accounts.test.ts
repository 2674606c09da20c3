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
) => eventRequest(type, { account_sid, ...challenge }, { authToken: TOKENS[account_sid] ?? "" });

it("two accounts resolve a wait by an event of their own only, in either order", async () => {
  const { push, receive, events } = createReceiver({
    authToken: ({ account_sid = "" }) => TOKENS[account_sid],
  });
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

it("a wait names one of several allowed accounts", async () => {
  const { push } = createReceiver({ allowedAccountSids: [A, B] });
  await expect(push.waitForChallenge(wait)).rejects.toThrow(TypeError);
});
