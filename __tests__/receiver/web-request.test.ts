/** `push.fetch` and `verifyPushRequest` with a `Request` of the Web platform. */
import { verifyPushRequest } from "express-push-verification";
import { createReceiver } from "../support/receivers";
import {
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  toWebRequest,
  type TestRequest,
} from "../support/webhook-requests";

const methods = ["POST", "GET"] as const;
const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, methods };
const good = (): TestRequest => eventRequest("challenge.approved");

/** A request whose body is a stream. */
function streamed(body: ReadableStream): Request {
  const { headers } = good();
  return new Request(PUBLIC_URL, { method: "POST", headers, body, duplex: "half" as const });
}

it.each(["POST", "GET"] as const)("handles a %s once, also when it is repeated", async (method) => {
  const { push, events } = createReceiver();
  const request = eventRequest("challenge.approved", {}, { method });
  const responses = await Promise.all([1, 2, 3].map(() => push.fetch(toWebRequest(request))));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(events).toMatchObject([{ type: "challenge.approved" }]);
});

it("responds as push(req, res) does, with forwardErrors too", async () => {
  const { push, rejected } = createReceiver({ forwardErrors: true });
  const response = await push.fetch(toWebRequest({ ...good(), method: "PUT" }));
  expect(response.status).toBe(405);
  expect(Object.fromEntries(response.headers)).toEqual({
    allow: "POST, GET",
    "cache-control": "no-store",
    "content-length": "19",
    "content-type": "text/plain; charset=utf-8",
  });
  expect(await response.text()).toBe("Method Not Allowed\n");
  expect(rejected).toEqual(["METHOD_NOT_ALLOWED"]);
});

it("responds 413 to an endless body without reading on", async () => {
  const { push } = createReceiver();
  let pulled = 0;
  const cancelled = jest.fn();
  const body = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(16_384));
    },
    cancel: cancelled,
  });
  expect(await push.fetch(streamed(body))).toHaveProperty("status", 413);
  expect(pulled).toBeLessThan(8);
  expect(cancelled).toHaveBeenCalled();
});

it("responds 408 to a body that does not arrive, and 400 to one that breaks off", async () => {
  const { push } = createReceiver({ deadlineMs: 100 });
  expect(await push.fetch(streamed(new ReadableStream()))).toHaveProperty("status", 408);
  const broken = new ReadableStream({ pull: (one) => one.error(new Error("gone")) });
  expect(await push.fetch(streamed(broken))).toHaveProperty("status", 400);
});

it.each<[string, (request: Request) => unknown]>([
  ["read", (request) => request.text()],
  ["locked by a reader", (request) => request.body?.getReader()],
])("responds 500 to a request whose body was %s, and names the fix", async (_what, before) => {
  const { push, rejected } = createReceiver();
  const messages: string[] = [];
  push.onError((error) => void messages.push(error.message));
  const request = toWebRequest(good());
  await before(request);
  expect(await push.fetch(request)).toHaveProperty("status", 500);
  expect([rejected, messages]).toEqual([
    ["BODY_CONSUMED"],
    [expect.stringContaining("or a clone of it")],
  ]);
});

it.each([undefined, null, {}, "https://app.example.test/"])(
  "rejects %j, which is no Request, with a TypeError",
  async (value) => {
    const { push } = createReceiver();
    await expect(push.fetch(value as never)).rejects.toHaveProperty("name", "TypeError");
  },
);

it("is waited for by close(), and responds 503 after it", async () => {
  const { push, events, rejected } = createReceiver();
  let release = () => {};
  push.onAny(() => new Promise<void>((resolve) => (release = resolve)));
  const running = push.fetch(toWebRequest(good()));
  await new Promise((resolve) => setImmediate(resolve));
  const closing = push.close();
  release();
  await closing;
  expect(await running).toHaveProperty("status", 200);
  expect(await push.fetch(toWebRequest(good()))).toHaveProperty("status", 503);
  expect([events.length, rejected]).toEqual([1, ["CLOSING"]]);
});

describe("verifyPushRequest", () => {
  it.each(["POST", "GET"] as const)("accepts a Request: %s", async (method) => {
    const request = toWebRequest(eventRequest("factor.created", {}, { method }));
    expect(await verifyPushRequest(request, options)).toHaveProperty("type", "factor.created");
  });

  it("rejects a Request with a large body", async () => {
    const large = toWebRequest({ ...good(), body: "a".repeat(70_000) });
    const verified = verifyPushRequest(large, options);
    await expect(verified).rejects.toHaveProperty("code", "BODY_TOO_LARGE");
  });
});
