/** The hostile parameters where events are stored; run on each engine. */
import { pushWebhooks, type PushEvent } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { silent } from "../support/durable";
import type { SuiteEngine } from "../support/engine";
import { good, HOSTILE_ROWS } from "../support/hostile-rows";
import { until } from "../support/redis";
import { rawRequest, send, sendRaw, startServer, stopServers } from "../support/servers";

/** Describes that the handlers receive what was sent, once. */
export function describeHostile(engine: SuiteEngine): void {
  beforeEach(() => engine.start());
  afterEach(async () => {
    await stopServers();
    await engine.stop();
  });

  it.each(HOSTILE_ROWS.parameters.map((row) => [row.what, row] as const))(
    "%s",
    async (_what, row) => {
      const queue = engine.open();
      const push = pushWebhooks({
        authToken: AUTH_TOKEN,
        publicUrl: PUBLIC_URL,
        logger: silent,
        queue,
        ...row.options,
      });
      const events: PushEvent[] = [];
      push.onAny((event) => void events.push(event as PushEvent));
      queue.work(push.handlers);
      try {
        const port = await startServer((req, res) => void push(req, res));
        const { status } = await sendRaw(port, row.raw ?? [rawRequest(row.request ?? good)]);
        expect([row.status].flat()).toContain(status);

        const isTaken =
          row.options?.allowedAccountSids === undefined &&
          row.options?.allowedServiceSids === undefined;
        const next = eventRequest("factor.verified");
        expect(await send(port, next)).toHaveProperty("status", isTaken ? 200 : 403);
        if (isTaken) await until(() => events.some(({ type }) => type === "factor.verified"));
        const { event } = row;
        if (status === 200 && event !== undefined) {
          await until(() => events.length === 2);
          expect(events).toContainEqual(expect.objectContaining(event));
        }
        expect(await queue.stats()).toMatchObject({ waiting: 0, deadLetters: 0 });
      } finally {
        await queue.close({ deadlineMs: 1_000 });
      }
    },
  );
}
