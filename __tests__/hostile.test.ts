/**
 * Requests of untrusted clients, with and without a valid signature: as bytes on a socket of a
 * server, and through push.fetch. After each of them the next good request is accepted.
 */
import { WebhookError } from "express-push-verification";
import { HOSTILE_ROWS, signature, type HostileRow } from "./support/hostile-rows";
import { rawRequest, send, sendRaw, SERVERS, startServer, stopServers } from "./support/servers";
import { createReceiver } from "./support/receivers";
import { AUTH_TOKEN, eventRequest, type TestRequest } from "./support/webhook-requests";

const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(() => {
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
afterEach(stopServers);

function startRow([, , result, { options, event = {} } = {}]: HostileRow) {
  const { push, events, rejected, failed } = createReceiver(options);

  /** Expects that the request of the row had its result, whose text shows no secret. */
  function expectResult(status: number, text: string): void {
    if (typeof result === "string") {
      expect({ status, rejected }).toEqual({
        status: new WebhookError(result, "").status,
        rejected: [result],
      });
    } else expect([result].flat()).toContain(status);
    if (status === 200) expect(events).toMatchObject([event]);
    else if (status !== 100) expect(events).toEqual([]);
    expect(failed).toEqual([]);
    for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
      expect(text).not.toContain(secret);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  }
  return { push, expectResult };
}

const bytesOf = ([, sent]: HostileRow) => ("path" in sent ? [rawRequest(sent)] : [...sent]);
const ROWS = Object.values(HOSTILE_ROWS).flat();

// Express 4 and connect mount a receiver as Express 5 does.
describe.each(SERVERS.filter(([name]) => /^(Express 5|node:http)$/.test(name)))(
  "on %s",
  (_server, listenerOf) => {
    describe.each(Object.entries(HOSTILE_ROWS))("hostile by its %s:", (_kind, all) => {
      it.each(all.map((row) => [row[0], row] as const))("%s", async (_what, row) => {
        const { push, expectResult } = startRow(row);
        const port = await startServer(listenerOf(push));
        const { status, text } = await sendRaw(port, bytesOf(row));
        expectResult(status, text);
        const [, , result] = row;
        if (typeof result === "string")
          expect(text.toLowerCase()).toContain("cache-control: no-store");
        if (status === 405) expect(text).toContain("Allow: POST, GET");
        if (status === 413 || status === 408) expect(text).toContain("Connection: close");

        const next = eventRequest("factor.verified", {}, { publicUrl: push.publicUrl });
        const isTaken = result !== "ACCOUNT_NOT_ALLOWED";
        expect(await send(port, next)).toHaveProperty("status", isTaken ? 200 : 403);
      });
    });
  },
);

it.each(SERVERS)(
  "rejects on %s with the same bytes for every reason of a status",
  async (_server, listenerOf) => {
    const { push } = createReceiver();
    const port = await startServer(listenerOf(push));
    const kinds = new Map<number, Set<string>>();
    for (const row of ROWS) {
      const [what, , result, more] = row;
      if (typeof result !== "string" || more?.options !== undefined || what === "HEAD") continue;
      const { status, text } = await sendRaw(port, bytesOf(row));
      const same = text.replace(/\r\nDate: .*/, "").replace(/\r\nKeep-Alive: .*/, "");
      kinds.set(status, (kinds.get(status) ?? new Set()).add(same));
    }
    expect([...kinds.keys()].toSorted((a, b) => a - b)).toEqual([400, 403, 405, 413, 415]);
    for (const kind of kinds.values()) expect([...kind]).toHaveLength(1);
  },
);

describe("through push.fetch", () => {
  const rows = ROWS.flatMap((row) => {
    const request = "path" in row[1] && toRequest(row[1]);
    return request === false ? [] : [[row[0], request, row] as const];
  });

  it.each(rows)("%s", async (_what, request, row) => {
    const { push, expectResult } = startRow(row);
    const response = await push.fetch(request);
    expectResult(response.status, await response.text());
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

function toRequest({ method, path, headers, body }: TestRequest): Request | false {
  try {
    const url = `http://spoofed.example${path}`;
    return new Request(url, { method, headers, ...(body !== undefined && { body }) });
  } catch {
    return false;
  }
}
