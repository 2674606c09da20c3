import { once } from "node:events";
import { connect } from "node:net";
import bodyParser from "body-parser";
import type { PushWebhooksOptions } from "express-push-verification";
import { eventPairs, eventRequest, signedRequestOf } from "./support/webhook-requests";
import {
  closeServers,
  rawRequest,
  send,
  SERVERS,
  startServer,
  stopServers,
  type ListenerOf,
  type Middleware,
} from "./support/servers";
import { createReceiver } from "./support/receivers";
import { createGate } from "./support/waiting";

afterEach(stopServers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  const receiver = (options: Partial<PushWebhooksOptions> = {}, ...before: Middleware[]) =>
    startReceiver(listenerOf, options, before);

  it("handles what arrives until close() has finished the running requests", async () => {
    const { port, push, events } = await receiver();
    const [entered, gate] = [createGate(), createGate()];
    push.on("challenge.approved", () => (entered.open(), gate.opened));
    const running = send(port, eventRequest("challenge.approved"));
    await entered.opened;
    const closed = jest.fn();
    const closing = push.close().then(closed);
    expect(await send(port, eventRequest("challenge.denied"))).toHaveProperty("status", 200);
    expect(closed).not.toHaveBeenCalled();
    gate.open();
    await closing;
    expect(await running).toHaveProperty("status", 200);
    expect(events).toHaveLength(2);
    await expect(push.close()).resolves.toBeUndefined();
  });

  it("responds 503 to a connection that sent nothing until close() resolved", async () => {
    const { port, push } = await receiver();
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    closeServers();
    await push.close({ deadlineMs: 60_000 });
    idle.write(rawRequest(eventRequest("challenge.approved")));
    const [response] = (await once(idle, "data")) as [Buffer];
    expect(response.toString()).toMatch(
      /^HTTP\/1\.1 503 (?=.*\r\nRetry-After: 5\r\n).*\r\nConnection: close\r\n/s,
    );
  });

  const formType = { contentType: "application/x-www-form-urlencoded" };
  it.each<[string, Middleware]>([
    ["by express.raw()", bodyParser.raw({ type: "*/*" })],
    ["by express.text()", bodyParser.text({ type: "*/*" })],
    ["by express.urlencoded()", bodyParser.urlencoded({ extended: false })],
    ["by express.urlencoded({ extended: true })", bodyParser.urlencoded({ extended: true })],
    ["by express.json(), which leaves it alone", bodyParser.json()],
    [
      "by a parser that keeps req.rawBody",
      bodyParser.json({ type: "*/*", strict: false, verify: keepRawBody }) as Middleware,
    ],
  ])("accepts a body that was consumed before %s", async (_how, middleware) => {
    // A JSON parser rejects a form; this test ignores its error.
    const lenient: Middleware = (req, res, next) => middleware(req, res, () => next());
    const { port, events } = await receiver({}, lenient);
    const added = [...new URLSearchParams("tag=b&tag=a&empty=")];
    const params = [...eventPairs("challenge.approved"), ...added];
    expect(await send(port, signedRequestOf(params, formType))).toHaveProperty("status", 200);
    expect(events).toMatchObject([{ type: "challenge.approved" }]);
  });
});

it("handles a request whose client does not wait for the response", async () => {
  const { port, push } = await startReceiver(SERVERS[0]![1]);
  const leaving = new AbortController();
  const handled = createGate();
  push.onAny(async () => {
    leaving.abort();
    await expect(sent).rejects.toThrow();
    handled.open();
  });
  const sent = send(port, eventRequest("factor.created"), leaving.signal);
  sent.catch(() => {});
  await handled.opened;
});

async function startReceiver(
  listenerOf: ListenerOf,
  options: Partial<PushWebhooksOptions> = {},
  before: Middleware[] = [],
) {
  const created = createReceiver(options);
  return { ...created, port: await startServer(listenerOf(created.push, ...before)) };
}

function keepRawBody(req: unknown, _res: unknown, bytes: Buffer): void {
  (req as { rawBody?: Buffer }).rawBody = bytes;
}
