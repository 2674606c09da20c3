/**
 * What strangers send, and what somebody sends who holds a right signature: as bytes on a socket,
 * on every kind of server. After each the next good call is taken.
 */
import { pushWebhooks, type PushEvent } from "express-push-verification";
import { AUTH_TOKEN, eventCall, PUBLIC_URL } from "./support/calls";
import { good, HOSTILE_ROWS, signature } from "./support/hostile-rows";
import { rawCall, send, sendRaw, SERVERS, startServer, stopServers } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const unhandled: unknown[] = [];
const remember = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", remember));
afterAll(() => {
  process.off("unhandledRejection", remember);
  expect(unhandled).toEqual([]);
});
afterEach(stopServers);

describe.each(SERVERS)("on %s", (_server, listenerOf) => {
  describe.each(Object.entries(HOSTILE_ROWS))("hostile by its %s:", (_kind, all) => {
    it.each(all.map((row) => [row.what, row] as const))("%s", async (_what, row) => {
      const push = pushWebhooks({
        authToken: AUTH_TOKEN,
        publicUrl: PUBLIC_URL,
        logger: silent,
        ...row.options,
      });
      const events: object[] = [];
      push.onAny((event) => void events.push(event));
      const port = await startServer(listenerOf(push));
      const raw = row.raw ?? [rawCall(row.call ?? good)];
      const { status, text } = await sendRaw(port, raw);
      expect([row.status].flat()).toContain(status);
      if (status !== 200 && status !== 100) expect(events).toEqual([]);
      if (row.event !== undefined && status === 200) expect(events).toMatchObject([row.event]);
      for (const secret of [AUTH_TOKEN, signature, "user-7f3a-22"])
        expect(text).not.toContain(secret);
      expect(({} as Record<string, unknown>).a).toBeUndefined();

      const next = eventCall(
        "factor.verified",
        {},
        { publicUrl: row.options?.publicUrl ?? PUBLIC_URL },
      );
      const isTaken =
        row.options?.allowedAccountSids === undefined &&
        row.options?.allowedServiceSids === undefined;
      expect(await send(port, next)).toHaveProperty("status", isTaken ? 200 : 403);
    });
  });
});
