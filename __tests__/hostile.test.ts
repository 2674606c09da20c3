/**
 * Requests of untrusted clients, with and without a valid signature: as bytes on a socket of a
 * server, and through push.fetch. After each of them the next good request is accepted.
 */
import { pushWebhooks } from "express-push-verification";
import { good, HOSTILE_ROWS, signature, type HostileRow } from "./support/hostile-rows";
import { rawRequest, send, sendRaw, SERVERS, startServer, stopServers } from "./support/servers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, type TestRequest } from "./support/webhook-requests";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(() => {
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
afterEach(stopServers);

/** A receiver with the options of a row, and what it has done. */
function createReceiver({ options }: HostileRow) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
    logger: silent,
    ...options,
  });
  const events: object[] = [];
  const codes: string[] = [];
  const failures: string[] = [];
  push.onAny((event) => void events.push(event));
  push.onRejected((error) => void codes.push(error.code));
  push.onError((error) => void failures.push(error.code));

  /** Expects that the request of the row had its result, whose text shows no secret. */
  function expectResult(row: HostileRow, status: number, text: string): void {
    expect([row.status].flat()).toContain(status);
    if (row.code !== undefined) expect(codes).toEqual([row.code]);
    if (status === 200) expect(events).toMatchObject([row.event ?? {}]);
    else if (status !== 100) expect(events).toEqual([]);
    expect(failures).toEqual([]);
    for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
      expect(text).not.toContain(secret);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  }
  return { push, expectResult };
}

const bytesOf = ({ raw, request = good }: HostileRow) => raw ?? [rawRequest(request)];

// Express 4 and connect mount a receiver as Express 5 does.
describe.each(SERVERS.filter(([name]) => /^(Express 5|node:http)$/.test(name)))(
  "on %s",
  (_server, listenerOf) => {
    describe.each(Object.entries(HOSTILE_ROWS))("hostile by its %s:", (_kind, all) => {
      it.each(all.map((row) => [row.what, row] as const))("%s", async (_what, row) => {
        const { push, expectResult } = createReceiver(row);
        const port = await startServer(listenerOf(push));
        const { status, text } = await sendRaw(port, bytesOf(row));
        expectResult(row, status, text);
        if (row.code !== undefined) expect(text.toLowerCase()).toContain("cache-control: no-store");
        if (status === 405) expect(text).toContain("Allow: POST, GET");
        if (status === 413 || status === 408) expect(text).toContain("Connection: close");

        const next = eventRequest("factor.verified", {}, { publicUrl: push.publicUrl });
        const isTaken = row.code !== "ACCOUNT_NOT_ALLOWED";
        expect(await send(port, next)).toHaveProperty("status", isTaken ? 200 : 403);
      });
    });
  },
);

it.each(SERVERS)(
  "rejects on %s with the same bytes for every reason of a status",
  async (_server, listenerOf) => {
    const { push } = createReceiver({ what: "none", status: 200 });
    const port = await startServer(listenerOf(push));
    const kinds = new Map<number, Set<string>>();
    for (const row of Object.values(HOSTILE_ROWS).flat()) {
      if (row.code === undefined || row.options !== undefined || row.what === "HEAD") continue;
      const { status, text } = await sendRaw(port, bytesOf(row));
      const same = text.replace(/\r\nDate: .*/, "").replace(/\r\nKeep-Alive: .*/, "");
      kinds.set(status, (kinds.get(status) ?? new Set()).add(same));
    }
    expect([...kinds.keys()].toSorted((a, b) => a - b)).toEqual([400, 403, 405, 413, 415]);
    for (const kind of kinds.values()) expect([...kind]).toHaveLength(1);
  },
);

describe("through push.fetch", () => {
  const rows = Object.values(HOSTILE_ROWS)
    .flat()
    .flatMap((row) => {
      const request = row.request && toRequest(row.request);
      return request === undefined ? [] : [[row.what, request, row] as const];
    });

  it("has nearly every row", () => expect(rows.length).toBeGreaterThan(100));

  it.each(rows)("%s", async (_what, request, row) => {
    const { push, expectResult } = createReceiver(row);
    const response = await push.fetch(request);
    expectResult(row, response.status, await response.text());
    expect(response.headers.get("cache-control")).toBe("no-store");
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
