import { tracingChannel } from "node:diagnostics_channel";
import { pushWebhooks } from "express-push-verification";
import { TRACE_NAMES } from "../../../lib/core/observability/diagnostics";
import { silent } from "../../support/receivers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../../support/webhook-requests";

it("traces receive and handle without user data", async () => {
  const messages: [name: string, message: object][] = [];
  const listen = (message: unknown, name: string | symbol) =>
    void messages.push([String(name).split(":").slice(2).join(":"), { ...(message as object) }]);
  const channels = TRACE_NAMES.map((name) => tracingChannel(`express-push-verification:${name}`));
  const ends = channels.flatMap(({ start, asyncEnd, error }) => [start, asyncEnd, error]);
  for (const one of ends) one.subscribe(listen);
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, logger: silent });
  push.onAny(() => {});
  const uuid = "u1";
  const request = eventRequest("challenge.approved", { uuid });
  const response = await push.fetch(toWebRequest(request));
  for (const one of ends) one.unsubscribe(listen);
  await push.fetch(toWebRequest(request));
  expect(response.status).toBe(200);
  const receive = { method: "POST", path: "/push/events", route: "/push/events", scheme: "https" };
  const handle = { type: "challenge.approved", uuid, attempt: 1 };
  expect(messages).toEqual([
    ["receive:start", receive],
    ["handle:start", handle],
    ["handle:asyncEnd", handle],
    ["receive:asyncEnd", receive],
  ]);
});
