import { request } from "node:http";
import { inspect } from "node:util";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const later = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs));
const never = () => new Promise<never>(() => {});
const DEADLINE_MS = 900;

afterEach(stopServers);

/** Sends a request whose body arrives late, and returns the status and how long it took. */
async function sendSlowly(port: number, bodyDelayMs: number): Promise<[number, number]> {
  const call = eventRequest("factor.created");
  const body = Buffer.from(call.body ?? "");
  const headers = { ...call.headers, "content-length": body.length };
  const startMs = performance.now();
  const status = new Promise<number>((resolve, reject) => {
    const sent = request({ port, method: "POST", path: call.path, headers }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    }).on("error", reject);
    sent.write(body.subarray(0, 10));
    setTimeout(() => sent.end(body.subarray(10)), bodyDelayMs);
  });
  return [await status, performance.now() - startMs];
}

describe("deadlineMs bounds", () => {
  it.each<[string, Partial<PushWebhooksOptions>, () => unknown, number, number]>([
    ["a slow token lookup", { authToken: never }, () => {}, 400, 503],
    ["a slow claim", { dedupe: { claim: never, complete() {}, release() {} } }, () => {}, 400, 503],
    ["slow handlers", {}, never, 400, 500],
    [
      "all of them together",
      {
        authToken: () => later(150).then(() => AUTH_TOKEN),
        dedupe: {
          claim: () => later(150).then(() => "new" as const),
          complete() {},
          release: never,
        },
      },
      never,
      300,
      500,
    ],
    [
      "a slow completion, which does not make handled events fail",
      { dedupe: { claim: () => "new", complete: never, release() {} } },
      () => later(100),
      100,
      200,
    ],
  ])("%s after a slow body", async (_what, options, handler, bodyDelayMs, status) => {
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      deadlineMs: DEADLINE_MS,
      logger: silent,
      ...options,
    });
    push.on("factor.created", handler);
    const port = await startServer((req, res) => void push(req, res));
    const [received, tookMs] = await sendSlowly(port, bodyDelayMs);
    expect(received).toBe(status);
    expect(tookMs).toBeLessThan(DEADLINE_MS + 300);
  });

  it("a body that does not arrive", async () => {
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      deadlineMs: 300,
      logger: silent,
    });
    const port = await startServer((req, res) => void push(req, res));
    const [status, tookMs] = await sendSlowly(port, 5_000);
    expect(status).toBe(408);
    expect(tookMs).toBeLessThan(1_000);
  });
});

describe("handlers that run after the response", () => {
  it("are completed once, without STORE_UNAVAILABLE, after deadlineMs", async () => {
    const marks: string[] = [];
    const codes: string[] = [];
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      acknowledge: "before",
      deadlineMs: 100,
      logger: silent,
      dedupe: {
        claim: () => "new",
        complete: () => later(20).then(() => void marks.push("complete")),
        release: () => void marks.push("release"),
      },
    });
    push.onError(({ code }) => codes.push(code)).on("factor.created", () => later(200));
    const port = await startServer((req, res) => void push(req, res));
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 200);
    await push.close();
    expect({ marks, codes }).toEqual({ marks: ["complete"], codes: [] });
  });
});

describe("the lease of a claim", () => {
  it.each<[Partial<PushWebhooksOptions>]>([
    [{ deadlineMs: 120_000 }],
    [{ acknowledge: "before", handlerTimeoutMs: 120_000 }],
  ])("is longer than handlers may run: %j", async (options) => {
    const leases: number[] = [];
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      dedupe: {
        claim: ({ leaseMs }) => (leases.push(leaseMs), "done"),
        complete() {},
        release() {},
      },
      ...options,
    });
    const port = await startServer((req, res) => void push(req, res));
    await send(port, eventRequest("factor.created"));
    expect(leases[0]).toBeGreaterThan(120_000);
  });
});

describe("dispatch()", () => {
  it("rejects with STORE_UNAVAILABLE at the deadline, without the arguments of the store", async () => {
    const record = () => Promise.reject(Object.assign(new Error("OOM"), { args: ["ada"] }));
    const outcomes = { record, wait: never };
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      deadlineMs: 100,
      queue: { store: never, outcomes },
    });
    const event = eventFixture("challenge.approved", { entity_identity: "ada" });
    const error: unknown = await push.dispatch(event).catch((reason: unknown) => reason);
    expect(error).toHaveProperty("code", "STORE_UNAVAILABLE");
    expect(error).toHaveProperty("cause.message", "OOM");
    expect(inspect(error, { depth: 5 })).not.toContain("ada");
  });
});
