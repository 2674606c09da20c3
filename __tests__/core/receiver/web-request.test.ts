import timers from "node:timers";
import { verifyPushRequest, type WebhookError } from "express-push-verification";
import { createReceiver } from "../../support/receivers";
import { inspectReceiver } from "../../../lib/core/receiver/inspection";
import { createGate, nextTurn } from "../../support/waiting";
import { eventRequest, PUBLIC_URL, toWebRequest } from "../../support/webhook-requests";

const good = () => eventRequest("challenge.approved");

function streamed(body: ReadableStream) {
  const { headers } = good();
  return new Request(PUBLIC_URL, { method: "POST", headers, body, duplex: "half" as const });
}

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
  const cancel = jest.fn();
  const pull = (controller: ReadableStreamDefaultController) => {
    pulled++;
    controller.enqueue(new Uint8Array(16_384));
  };
  const { status } = await push.fetch(streamed(new ReadableStream({ pull, cancel })));
  expect(status).toBe(413);
  expect(pulled).toBeLessThan(8);
  expect(cancel).toHaveBeenCalled();
});

it("responds 415 to a body without a type", async () => {
  const request = streamed(new Blob([good().body ?? ""]).stream());
  request.headers.delete("content-type");
  expect(await createReceiver().push.fetch(request)).toHaveProperty("status", 415);
});

it("responds 400 to a body that breaks off", async () => {
  const { push, errors } = createReceiver();
  const pull = (body: ReadableStreamDefaultController) => body.error(new Error("gone"));
  expect(await push.fetch(streamed(new ReadableStream({ pull })))).toHaveProperty("status", 400);
  expect(errors).toMatchObject([{ code: "BODY_MALFORMED", cause: { message: "gone" } }]);
});

it("gives a body 10 s, or deadlineMs if that is less", async () => {
  const expire = ((run: () => void) => setImmediate(run)) as unknown as typeof setTimeout;
  const start = jest.spyOn(timers, "setTimeout").mockImplementation(expire);
  const endless = () => streamed(new ReadableStream());
  for (const deadlineMs of [100, 60_000]) {
    const { push } = createReceiver({ deadlineMs });
    expect(await push.fetch(endless())).toHaveProperty("status", 408);
  }
  const verified = verifyPushRequest(endless(), { authToken: "x", publicUrl: PUBLIC_URL });
  await expect(verified).rejects.toHaveProperty("code", "BODY_TIMEOUT");
  expect(start.mock.calls.map(([, delayMs]) => delayMs)).toEqual([100, 10_000, 10_000]);
  start.mockRestore();
});

it.each([undefined, {}, "https://app.example.test/"])(
  "rejects %j, which is no Request, with a TypeError",
  async (value) => {
    const { push } = createReceiver();
    await expect(push.fetch(value as never)).rejects.toHaveProperty("name", "TypeError");
  },
);

it("is waited for by close() after the pending waits ended", async () => {
  const { push, receive } = createReceiver();
  const gate = createGate();
  push.onAny(() => gate.opened);
  const running = receive(good());
  await nextTurn();
  const wait = { challengeSid: `YC${"0".repeat(32)}`, entityIdentity: "user-7f3a-22" };
  const waited = push.waitForChallenge(wait).catch(({ code }: WebhookError) => code);
  expect(inspectReceiver(push)?.listPendingWaits()).toHaveLength(1);
  const closing = push.close({ deadlineMs: 2 ** 31 - 1 });
  expect(await Promise.race([waited, nextTurn()])).toBe("CLOSING");
  gate.open();
  await closing;
  expect(await running).toBe(200);
});
