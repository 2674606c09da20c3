/**
 * Requests of untrusted clients, with and without a valid signature, as bytes on a socket, on every
 * kind of server. After each of them the next good request is accepted.
 */
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "./support/webhook-requests";
import { good, HOSTILE_ROWS, signature } from "./support/hostile-rows";
import { FRAME_ROWS, STREAM_ROWS } from "./support/hostile-stream-rows";
import { sendFrames } from "./support/http2-frames";
import {
  HTTP2_SERVERS,
  sendStream,
  startHttp2Server,
  stopHttp2Servers,
  type Http2Kind,
  type StartedHttp2Server,
} from "./support/http2-servers";
import { rawRequest, send, sendRaw, SERVERS, startServer, stopServers } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(() => {
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
afterEach(stopServers);
afterEach(stopHttp2Servers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  describe.each(Object.entries(HOSTILE_ROWS))("hostile by its %s:", (_kind, all) => {
    it.each(all.map((row) => [row.what, row] as const))("%s", async (_what, row) => {
      const push = pushWebhooks({
        authToken: AUTH_TOKEN,
        publicUrl: PUBLIC_URL,
        methods: ["POST", "GET"],
        logger: silent,
        ...row.options,
      });
      const events: object[] = [];
      push.onAny((event) => void events.push(event));
      const port = await startServer(listenerOf(push));
      const raw = row.raw ?? [rawRequest(row.request ?? good)];
      const { status, text } = await sendRaw(port, raw);
      expect([row.status].flat()).toContain(status);
      if (status !== 200 && status !== 100) expect(events).toEqual([]);
      if (row.event !== undefined && status === 200) expect(events).toMatchObject([row.event]);
      for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
        expect(text).not.toContain(secret);
      expect(({} as Record<string, unknown>).a).toBeUndefined();

      const next = eventRequest("factor.verified", {}, { publicUrl: push.publicUrl });
      const isTaken =
        row.options?.allowedAccountSids === undefined &&
        row.options?.allowedServiceSids === undefined;
      expect(await send(port, next)).toHaveProperty("status", isTaken ? 200 : 403);
    });
  });
});

describe.each(HTTP2_SERVERS)("over HTTP/2 on %s", (_server, kind) => {
  const rows = Object.values(HOSTILE_ROWS).flat();
  const calls = rows.flatMap((row) =>
    row.request === undefined ? [] : [{ ...row, request: row.request }],
  );

  it.each(calls.map((row) => [row.what, row] as const))("%s", async (_what, row) => {
    const { server, events, push } = await startReceiver(kind, row.options);
    const session = server.openSession();
    const { status, text, gaveUp } = await sendStream(session, row.request);
    expect([row.status].flat()).toContain(status);
    if (status !== 200) expect(events).toEqual([]);
    if (row.event !== undefined && status === 200) expect(events).toMatchObject([row.event]);
    for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
      expect(text).not.toContain(secret);
    expect(gaveUp).toBe(false);

    const { publicUrl } = push;
    const next = eventRequest("factor.verified", {}, { publicUrl });
    const isTaken =
      row.options?.allowedAccountSids === undefined &&
      row.options?.allowedServiceSids === undefined;
    expect(await sendStream(session, next)).toHaveProperty("status", isTaken ? 200 : 403);
  });

  it.each(STREAM_ROWS.map((row) => [row.what, row.status, row] as const))(
    "%s: %s",
    async (_what, status, row) => {
      const { server, events, warnings } = await startReceiver(kind, row.options);
      const session = server.openSession();
      const response = await sendStream(session, row.request, row);
      expect(response).toMatchObject({ status, gaveUp: false });
      expect(response.headers).not.toHaveProperty("connection");
      expect(events).toHaveLength(status === 200 ? 1 : 0);

      const next = await sendStream(session, eventRequest("factor.verified"));
      expect(next).toMatchObject({ status: 200 });
      expect(warnings).toEqual([]);
    },
  );

  it("closes the stream of each, without an error where it has responded", async () => {
    const { server, warnings } = await startReceiver(kind, { bodyTimeoutMs: 5_000 });
    const session = server.openSession();
    const responses = await Promise.all(
      STREAM_ROWS.filter(({ status }) => status !== 408).map((row) =>
        sendStream(session, row.request, { ...row, untilClosed: true }),
      ),
    );
    for (const response of responses) {
      expect(response.gaveUp).toBe(false);
      expect(response.status === 0 || response.rstCode === 0).toBe(true);
    }
    await waitUntil(() => server.countStreams() === 0);
    expect(warnings).toEqual([]);
  });

  if (kind.isSecure) return;

  it.each(FRAME_ROWS.map((row) => [row.what, row.isOk, row] as const))(
    "%s, as frames: %s",
    async (_what, isOk, { frames, isReset = false, hasNoWindow = false }) => {
      const { server, events, warnings } = await startReceiver(kind, { bodyTimeoutMs: 60 });
      const response = await sendFrames(server.port, frames, isReset ? 100 : 3_000);
      expect(response).toMatchObject({ isOk, gaveUp: isReset });
      // A response is complete before its stream is reset.
      expect(response.isWhole).toBe(response.hasHeaders && !hasNoWindow);
      expect(events).toHaveLength(isOk ? 1 : 0);
      const next = await sendStream(server.openSession(), eventRequest("factor.verified"));
      expect(next.status).toBe(200);
      await waitUntil(() => server.countStreams() === 0);
      expect(warnings).toEqual([]);
    },
  );
});

async function startReceiver(kind: Http2Kind, options: Partial<PushWebhooksOptions> = {}) {
  const warnings: string[] = [];
  const error = (_fields: object, message: string) => void warnings.push(message);
  const logger = { ...silent, error };
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
    logger,
    ...options,
  });
  const events: object[] = [];
  push.onAny((event) => void events.push(event));
  const server: StartedHttp2Server = await startHttp2Server(kind.listenerOf(push), kind.isSecure);
  return { push, events, server, warnings };
}

async function waitUntil(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !isTrue(); turn++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(isTrue()).toBe(true);
}
