/**
 * Requests of untrusted clients, with and without a valid signature, as bytes on a socket of an Express app. After each of them the next good request is accepted.
 */
import express from "express";
import { pushWebhooks } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, type TestRequest } from "./support/webhook-requests";
import { good, HOSTILE_ROWS, signature } from "./support/hostile-rows";
import { MOUNT, rawRequest, send, sendRaw, startServer, stopServers } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(() => {
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
afterEach(stopServers);

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
    const port = await startServer(express().use(MOUNT, push));
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

describe("through push.fetch", () => {
  const rows = Object.values(HOSTILE_ROWS)
    .flat()
    .flatMap((row) => {
      const request = row.request && toRequest(row.request);
      return request === undefined ? [] : [[row.what, request, row] as const];
    });

  it("has nearly every row", () => expect(rows.length).toBeGreaterThan(75));

  it.each(rows)("%s", async (_what, request, row) => {
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      methods: ["POST", "GET"],
      ...row.options,
    });
    const events: object[] = [];
    const failures: string[] = [];
    push.onAny((event) => void events.push(event));
    push.onError((error) => void failures.push(error.code));
    const response = await push.fetch(request);
    expect([row.status].flat()).toContain(response.status);
    if (response.status !== 200) expect(events).toEqual([]);
    if (row.event !== undefined && response.status === 200)
      expect(events).toMatchObject([row.event]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(failures).toEqual([]);
    const text = await response.text();
    for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
      expect(text).not.toContain(secret);
  });
});

/** Returns undefined for what no `Request` can hold. */
function toRequest({ method, path, headers, body }: TestRequest): Request | undefined {
  try {
    const url = `http://spoofed.example${path}`;
    return new Request(url, { method, headers, ...(body !== undefined && { body }) });
  } catch {
    return undefined;
  }
}
