/** Waits for challenges whose webhook request does not arrive, or late; on each engine and in memory. */
import type { PushWebhooksOptions } from "express-push-verification";
import { confirmWith, type FetchedChallenge } from "express-push-verification/admin";
import type { DurableQueue } from "express-push-verification/durable";
import type { Emulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { receive, closeLater } from "../support/durable";
import { clientOf, startEmulator, stopEmulators } from "../support/emulators";
import { countTime, until } from "../support/waiting";
import { PUBLIC_URL } from "../support/webhook-requests";

const ADA = "ada-lovelace";
const TIMEOUT_MS = 20_000;
/** Before its end, a wait of this time asks three times in its last seconds. */
const SHORT_MS = 1_000;

/**
 * @param open opens the queue of a process; undefined for a receiver without a queue, which proves what
 *   is the same for all.
 */
export function describeMissingWebhooks(open?: () => DurableQueue): void {
  countTime(open === undefined ? 10 : 1);
  let emulator: Emulator;
  /** The requests to the service, in the order of their responses. */
  let asked: string[];
  let isDown: boolean;
  let change: Partial<FetchedChallenge>;
  let challenge: { challengeSid: string; entityIdentity: string };

  async function fetchFromService(url: string, init: RequestInit): Promise<Response> {
    if (isDown) {
      asked.push("down");
      throw new Error("ECONNREFUSED");
    }
    const response = await fetch(url, init);
    const body = (await response.json()) as FetchedChallenge;
    asked.push(body.status ?? "");
    return Response.json({ ...body, ...change }, { status: response.status });
  }

  /** One process of an app, with a worker if it has a queue. */
  async function start(options: Partial<PushWebhooksOptions> = {}) {
    const { authToken } = emulator;
    const confirm = confirmWith(clientOf(emulator, { fetch: fetchFromService }));
    const queue = open?.();
    const receiver = await receive({ authToken, confirm, queue, ...options });
    const handled: string[] = [];
    receiver.push.onAny(({ type }) => void handled.push(type));
    if (queue !== undefined) closeLater(closeLater(queue).work(receiver.push.handlers));
    const wait = (more = {}) =>
      receiver.push.waitForChallenge({ ...challenge, timeoutMs: TIMEOUT_MS, ...more });
    return { ...receiver, queue, handled, wait };
  }

  type App = Awaited<ReturnType<typeof start>>;

  async function deliver(app: App, type: "approved" | "denied" = "approved"): Promise<void> {
    const { accountSid: account_sid, serviceSid: service_sid, authToken } = emulator;
    const { challengeSid: challenge_sid, entityIdentity: entity_identity } = challenge;
    const { factor_sid } = emulator.fetchChallenge(challenge_sid);
    const names = { account_sid, service_sid, challenge_sid, entity_identity, factor_sid };
    const settings = { authToken, publicUrl: PUBLIC_URL };
    expect(await app.deliver(signedRequest(settings, `challenge.${type}`, names))).toBe(200);
    await until(() => app.handled.length > 0);
  }

  const approve = () => emulator.approveChallenge(challenge.challengeSid);

  beforeEach(async () => {
    [asked, isDown, change] = [[], false, {}];
    emulator = await startEmulator();
    const { sid: factor_sid } = emulator.createFactor({ entity_identity: ADA });
    emulator.verifyFactor(factor_sid);
    const { sid: challengeSid } = emulator.createChallenge({ factor_sid });
    challenge = { challengeSid, entityIdentity: ADA };
  });
  afterEach(stopEmulators);

  it("resolve by the service's word when the request is lost", async () => {
    const app = await start();
    // It asks nothing itself.
    const other = app.queue === undefined ? app : await start({ confirm: () => true });
    approve();
    const outcomes = await Promise.all([app.wait(), other.wait()]);
    const { factor_sid } = emulator.fetchChallenge(challenge.challengeSid);
    expect(outcomes[0]).toEqual({
      type: "challenge.approved",
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      challenge_sid: challenge.challengeSid,
      entity_identity: ADA,
      factor_sid,
      at: expect.any(Date) as Date,
      source: "service",
    });
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(await other.wait()).toEqual(outcomes[0]);
  });

  it("keep the service's word when the request comes late", async () => {
    const app = await start();
    approve();
    const outcome = await app.wait();
    await deliver(app);
    expect(app.handled).toEqual(["challenge.approved"]);
    expect(await app.wait()).toEqual(outcome);
  });

  it("resolve by a request that came before the wait", async () => {
    const app = await start();
    approve();
    await deliver(app);
    const count = asked.length;
    expect(await app.wait()).toMatchObject({ type: "challenge.approved", source: "webhook" });
    expect(asked).toHaveLength(count);
  });

  if (open !== undefined) return;

  it("resolve by a request that comes after the wait began", async () => {
    const app = await start();
    const waiting = app.wait();
    await until(() => asked.length === 1);
    expect(asked).toEqual(["pending"]);
    emulator.denyChallenge(challenge.challengeSid);
    await deliver(app, "denied");
    expect(await waiting).toMatchObject({ type: "challenge.denied", source: "webhook" });
  });

  it.each<[what: string, found: object, wait: object, code: string]>([
    ["another user", { identity: "mallory" }, {}, "ENTITY_MISMATCH"],
    ["another account", {}, { accountSid: `AC${"9".repeat(32)}` }, "ACCOUNT_NOT_ALLOWED"],
    ["an old response", { date_responded: "2020-01-01T00:00:00Z" }, {}, "CHALLENGE_TIMEOUT"],
    ["another challenge", { sid: `YC${"9".repeat(32)}` }, {}, "CHALLENGE_TIMEOUT"],
    ["another account of the service", { account_sid: "AC" }, {}, "CHALLENGE_TIMEOUT"],
    ["another service", { service_sid: "VA" }, {}, "CHALLENGE_TIMEOUT"],
    ["no factor", { factor_sid: null }, {}, "CHALLENGE_TIMEOUT"],
  ])("reject the service's word on %s", async (_what, found, wait, code) => {
    const app = await start();
    change = found;
    approve();
    const timeoutMs = code === "CHALLENGE_TIMEOUT" ? SHORT_MS : TIMEOUT_MS;
    await expect(app.wait({ timeoutMs, ...wait })).rejects.toHaveProperty("code", code);
  });

  it.each([
    ["service", { allowedServiceSids: [`VA${"9".repeat(32)}`] }, {}],
    [
      "account",
      { allowedAccountSids: [`AC${"9".repeat(32)}`, `AC${"8".repeat(32)}`] },
      { accountSid: `AC${"9".repeat(32)}` },
    ],
  ])("reject the word of a %s that is not allowed", async (_what, options, wait) => {
    const app = await start(options);
    approve();
    await expect(app.wait(wait)).rejects.toHaveProperty("code", "ACCOUNT_NOT_ALLOWED");
  });

  it("resolve by the request while the service is down", async () => {
    const app = await start();
    isDown = true;
    const error: unknown = await app
      .wait({ timeoutMs: SHORT_MS })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "CHALLENGE_TIMEOUT", cause: { code: "UNREACHABLE" } });
    expect(asked.length).toBeLessThanOrEqual(4);
    const waiting = app.wait();
    isDown = false;
    approve();
    await deliver(app);
    expect(await waiting).toHaveProperty("type", "challenge.approved");
  });
}
