import { request } from "node:http";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { AUTH_TOKEN, eventCall, PUBLIC_URL } from "./support/calls";
import { send, startServer, stopServers } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const later = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs));
const never = () => new Promise<never>(() => {});
const DEADLINE_MS = 900;

afterEach(stopServers);

/** Sends a request whose body arrives late, and returns the status and how long it took. */
async function sendSlowly(port: number, bodyDelayMs: number): Promise<[number, number]> {
  const call = eventCall("factor.created");
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

describe("the lease of a claim", () => {
  it.each<[Partial<PushWebhooksOptions>, number]>([
    [{}, 60_000],
    [{ deadlineMs: 120_000, handlerTimeoutMs: 110_000 }, 120_000],
    [{ acknowledge: "before", handlerTimeoutMs: 90_000 }, 104_000],
  ])("lasts as long as the handlers may run: %j", async (options, atLeastMs) => {
    const leases: number[] = [];
    const dedupe: PushWebhooksOptions["dedupe"] = {
      claim({ leaseMs }) {
        leases.push(leaseMs);
        return "new";
      },
      complete() {},
      release() {},
    };
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, dedupe, ...options });
    const port = await startServer((req, res) => void push(req, res));
    expect((await send(port, eventCall("factor.created"))).status).toBe(200);
    expect(leases).toEqual([expect.any(Number)]);
    expect(leases[0]).toBeGreaterThanOrEqual(atLeastMs);
  });
});
