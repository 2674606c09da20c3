import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import type { PushWebhooksOptions } from "express-push-verification";
import { createReceiver } from "../../support/receivers";
import { nextTurn } from "../../support/waiting";
import { eventRequest } from "../../support/webhook-requests";
import { rawRequest, send, sendRaw, startServer, stopServers } from "../../support/servers";

afterEach(stopServers);

const good = eventRequest("factor.created");
const { "x-service-signature": _left, ...unsigned } = good.headers;
const startOf = (headers: Record<string, string>) =>
  rawRequest({ ...good, headers, body: undefined });
const start = (options: Partial<PushWebhooksOptions> = {}) =>
  startServer(createReceiver({ methods: ["POST"], ...options }).push);

it("responds 200 without a body", async () => {
  const ok = await sendRaw(await start(), [rawRequest(good)]);
  expect(ok.text).toMatch(/^HTTP\/1\.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n/);
});

it("responds to a rejected request with the text of its status", async () => {
  const { text } = await sendRaw(await start(), [rawRequest({ ...good, method: "PUT" })]);
  expect(text).toMatch(/\r\nAllow: POST\r\n[^]*\r\n\r\nMethod Not Allowed\n$/);
});

it("asks the client of a request that runs during close() to connect again", async () => {
  const { push } = createReceiver();
  const ends: string[] = [];
  push.onAny(async () => {
    void push.close().then(() => ends.push("closed"));
    await nextTurn();
    ends.push("handled");
  });
  const { headers } = await send(await startServer(push), good);
  expect(headers.get("connection")).toBe("close");
  expect(ends).toEqual(["handled", "closed"]);
});

it("responds to the request after a rejected small body", async () => {
  const small = (connection: string) =>
    `${startOf({ ...unsigned, "content-length": "5", connection })}hello`;
  const sent = [small("keep-alive"), small("close")];
  const { text } = await sendRaw(await start(), sent, { untilClosed: true });
  expect(text.match(/HTTP\/1\.1 403/g)).toHaveLength(2);
});

it.each([
  ["no more of a late body", 408, startOf({ ...good.headers, "content-length": "50" })],
  ["a large body", 403, startOf({ ...unsigned, "content-length": "65537" })],
  ["a body of unknown length", 403, startOf({ ...unsigned, "transfer-encoding": "chunked" })],
  ["a small body that does not come", 403, startOf({ ...unsigned, "content-length": "5" })],
  ["a body over the limit", 413, startOf({ ...good.headers, "content-length": "65537" })],
])("closes the connection instead of waiting for %s", async (_what, status, text) => {
  const port = await start({ deadlineMs: 100 });
  const response = await sendRaw(port, [text], { untilClosed: true });
  expect(response).toMatchObject({ status, gaveUp: false });
});

it.each(["413", "403"])("delivers a %s to a client that sends without an end", async (status) => {
  const headers = status === "413" ? good.headers : unsigned;
  const port = await start();
  const upload = request({ port, method: "POST", headers });
  const chunk = Buffer.alloc(65_536);
  const write = () => void (upload.destroyed || upload.write(chunk, write));
  write();
  // Rejects if the connection is reset before the response.
  const [{ statusCode }] = (await once(upload, "response")) as [IncomingMessage];
  upload.on("error", () => {}).destroy();
  expect(statusCode).toBe(Number(status));
});
