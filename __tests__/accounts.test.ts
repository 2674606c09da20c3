import {
  pushWebhooks,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import { ACCOUNT_SID, CHALLENGE_SID, eventRequest, PUBLIC_URL } from "./support/webhook-requests";
import { send, startServer, stopServers } from "./support/servers";

const A = ACCOUNT_SID;
const B = `AC${"b".repeat(32)}`;
const TOKENS: Record<string, string> = { [A]: "token-of-account-a", [B]: "token-of-account-b" };
const wait = { challengeSid: CHALLENGE_SID, entityIdentity: "ada", timeoutMs: 300 };
const challenge = { challenge_sid: CHALLENGE_SID, entity_identity: "ada" };

/** A request that an account signs with its own token. */
const requestOf = (
  account_sid: string,
  type: Parameters<typeof eventRequest>[0],
  overrides: Record<string, string> = {},
) =>
  eventRequest(
    type,
    { account_sid, ...challenge, ...overrides },
    { authToken: TOKENS[account_sid] ?? "" },
  );

afterEach(stopServers);

describe("two accounts on one receiver", () => {
  let push: PushWebhooks;
  let port: number;
  let handled: string[];

  beforeEach(async () => {
    handled = [];
    push = pushWebhooks({
      authToken: ({ account_sid = "" }) => TOKENS[account_sid],
      publicUrl: PUBLIC_URL,
    });
    push.onAny(({ account_sid, type }) => void handled.push(`${account_sid} ${type}`));
    port = await startServer((req, res) => void push(req, res));
  });

  it("resolve a wait by an event of its account only, in either order", async () => {
    const early = push.waitForChallenge({ ...wait, accountSid: A, timeoutMs: 5_000 });
    expect(await send(port, requestOf(B, "challenge.approved"))).toHaveProperty("status", 200);
    const late = push.waitForChallenge({ ...wait, accountSid: A, timeoutMs: 5_000 });
    // A denial in account A does not change the outcome of a challenge that B approved.
    expect(await send(port, requestOf(A, "challenge.denied"))).toHaveProperty("status", 200);
    for (const waited of [early, late, push.waitForChallenge({ ...wait, accountSid: A })]) {
      expect(await waited).toMatchObject({ type: "challenge.denied", account_sid: A });
    }
    expect(await push.waitForChallenge({ ...wait, accountSid: B })).toMatchObject({
      type: "challenge.approved",
      account_sid: B,
    });
    expect(handled).toEqual([`${B} challenge.approved`, `${A} challenge.denied`]);
  });

  it("have uuids of their own: a uuid that B used does not make the event of A a duplicate", async () => {
    const uuid = "1f8b6e1c-6f2e-4c0a-9a53-0d9f6c4f2b10";
    await send(port, requestOf(B, "challenge.approved", { uuid }));
    await send(port, requestOf(A, "challenge.approved", { uuid }));
    await send(port, requestOf(A, "challenge.approved", { uuid }));
    expect(handled).toEqual([`${B} challenge.approved`, `${A} challenge.approved`]);
  });

  it("reject an event that names the other account", async () => {
    const forged = eventRequest(
      "challenge.approved",
      { account_sid: A, ...challenge },
      { authToken: TOKENS[B] ?? "" },
    );
    expect(await send(port, forged)).toHaveProperty("status", 403);
    expect(handled).toEqual([]);
  });

  it("have bounds of their own: an account cannot evict the outcomes of another", async () => {
    await send(port, requestOf(A, "challenge.approved"));
    const challenge_details = JSON.stringify({ message: "x".repeat(60_000) });
    for (let index = 0; index < 320; index++) {
      const challenge_sid = `YC${index.toString(16).padStart(32, "0")}`;
      const request = requestOf(B, "challenge.approved", { challenge_sid, challenge_details });
      expect(await send(port, request)).toHaveProperty("status", 200);
    }
    expect(await push.waitForChallenge({ ...wait, accountSid: A })).toHaveProperty(
      "account_sid",
      A,
    );
  });

  it("need the account of a wait", async () => {
    await expect(push.waitForChallenge(wait)).rejects.toThrow(TypeError);
  });
});

describe("a receiver with a static token", () => {
  it("separates the accounts that one token claims, and needs the account of a wait", async () => {
    const push = pushWebhooks({
      authToken: TOKENS[A] ?? "",
      publicUrl: PUBLIC_URL,
      allowedAccountSids: [A, B],
    });
    const port = await startServer((req, res) => void push(req, res));
    const approved = eventRequest(
      "challenge.approved",
      { account_sid: B, ...challenge },
      { authToken: TOKENS[A] ?? "" },
    );
    expect(await send(port, approved)).toHaveProperty("status", 200);
    expect(await push.waitForChallenge({ ...wait, accountSid: B })).toHaveProperty(
      "account_sid",
      B,
    );
    await expect(
      push.waitForChallenge({ ...wait, accountSid: A, timeoutMs: 1 }),
    ).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    await expect(push.waitForChallenge(wait)).rejects.toThrow(TypeError);
  });
});

it.each<[what: string, options: Pick<PushWebhooksOptions, "authToken" | "allowedAccountSids">]>([
  ["a token", { authToken: TOKENS[A] ?? "" }],
  ["a token and one allowed account", { authToken: TOKENS[A] ?? "", allowedAccountSids: [A] }],
  ["a function and one", { authToken: () => TOKENS[A] ?? "", allowedAccountSids: [A] }],
])(
  "a receiver with %s implies the account, and rejects a wait for another",
  async (_what, options) => {
    const push = pushWebhooks({ ...options, publicUrl: PUBLIC_URL });
    const port = await startServer((req, res) => void push(req, res));
    await send(port, requestOf(A, "challenge.approved"));
    expect(await push.waitForChallenge(wait)).toHaveProperty("account_sid", A);
    await expect(push.waitForChallenge({ ...wait, accountSid: B })).rejects.toMatchObject({
      code: "ACCOUNT_NOT_ALLOWED",
      status: 403,
    });
  },
);
