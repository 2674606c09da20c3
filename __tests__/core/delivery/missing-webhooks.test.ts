/** Waits for challenges whose webhook request does not arrive, or late. */
import type { PushWebhooksOptions } from "express-push-verification";
import { confirmWith, type FetchedChallenge } from "express-push-verification/admin";
import type { Emulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { clientOf, startEmulator, stopEmulators } from "../../support/emulators";
import { createReceiver } from "../../support/receivers";
import { countTime, until } from "../../support/waiting";
import { PUBLIC_URL } from "../../support/webhook-requests";

const ADA = "ada-lovelace";
const TIMEOUT_MS = 20_000;
/** Before its end, a wait of this time asks three times in its last seconds. */
const SHORT_MS = 1_000;

describe("waits", () => {
  countTime(10);
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

  function start(options: Partial<PushWebhooksOptions> = {}) {
    const { authToken } = emulator;
    const confirm = confirmWith(clientOf(emulator, { fetch: fetchFromService }));
    const receiver = createReceiver({ authToken, confirm, ...options });
    const wait = (more = {}) =>
      receiver.push.waitForChallenge({ ...challenge, timeoutMs: TIMEOUT_MS, ...more });
    return { ...receiver, wait };
  }

  type App = ReturnType<typeof start>;

  async function deliver(app: App, type: "approved" | "denied" = "approved"): Promise<void> {
    const { accountSid: account_sid, serviceSid: service_sid, authToken } = emulator;
    const { challengeSid: challenge_sid, entityIdentity: entity_identity } = challenge;
    const { factor_sid } = emulator.fetchChallenge(challenge_sid);
    const names = { account_sid, service_sid, challenge_sid, entity_identity, factor_sid };
    const settings = { authToken, publicUrl: PUBLIC_URL };
    expect(await app.receive(signedRequest(settings, `challenge.${type}`, names))).toBe(200);
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
    const app = start();
    approve();
    const outcome = await app.wait();
    const { factor_sid } = emulator.fetchChallenge(challenge.challengeSid);
    expect(outcome).toEqual({
      type: "challenge.approved",
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      challenge_sid: challenge.challengeSid,
      entity_identity: ADA,
      factor_sid,
      at: expect.any(Date) as Date,
      source: "service",
    });
    expect(await app.wait()).toEqual(outcome);
  });

  it("resolve by a request that comes after the wait began", async () => {
    const app = start();
    const waiting = app.wait();
    await until(() => asked.length === 1);
    expect(asked).toEqual(["pending"]);
    emulator.denyChallenge(challenge.challengeSid);
    await deliver(app, "denied");
    expect(await waiting).toMatchObject({ type: "challenge.denied", source: "webhook" });
  });

  it.each<[what: string, found: object, wait: object, code: string]>([
    ["another account", {}, { accountSid: `AC${"9".repeat(32)}` }, "ACCOUNT_NOT_ALLOWED"],
    ["an old response", { date_responded: "2020-01-01T00:00:00Z" }, {}, "CHALLENGE_TIMEOUT"],
    ["another challenge", { sid: `YC${"9".repeat(32)}` }, {}, "CHALLENGE_TIMEOUT"],
    ["another account of the service", { account_sid: "AC" }, {}, "CHALLENGE_TIMEOUT"],
    ["another service", { service_sid: "VA" }, {}, "CHALLENGE_TIMEOUT"],
    ["no factor", { factor_sid: null }, {}, "CHALLENGE_TIMEOUT"],
  ])("reject the service's word on %s", async (_what, found, wait, code) => {
    const app = start();
    change = found;
    approve();
    const timeoutMs = code === "CHALLENGE_TIMEOUT" ? SHORT_MS : TIMEOUT_MS;
    await expect(app.wait({ timeoutMs, ...wait })).rejects.toHaveProperty("code", code);
  });

  it("reject the word of a service that is not allowed", async () => {
    const app = start({ allowedServiceSids: [`VA${"9".repeat(32)}`] });
    approve();
    await expect(app.wait()).rejects.toHaveProperty("code", "ACCOUNT_NOT_ALLOWED");
  });

  it("resolve by the request while the service is down", async () => {
    const app = start();
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
});
