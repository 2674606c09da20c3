import { inspect } from "node:util";
import { ApiError, confirmWith, type AdminClientOptions } from "express-push-verification/admin";
import type { PushEventType } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import type { Emulator } from "express-push-verification/emulator";
import { clientOf, startEmulator, stopEmulators } from "../../support/emulators";
import { findFreePort } from "../../support/ports";
import { startServer } from "../../support/servers";

const IDENTITY = "zoë/../ada?#%2e";
const OTHER = "1".repeat(32);
let emulator: Emulator;
let client: ReturnType<typeof clientOf>;

const clientAt = (at: string, options: Partial<AdminClientOptions> = {}) =>
  clientOf(emulator, { at, maxRetries: 0, ...options });

beforeEach(async () => {
  emulator = await startEmulator();
  client = clientAt(emulator.url);
});
afterEach(stopEmulators);

type State = "created" | "verified" | "pending" | "approved" | "denied";

/** Creates a factor or a challenge in a state; returns an event about it as the service sends it. */
function createEvent(type: PushEventType, state: State, differs: object = {}) {
  const { accountSid: account_sid, serviceSid: service_sid } = emulator;
  const { sid: factor_sid } = emulator.createFactor({ entity_identity: IDENTITY });
  if (state !== "created") emulator.verifyFactor(factor_sid);
  const names = { account_sid, service_sid, entity_identity: IDENTITY, factor_sid };
  if (type.startsWith("factor.")) return eventFixture(type, { ...names, ...differs });
  const { sid: challenge_sid } = emulator.createChallenge({ factor_sid });
  if (state === "approved") emulator.approveChallenge(challenge_sid);
  if (state === "denied") emulator.denyChallenge(challenge_sid);
  return eventFixture(type, { ...names, challenge_sid, ...differs });
}

it("the user is in no error", async () => {
  const user = { entityIdentity: "ada-lovelace" };
  const key = { ...user, challengeSid: `YC${OTHER}` };
  const hanging = await startServer(() => {});
  const echoing = await startServer((req, res) => {
    res.writeHead(500, { "content-type": "application/json" });
    res.end(JSON.stringify({ message: `failed: ${req.url}`, code: 20500 }));
  });
  // As node-fetch describes a failure, with the URL in its message and in that of its cause.
  const quoting = (url: string) => {
    const message = `request to ${url} failed, reason: connect ECONNREFUSED`;
    const cause = Object.assign(new Error(message), { code: "ECONNREFUSED" });
    return Promise.reject(Object.assign(new Error(message, { cause }), { code: message }));
  };
  const meta = { next_page_url: "https://evil.example" };
  const linking = async () => Response.json({ factors: [], meta });
  type Client = typeof client;
  const fetchIt = ({ challenges }: Client) => challenges.fetch(key);
  const fetchFactor = ({ factors }: Client) => factors.fetch({ ...user, factorSid: `YF${OTHER}` });
  const compare = ({ factors }: Client) => factors.compare({ ...user, known: [] });
  for (const [code, one, run = fetchIt] of [
    ["SERVICE_ERROR", client],
    ["SERVICE_ERROR", client, fetchFactor],
    ["UNREACHABLE", clientAt(emulator.url, { fetch: quoting })],
    ["UNREACHABLE", clientAt(`http://127.0.0.1:${await findFreePort()}`)],
    ["TIMEOUT", clientAt(`http://127.0.0.1:${hanging}`, { timeoutMs: 50 })],
    ["SERVICE_ERROR", clientAt(`http://127.0.0.1:${echoing}`)],
    ["FOREIGN_PAGE", clientAt(emulator.url, { fetch: linking }), compare],
  ] as const) {
    const error = await run(one).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    const messages = {
      UNREACHABLE: / 127\.0\.0\.1:\d+ .*: ECONNREFUSED\.$/,
      TIMEOUT: / 127\.0\.0\.1:\d+ /,
      SERVICE_ERROR: /^The service responded/,
      FOREIGN_PAGE: /origin/,
    };
    expect(error).toMatchObject({ code, message: expect.stringMatching(messages[code]) });
    const text = inspect(error, { depth: 9 });
    for (const secret of [user.entityIdentity, emulator.authToken])
      expect(text).not.toContain(secret);
  }
});

describe("confirmWith", () => {
  const { signal } = new AbortController();
  const none = { factor_sid: `YF${OTHER}` };
  type Row = [type: PushEventType, state: State, is: boolean | "pending", differs?: object];
  it.each<[...Row, more?: object]>([
    ["challenge.approved", "approved", true],
    ["challenge.denied", "denied", true],
    ["challenge.approved", "pending", "pending"],
    ["challenge.approved", "denied", false],
    ["challenge.approved", "approved", false, { challenge_sid: `YC${OTHER}` }],
    ["challenge.approved", "approved", false, { account_sid: `AC${OTHER}` }],
    ["challenge.approved", "approved", false, { service_sid: `VA${OTHER}` }],
    ["challenge.approved", "approved", false, { entity_identity: "mallory" }],
    ["challenge.approved", "approved", false, none],
    // No URL of the API has these identities.
    ["challenge.approved", "approved", false, { entity_identity: ".." }],
    ["factor.verified", "verified", false, { entity_identity: "." }],
    ["factor.deleted", "verified", false, { entity_identity: "." }],
    ["factor.created", "created", true],
    ["factor.created", "verified", true],
    ["factor.created", "created", false, none],
    ["factor.verified", "verified", true],
    ["factor.verified", "created", "pending"],
    ["factor.deleted", "verified", "pending"],
    ["factor.deleted", "verified", true, none],
    // Its text can be read in another way.
    ["factor.deleted", "verified", false, none, { ambiguity: "an addition" }],
    ["factor.deleted", "verified", false, { ...none, account_sid: `AC${OTHER}` }],
    ["factor.deleted", "verified", false, { ...none, service_sid: `VA${OTHER}` }],
  ])(
    "of %s, of a user with any name, in the state %s, returns %s for %j %j",
    async (type, state, is, differs = {}, more = {}) => {
      const event = createEvent(type, state, differs);
      expect(await confirmWith(client)(event, { signal, ...more })).toBe(is);
    },
  );

  const maxAge = { maxAgeMs: 600_000 };
  const dated = (date_responded: string | null) => ({ date_responded, date_updated: null });
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  it.each<[type: PushEventType, state: State, found: object, isTrue: boolean, options?: object]>([
    ["challenge.approved", "approved", { sid: `YC${OTHER}` }, false],
    ["challenge.approved", "approved", { identity: "mallory" }, false],
    ["challenge.approved", "approved", dated(secondsAgo(5)), true, maxAge],
    ["challenge.approved", "approved", dated(secondsAgo(700)), false, maxAge],
    [
      "challenge.approved",
      "approved",
      { ...dated(null), date_updated: secondsAgo(5) },
      true,
      maxAge,
    ],
    [
      "challenge.approved",
      "approved",
      { ...dated(secondsAgo(700)), date_updated: secondsAgo(5) },
      false,
      maxAge,
    ],
    ["challenge.approved", "approved", dated("yesterday"), false, maxAge],
    ["challenge.approved", "approved", dated(null), false, maxAge],
    ["challenge.approved", "approved", { status: "expired" }, false],
    ["factor.created", "created", { date_created: secondsAgo(86_300) }, true],
    ["factor.created", "created", { date_created: secondsAgo(86_500) }, false],
    ["factor.created", "created", { sid: "YF1" }, false],
    ["factor.created", "created", { identity: "x" }, false],
    ["factor.verified", "verified", { date_updated: secondsAgo(86_500) }, false],
    ["factor.verified", "verified", { status: null }, false],
  ])("of %s, %s, for the response %j returns %s with %j", async (type, state, found, ...row) => {
    const [isTrue, options] = row;
    const change = <Found extends object>(of: { fetch(key: never): Promise<Found> }) => ({
      fetch: async (key: never) => ({ ...(await of.fetch(key)), ...found }),
    });
    const { challenges, factors } = client;
    const other = { ...client, challenges: change(challenges), factors: change(factors) };
    const confirm = confirmWith(other, options);
    const event = createEvent(type, state);
    expect(await confirm(event, { signal })).toBe(isTrue);
    if (!("challenge_sid" in event)) return;
    // What a wait is told.
    const key = { challengeSid: event.challenge_sid, entityIdentity: IDENTITY };
    const outcome = await confirm.fetchOutcome?.(key, { signal });
    expect(outcome?.entity_identity === IDENTITY).toBe(isTrue);
  });

  it.each([
    [{}, true],
    [{ account_sid: `AC${OTHER}` }, false],
    [{ service_sid: `VA${OTHER}` }, false],
    [{ factor_sid: null }, false],
    [{ identity: null }, false],
    [{ status: "pending" }, false],
    [{ status: "denied" }, true],
    [{ account_sid: null, service_sid: null }, true],
  ])("tells a wait the outcome in the response %j: %s", async (found, isTold) => {
    const event = createEvent("challenge.approved", "approved");
    const { challenge_sid: challengeSid = "" } = event as { challenge_sid?: string };
    const fetched = {
      ...(await client.challenges.fetch({ entityIdentity: IDENTITY, challengeSid })),
    };
    const challenges = { fetch: jest.fn(async () => ({ ...fetched, ...found })) };
    const { fetchOutcome } = confirmWith({ ...client, challenges });
    const { accountSid: account_sid, serviceSid: service_sid } = client;
    const { factor_sid, status } = { ...fetched, ...found };
    const users = { challenge_sid: challengeSid, entity_identity: IDENTITY, factor_sid };
    const source = { at: expect.any(Date), source: "service" };
    const outcome = { type: `challenge.${status}`, account_sid, service_sid, ...users, ...source };
    const told = await fetchOutcome?.({ challengeSid, entityIdentity: IDENTITY }, { signal });
    expect(told).toEqual(isTold ? outcome : undefined);
    // The wait asks again.
    expect(challenges.fetch.mock.calls).toEqual([[expect.anything(), { signal, maxRetries: 0 }]]);
  });

  it("throws for an unknown or impossible option", () => {
    for (const options of [{ maxAge: 5 }, { maxAgeMs: 0 }])
      expect(() => confirmWith(client, options as never)).toThrow(/maxAgeMs/);
  });

  it("rejects when the service fails", async () => {
    const event = createEvent("challenge.approved", "approved");
    const unauthorized = confirmWith(clientAt(emulator.url, { password: "wrong" }));
    await expect(unauthorized(event, { signal })).rejects.toBeInstanceOf(ApiError);
  });

  it("rejects at the end of the signal", async () => {
    const event = createEvent("challenge.approved", "approved");
    const aborted = { signal: AbortSignal.abort(new Error("late")) };
    await expect(confirmWith(client)(event, aborted)).rejects.toThrow("late");
  });
});

describe("client.factors", () => {
  type Row = [what: string, before: State | "gone", known: "verified" | "unverified" | undefined];
  it.each<[...Row, type: string | undefined]>([
    ["verified, and known", "verified", "verified", undefined],
    ["verified, and known as unverified", "verified", "unverified", "factor.verified"],
    ["verified, and unknown", "verified", undefined, "factor.verified"],
    ["unverified, and known", "created", "unverified", undefined],
    ["unverified, and known as verified", "created", "verified", "factor.created"],
    ["unverified, and unknown", "created", undefined, "factor.created"],
    ["gone, and known", "gone", "verified", "factor.deleted"],
  ])("compares a factor that is %s", async (_what, before, known, type) => {
    const { factor_sid: factorSid } = createEvent("factor.created", before as State);
    if (before === "gone") emulator.deleteFactor(factorSid);
    const input = { entityIdentity: IDENTITY, known: known ? [{ factorSid, status: known }] : [] };
    const factor =
      before === "gone"
        ? undefined
        : (expect.objectContaining({
            sid: factorSid,
            friendly_name: expect.any(String),
          }) as object);
    const expected = type === undefined ? [] : [{ type, factorSid, factor }];
    expect(await client.factors.compare(input)).toEqual(expected);
  });

  const lost = { factorSid: `YF${OTHER}`, status: "verified" } as const;
  const nobody = { entityIdentity: "nobody-here", known: [lost] };

  it("takes a user that the service does not have for one without factors", async () => {
    const gone = { type: "factor.deleted", factorSid: `YF${OTHER}`, factor: undefined };
    expect(await client.factors.compare(nobody)).toEqual([gone]);
  });

  it.each([
    [404, "<h1>Not found</h1>"],
    [403, '{"code":70051}'],
  ])("rejects a response of %i %s", async (status, body) => {
    const port = await startServer((_req, res) => res.writeHead(status).end(body));
    const compared = clientAt(`http://127.0.0.1:${port}`).factors.compare(nobody);
    const error: unknown = await compared.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "SERVICE_ERROR", status });
    expect(inspect(error, { depth: 9 })).not.toContain("nobody-here");
  });

  it("lists the factors of a user, of several pages", async () => {
    const sids = [1, 2, 3].map(() => createEvent("factor.created", "created").factor_sid);
    const listed: string[] = [];
    const factors = client.factors.list({ entityIdentity: IDENTITY }, { pageSize: 2 });
    for await (const { sid } of factors) listed.push(sid);
    expect(listed.toSorted()).toEqual(sids.toSorted());
  });
});
