import type { Emulator, Fault } from "express-push-verification/emulator";
import { encodeForm } from "../../support/webhook-requests";
import { startEmulator, startReceiver, startTarget, stopEmulators } from "../../support/emulators";
import { startSilentTls } from "../../support/servers";
import { useWarnings } from "../../support/warnings";
import { countTime, nextTurn, until } from "../../support/waiting";

afterEach(stopEmulators);

function liveThrough(emulator: Emulator) {
  const { sid: factor_sid } = emulator.createFactor();
  emulator.verifyFactor(factor_sid);
  emulator.approveChallenge(emulator.createChallenge({ factor_sid }).sid);
  emulator.denyChallenge(emulator.createChallenge({ factor_sid }).sid);
  emulator.deleteFactor(factor_sid);
}

const ORDER = [
  "factor.created",
  "factor.verified",
  "challenge.approved",
  "challenge.denied",
  "factor.deleted",
] as const;

/** A port that no server listens on. */
const CLOSED = "http://127.0.0.1:9/";
const FORM = "application/x-www-form-urlencoded";
const CONTENT_TYPES = ["application/x-www-urlencoded", FORM, `${FORM}; charset=UTF-8`];

const EVERY = (["v1", "v2"] as const).flatMap((version) =>
  ["", "?tenant='blue'%2f", "?q=ö", "?flag", "?b=1&", "?"].flatMap((query, index) =>
    // After a bare question mark a signed POST could be replayed as a GET, which is rejected.
    (["POST", "GET"] as const).slice(0, query === "?" ? 1 : 2).map((webhook_method, method) => {
      const contentType = CONTENT_TYPES[(index + method) % 3] ?? "";
      return [version, webhook_method, contentType, query] as const;
    }),
  ),
);

it.each(EVERY)(
  "a receiver takes all: %s by %s as %s to %j",
  async (version, method, type, query) => {
    const header = { signatureHeader: "X-Push-Signature" };
    const emulator = await startEmulator({ contentType: type, ...header });
    const { authToken, signatureHeader } = emulator;
    const receiver = await startReceiver(authToken, { query, signatureHeader });
    const webhook_url = `${receiver.publicUrl.replace("//", "//bot:s3cret@")}#rc=2`;
    emulator.createWebhook({ webhook_url, version, webhook_method: method });
    liveThrough(emulator);
    await emulator.settled();
    expect(receiver.rejected).toEqual([]);
    expect(receiver.events.map((event) => event.type).toSorted()).toEqual(ORDER.toSorted());
    const account_sid = emulator.accountSid;
    for (const event of receiver.events) {
      expect(event).toMatchObject({ version, account_sid, issues: [] });
    }
    expect(emulator.deliveries.map(({ status }) => status)).toEqual(Array(5).fill("succeeded"));
    // Without user info and fragment.
    const [url, ...fragments] = emulator.deliveries[0]?.request.url.split("#") ?? [];
    expect({ url, fragments }).toEqual({
      url: expect.stringContaining(receiver.publicUrl),
      fragments: [],
    });
  },
);

describe("deliveries", () => {
  const warnings = useWarnings();

  it("arrive in the order of their events, up to maxDeliveries", async () => {
    const emulator = await startEmulator({ maxDeliveries: 3 });
    const webhook_url = await startTarget((_req, res) => res.end());
    emulator.createWebhook({ webhook_url });
    liveThrough(emulator);
    await emulator.settled();
    expect(emulator.deliveries.map(({ type }) => type)).toEqual(ORDER.slice(2));
  });

  it("arrive in the order of their events", async () => {
    const emulator = await startEmulator();
    const seen: unknown[] = [];
    const url = await startTarget(({ url: path, headers }, res) => {
      expect(headers.authorization).toBe(`Basic ${btoa("bot:$&")}`);
      res.end(void seen.push(new URLSearchParams(path?.split("?")[1]).get("type")));
    });
    const webhook_url = `${url.replace("//", () => "//bot:$&@")}/`;
    emulator.createWebhook({ webhook_url, webhook_method: "GET" });
    liveThrough(emulator);
    await emulator.settled();
    expect(seen).toEqual(ORDER);
  });

  it("record a request that is sent again once, unchanged", async () => {
    const emulator = await startEmulator();
    const headers = { "x-kind": "tea" };
    const uuids: unknown[] = [];
    const url = await startTarget((req, res) => {
      uuids.push(req.headers["x-idempotency-token"]);
      if (uuids.length === 1) req.socket.destroy();
      else res.writeHead(200, headers).end("thanks");
    });
    const told: unknown[] = [];
    emulator.onDelivery((delivery) => told.push({ ...delivery }));
    const { sid } = emulator.createWebhook({ webhook_url: `${url}/push`, version: "v1" });
    const factor = emulator.createFactor();
    expect(emulator.deliveries).toMatchObject([{ status: "pending", response: undefined }]);
    await emulator.settled();
    const [delivery] = emulator.deliveries;
    const { uuid, request } = delivery!;
    expect(delivery).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: "factor.created",
      webhook_sid: sid,
      status: "succeeded",
      request,
      response: { status: 200, headers: expect.objectContaining(headers), body: "thanks" },
      attempts: 2,
      failures: [expect.objectContaining({ code: "ECONNRESET" })],
      durationMs: expect.any(Number),
      faults: [],
    });
    const { params, headers: sent, ...target } = request;
    const body = encodeForm(params);
    expect(target).toEqual({ method: "POST", url: `${url}/push`, body });
    expect(Object.fromEntries(params)).toMatchObject({ uuid, factor_sid: factor.sid });
    const { "X-Service-Signature": _, ...others } = sent;
    expect(others).toEqual({
      "Content-Type": "application/x-www-urlencoded",
      "X-Idempotency-Token": uuid,
      "User-Agent": "express-push-verification",
    });
    expect({ uuids, told }).toEqual({ uuids: [uuid, uuid], told: [delivery] });
  });

  it.each([0, 1, 3])("with %i retries are sent so often again", async (connectionRetries) => {
    const webhooks = [{ webhook_url: CLOSED }];
    const emulator = await startEmulator({ webhooks, connectionRetries });
    emulator.injectFault({ kind: "duplicate" });
    emulator.createFactor();
    await emulator.settled();
    const attempts = connectionRetries + 1;
    const failures = Array(attempts).fill({ code: "ECONNREFUSED" });
    const failed = { status: "failed", attempts, failures, response: undefined };
    expect(emulator.deliveries).toMatchObject([failed, failed]);
  });

  it("have one total time-out for all attempts", async () => {
    const emulator = await startEmulator({ totalTimeoutMs: 15_000 });
    const passMs = [14_000, 1_000];
    const url = await startTarget((req, res) => {
      jest.advanceTimersByTime(passMs.shift() ?? 0);
      if (passMs.length > 0) req.socket.destroy();
      else res.end();
    });
    emulator.createWebhook({ webhook_url: `${url}/` });
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    jest.advanceTimersByTime(5);
    emulator.createFactor();
    await emulator.settled();
    jest.useRealTimers();
    const failures = [{ code: "ECONNRESET" }, { code: "TIMEOUT" }];
    expect(emulator.deliveries).toMatchObject([{ failures, durationMs: 15_000 }]);
  });

  it("have a time-out for a connection", async () => {
    const tls = await startSilentTls();
    const webhooks = [{ webhook_url: tls.url }];
    const emulator = await startEmulator({ webhooks, connectTimeoutMs: 1 });
    emulator.createFactor();
    await emulator.settled();
    const message: unknown = expect.stringContaining("within 1 ms");
    const failures = Array(2).fill({ code: "CONNECT_TIMEOUT", message });
    expect(emulator.deliveries).toMatchObject([{ failures }]);
    tls.close();
  });

  it("are settled when those that began meanwhile have ended", async () => {
    const emulator = await startEmulator({ webhooks: [{ webhook_url: CLOSED }] });
    emulator.onDelivery(() => {
      if (emulator.deliveries.length === 1) emulator.createFactor();
    });
    emulator.createFactor();
    await emulator.settled();
    expect(emulator.deliveries).toMatchObject(Array(2).fill({ status: "failed" }));
  });

  it("are reordered also after they were settled before", async () => {
    const emulator = await startEmulator();
    const seen: string[] = [];
    emulator.onDelivery(({ type }) => seen.push(type));
    const webhook_url = `${await startTarget((_req, res) => res.end())}/`;
    const event_types = ["factor.created", "factor.deleted"] as const;
    emulator.createWebhook({ webhook_url, event_types });
    emulator.createWebhook({ webhook_url, event_types: ["factor.verified"] });
    emulator.createFactor();
    await emulator.settled();
    emulator.injectFault({ kind: "reorder", delay_ms: 600_000, event_type: "factor.created" });
    const { sid } = emulator.createFactor();
    await nextTurn();
    // Another webhook's.
    emulator.verifyFactor(sid);
    await until(() => seen.length === 2);
    expect(emulator.deliveries[1]).toMatchObject({ type: "factor.created", attempts: 0 });
    emulator.deleteFactor(sid);
    await emulator.settled();
    expect(seen).toEqual(["factor.created", "factor.verified", "factor.deleted", "factor.created"]);
  });

  it.each<Fault["kind"][]>([["delay"], ["delay", "reorder"]])(
    "are aborted at once when the emulator is closed during %s %s",
    async (...kinds) => {
      const emulator = await startEmulator();
      emulator.createWebhook({ webhook_url: `${await startTarget(() => {})}/` });
      for (const kind of kinds) emulator.injectFault({ kind, delay_ms: 600_000 });
      for (let created = 0; created < 12; created++) emulator.createFactor();
      await nextTurn();
      await emulator.close();
      expect(emulator.deliveries).toMatchObject(Array(12).fill({ status: "failed" }));
      emulator.createFactor();
      expect(emulator.deliveries).toHaveLength(12);
      // None of too many listeners.
      expect(warnings.listMessages()).toEqual([]);
    },
  );

  it("survive listeners that fail", async () => {
    const emulator = await startEmulator({ webhooks: [{ webhook_url: CLOSED }] });
    emulator.onDelivery(() => Promise.reject(new RangeError("hush")) as never);
    emulator.onDelivery(() => {
      throw new RangeError("hush");
    });
    emulator.createFactor();
    await emulator.settled();
    await nextTurn();
    expect(warnings.listMessages()).toEqual(Array(2).fill(expect.stringContaining("RangeError")));
  });
});

describe("with a fault, the real receiver", () => {
  countTime();
  const create = (emulator: Emulator) => emulator.createFactor();
  const verify = (emulator: Emulator) => emulator.verifyFactor(create(emulator).sid);
  const verifyAndDelete = (emulator: Emulator) => {
    const factor = verify(emulator);
    emulator.deleteFactor(factor.sid);
    return factor;
  };
  const rotate = (emulator: Emulator) => {
    emulator.rotateAuthToken(emulator.previousAuthToken);
    return verify(emulator);
  };
  const dropped = { status: "succeeded", attempts: 2, failures: [{ code: "DROPPED" }] };
  const inOrder = ["factor.created", "factor.verified"];
  const both = Array(2).fill({ status: "succeeded" });
  type More = Partial<Record<"copies" | "delay_ms" | "event_type" | "params" | "times", unknown>>;
  it.each<[Fault["kind"], handled: string[], deliveries: object[], more?: More, typeof verify?]>([
    ["duplicate", ["factor.created"], Array(5).fill({ response: { status: 200 } }), { copies: 4 }],
    ["reorder", ["factor.created"], [{ status: "succeeded" }], { delay_ms: 600_000 }],
    ["reorder", inOrder.toReversed(), both, { delay_ms: 600_000 }, verify],
    ["delay", inOrder.toReversed(), both, { delay_ms: 300, event_type: "factor.created" }, verify],
    ["drop-connection", ["factor.created"], [dropped]],
    ["wrong-signature", [], [{ status: "failed", attempts: 1, response: { status: 403 } }]],
    ["old-token", inOrder, both, {}, rotate],
    ["unknown-event-type", ["challenge.expired"], [{ type: "challenge.expired" }]],
    [
      "unknown-event-type",
      ["challenge.expired", "challenge.expired", "factor.deleted"],
      Array(3).fill({ status: "succeeded" }),
      { times: 2 },
      verifyAndDelete,
    ],
    ["extra-parameters", ["factor.created"], [{}], { params: { note: "1", "n[b]": "ü" } }],
  ])("%s: handles %j", async (kind, handled, deliveries, more = {}, act = create) => {
    const emulator = await startEmulator();
    const receiver = await startReceiver([emulator.authToken, emulator.previousAuthToken]);
    const indexes: number[] = [];
    receiver.push.onAny((_event, { authTokenIndex }) => indexes.push(authTokenIndex));
    emulator.createWebhook({ webhook_url: receiver.publicUrl, event_types: ["*"] });
    // Faults of another type leave the next one to happen.
    emulator.injectFault({ kind, event_type: "challenge.denied" });
    emulator.injectFault({ kind, ...more } as Fault);
    act(emulator);
    await emulator.settled();
    expect(receiver.events.map(({ type }) => type)).toEqual(handled);
    expect(emulator.deliveries).toMatchObject(deliveries);
    expect(emulator.deliveries[0]).toHaveProperty("faults", [kind]);
    const uuids = new Set(emulator.deliveries.map(({ uuid }) => uuid));
    expect(uuids.size).toBe(Math.max(handled.length, 1));
    expect(receiver.rejected).toEqual(handled.length === 0 ? ["SIGNATURE_MISMATCH"] : []);
    expect(indexes.toSorted()).toEqual(kind === "old-token" ? [0, 1] : handled.map(() => 0));
    const added = Object.entries(more.params ?? {});
    if (added.length > 0) expect(receiver.events[0]?.params.slice(-2)).toEqual(added);
  });
});
