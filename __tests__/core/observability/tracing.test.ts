import { tracingChannel } from "node:diagnostics_channel";
import { pushWebhooks } from "express-push-verification";
import { trace, TRACE_NAMES } from "../../../lib/core/observability/diagnostics";
import { silent } from "../../support/receivers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../../support/webhook-requests";

it("traces receive and handle without user data", async () => {
  const messages: [name: string, message: object][] = [];
  const listen = (message: unknown, name: string | symbol) =>
    void messages.push([String(name).split(":").slice(2).join(":"), { ...(message as object) }]);
  const channels = TRACE_NAMES.map((name) => tracingChannel(`express-push-verification:${name}`));
  const ends = channels.flatMap(({ start, asyncEnd, error }) => [start, asyncEnd, error]);
  const around = (run: () => unknown) => (messages.push(["around", {}]), run());
  const activate = (message: unknown) => void Object.assign(message as object, { around });
  channels[0]!.start.subscribe(activate);
  for (const one of ends) one.subscribe(listen);
  const receiver = "login";
  const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, logger: silent };
  const push = pushWebhooks({ ...options, name: receiver });
  push.onAny(() => {});
  const uuid = "u1";
  const request = eventRequest("challenge.approved", { uuid });
  const response = await push.fetch(toWebRequest(request));
  for (const name of ["store", "poll"] as const)
    await trace(
      name,
      () => ({ name }) as never,
      async () => {},
    );
  for (const one of ends) one.unsubscribe(listen);
  channels[0]!.start.unsubscribe(activate);
  await push.fetch(toWebRequest(request));
  expect(response.status).toBe(200);
  const [path, route] = ["/push/events", "/push/events"];
  const receive = { method: "POST", path, route, scheme: "https", receiver, around };
  const handle = { type: "challenge.approved", uuid, attempt: 1, receiver };
  expect(messages).toEqual([
    ["receive:start", receive],
    ["around", {}],
    ["handle:start", handle],
    ["handle:asyncEnd", handle],
    ["receive:asyncEnd", receive],
    ...["store", "poll"].flatMap((name) => [
      [`${name}:start`, { name }],
      [`${name}:asyncEnd`, { name }],
    ]),
  ]);
});
