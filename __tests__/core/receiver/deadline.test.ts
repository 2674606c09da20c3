import { inspect } from "node:util";
import type { DedupeStore, PushWebhooks, PushWebhooksOptions } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createReceiver } from "../../support/receivers";
import { never } from "../../support/waiting";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../../support/webhook-requests";

const later = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs));
const DEADLINE_MS = 900;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const createPush = (options: Partial<PushWebhooksOptions>) => createReceiver(options).push;

async function send(push: PushWebhooks, bodyDelayMs = 0) {
  const { method, headers, body = "" } = eventRequest("factor.created");
  const bytes = Buffer.from(body);
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 10));
      await later(bodyDelayMs);
      controller.enqueue(bytes.subarray(10));
      controller.close();
    },
  });
  const init = { method, headers, body: stream, duplex: "half" as const };
  return (await push.fetch(new Request(PUBLIC_URL, init))).status;
}

const mark = () => {};
const claiming = (
  claim: DedupeStore["claim"],
  complete: DedupeStore["complete"] = mark,
  release: DedupeStore["release"] = mark,
) => ({ dedupe: { claim, complete, release } });

describe("deadlineMs bounds", () => {
  const slow = () => later(150);
  const all = claiming(() => slow().then(() => "new"), mark, never);
  it.each([
    ["a slow claim", claiming(never), mark, 400, 503],
    ["slow handlers", {}, never, 400, 500],
    ["all together", { authToken: () => slow().then(() => AUTH_TOKEN), ...all }, never, 300, 500],
    ["a slow mark, though the event was handled,", claiming(() => "new", never), slow, 100, 200],
  ])("%s after a slow body", async (_what, options, handler, bodyDelayMs, status) => {
    const push = createPush({ deadlineMs: DEADLINE_MS, ...options });
    push.on("factor.created", handler);
    const statuses: number[] = [];
    void send(push, bodyDelayMs).then((received) => statuses.push(received));
    await jest.advanceTimersByTimeAsync(bodyDelayMs);
    expect(statuses).toEqual([]);
    await jest.advanceTimersByTimeAsync(DEADLINE_MS);
    expect(statuses).toEqual([status]);
  });
});

it.each<[Partial<PushWebhooksOptions>, number]>([
  [{}, 10_000],
  [{ acknowledge: "before" }, 10_000],
  [{ deadlineMs: 60_000 }, 10_000],
  // 500 ms before the deadline, so that their uuid can be released.
  [{ deadlineMs: DEADLINE_MS }, DEADLINE_MS - 500],
])("with %j, handlers have %i ms", async (options, timeoutMs) => {
  const push = createPush(options);
  const signals: AbortSignal[] = [];
  push.onAny((_event, { signal }) => (signals.push(signal), never()));
  void send(push);
  await jest.advanceTimersByTimeAsync(timeoutMs - 1);
  expect(signals).toMatchObject([{ aborted: false }]);
  await jest.advanceTimersByTimeAsync(1);
  expect(signals).toMatchObject([{ aborted: true }]);
});

it.each([
  ["succeed", "complete", [], () => {}],
  ["fail", "release", ["HANDLER_FAILED"], () => Promise.reject(new Error("no"))],
])("close() waits for handlers that %s after the response: %s", async (...row) => {
  const [, made, codes, end] = row;
  const marks: string[] = [];
  const note = (name: string) => () => later(20).then(() => void marks.push(name));
  const store = claiming(() => "new", note("complete"), note("release"));
  const { push, failed } = createReceiver({ acknowledge: "before", deadlineMs: 100, ...store });
  push.on("factor.created", () => later(200).then(end));
  const status = send(push);
  await jest.advanceTimersByTimeAsync(100);
  expect(await status).toBe(200);
  const closing = push.close().then(() => void marks.push("closed"));
  await jest.advanceTimersByTimeAsync(200);
  await closing;
  expect(marks).toEqual([made, "closed"]);
  expect(failed).toEqual(codes);
});

it("responds 503 after 8 s of a store that is down", async () => {
  const claim = (...args: unknown[]) =>
    Promise.reject(Object.assign(new Error("down"), { parameters: args }));
  const { push, events, errors } = createReceiver(claiming(claim));
  const status = send(push);
  await jest.advanceTimersByTimeAsync(7_000);
  expect(errors).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect({ status: await status, events }).toEqual({ status: 503, events: [] });
  expect(errors).toMatchObject([{ cause: { message: "down" } }]);
  expect(inspect(errors, { depth: 10, showHidden: true })).not.toContain("parameters");
});

it("dispatch() rejects at the deadline, without the arguments of the store", async () => {
  const record = () => Promise.reject(Object.assign(new Error("OOM"), { args: ["ada"] }));
  const outcomes = { record, wait: never };
  const push = createPush({ deadlineMs: 100, queue: { store: never, outcomes } });
  const event = eventFixture("challenge.approved", { entity_identity: "ada" });
  const dispatched = push.dispatch(event).catch((reason: unknown) => reason);
  await jest.advanceTimersByTimeAsync(100);
  const error = await dispatched;
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", cause: { message: "OOM" } });
  expect(inspect(error, { depth: 5 })).not.toContain("ada");
});
