import {
  connect,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type Http2ServerResponse,
} from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebhookError } from "express-push-verification";
import { HOSTILE_ROWS } from "../../support/hostile-rows";
import { createReceiver } from "../../support/receivers";
import { countTime, until } from "../../support/waiting";
import { eventRequest, type TestRequest } from "../../support/webhook-requests";

let receiver: ReturnType<typeof createReceiver>;
let server: Http2Server;
let session: ClientHttp2Session;

countTime();
afterEach(() => {
  session.destroy();
  server.close();
});

function start(options = {}, wrap = (_res: Http2ServerResponse) => {}) {
  receiver = createReceiver({ deadlineMs: 1_000, ...options });
  server = createServer((req, res) => {
    wrap(res);
    receiver.push(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  }).listen(0);
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Sends a request; returns its status, or 0 if the stream was reset without a response. */
function send(
  { method, path, headers, body }: TestRequest,
  { isEndless = false, hasEnd = true, isReset = false } = {},
) {
  return new Promise((resolve) => {
    const fields = { ":method": method, ":path": path, ...headers };
    const endStream = body === undefined && hasEnd && !isEndless;
    const stream = session.request(fields, { endStream });
    stream.on("response", (response) => resolve(Number(response[":status"])));
    stream.on("error", () => {});
    stream.on("close", () => resolve(0));
    stream.resume();
    if (isEndless) {
      const chunk = Buffer.alloc(16_384, "y");
      const write = () => void (stream.closed || stream.destroyed || stream.write(chunk, write));
      write();
    } else if (isReset) {
      stream.write("uuid=", () => stream.close(8));
    } else if (hasEnd) {
      stream.end(body);
    }
  });
}

const good = () => eventRequest("challenge.approved");
const get = () => eventRequest("factor.created", {}, { method: "GET" });
const measured = () => {
  const { headers, ...rest } = eventRequest("factor.verified");
  return { ...rest, headers: { ...headers, "content-length": String(rest.body?.length) } };
};

it.each(
  Object.values(HOSTILE_ROWS)
    .flat()
    .flatMap(([what, sent, ...row]) => ("path" in sent ? [[what, sent, row] as const] : [])),
)("hostile: %s", async (_what, request, [result, more]) => {
  start({ deadlineMs: 14_000, ...more?.options });
  const statuses = typeof result === "string" ? new WebhookError(result, "").status : result;
  expect([statuses].flat()).toContain(await send(request));
  expect(receiver.failed).toEqual([]);
});

it.each([
  ["a GET with a body", { ...get(), body: "a=b" }, {}, 403],
  ["a GET that does not end", get(), { hasEnd: false }, 408],
  ["a body that does not end", { ...good(), body: undefined }, { hasEnd: false }, 408],
  ["an endless body of a GET", get(), { isEndless: true }, 413],
  ["an endless body without a signature", { ...good(), headers: {} }, { isEndless: true }, 403],
  ["a reset", good(), { isReset: true }, 0],
])("accepts the next requests after %s", async (_what, request, how, status) => {
  start();
  expect(await send(request, how)).toBe(status);
  expect(receiver.events).toEqual([]);
  for (const next of [good(), measured(), get()]) expect(await send(next)).toBe(200);
  expect(receiver.events).toHaveLength(3);
  expect(receiver.failed).toEqual([]);
});

it.each([false, true])("responds behind a wrapper of end that throws: %s", async (throws) => {
  start({}, (res) => {
    const end = res.end.bind(res);
    res.end = ((chunk?: string) => {
      if (chunk !== undefined) Buffer.from(chunk);
      if (throws && res.statusCode !== 200) throw new Error("A wrapper failed.");
      return chunk === undefined ? end() : end(chunk);
    }) as never;
  });
  const large = { ...good(), body: "x".repeat(70_000) };
  expect(await send({ ...large, headers: {} }, { hasEnd: false })).toBe(403);
  expect(await send(large, { isEndless: true })).toBe(413);
  expect(await send(good())).toBe(200);
  // When the rest of the body was discarded.
  if (throws) await until(() => receiver.failed.length === 2);
  expect(receiver.failed.filter((code) => code !== "INTERNAL_ERROR")).toEqual([]);
});
