/** Each method of the client, aborted before, and in each of its waits. */
import { expectAborted, REASON, TURNS } from "../../support/aborts";
import { createReceiver } from "../../support/receivers";
import { clientAt, CREDENTIALS, useUpstream, WEBHOOK } from "../../support/upstream";
import { collect, nextTurn, until } from "../../support/waiting";
import { CHALLENGE_SID, FACTOR_SID } from "../../support/webhook-requests";

const upstream = useUpstream();
const ITEMS = 3;
type Client = ReturnType<typeof clientAt>;
type Run = (client: Client, signal: AbortSignal) => Promise<unknown>;
const entityIdentity = "ada";
const sidOf = async (client: Client, kind: "keys" | "webhooks") =>
  (await client[kind].page({ pageSize: 1 })).items[0]!.sid;
const listings = (kind: "keys" | "webhooks"): Record<string, Run> => ({
  [`${kind}.list`]: (client, signal) =>
    collect<unknown>(client[kind].list({ pageSize: 1, signal })),
  [`${kind}.pages`]: (client, signal) =>
    collect<unknown>(client[kind].pages({ pageSize: 1, signal })),
  [`${kind}.page`]: (client, signal) => client[kind].page({ signal }),
});

const METHODS: Record<string, (sid: string) => Run> = {
  ...Object.fromEntries(
    Object.entries({ ...listings("keys"), ...listings("webhooks") }).map(([name, run]) => [
      name,
      () => run,
    ]),
  ),
  "keys.fetch": (sid) => (client, signal) => client.keys.fetch(sid, { signal }),
  "keys.create": () => (client, signal) => client.keys.create({}, { signal }),
  "keys.update": (sid) => (client, signal) => client.keys.update(sid, {}, { signal }),
  "keys.delete": (sid) => (client, signal) => client.keys.delete(sid, { signal }),
  "webhooks.fetch": (sid) => (client, signal) => client.webhooks.fetch(sid, { signal }),
  "webhooks.create": () => (client, signal) => client.webhooks.create(WEBHOOK, { signal }),
  "webhooks.update": (sid) => (client, signal) => client.webhooks.update(sid, {}, { signal }),
  "webhooks.delete": (sid) => (client, signal) => client.webhooks.delete(sid, { signal }),
  // Creates one, and changes another one.
  "webhooks.ensure": () => async (client, signal) => {
    const friendly_name = crypto.randomUUID();
    for (const end of [friendly_name, "0"]) {
      const webhook_url = `https://hooks.example.test/${end}`;
      await client.webhooks.ensure({ ...WEBHOOK, friendly_name, webhook_url }, { signal });
    }
  },
  "webhooks.check": () => (client, signal) =>
    client.webhooks.check(createReceiver().push, { signal }),
  "challenges.fetch": () => (client, signal) =>
    client.challenges.fetch({ entityIdentity, challengeSid: CHALLENGE_SID }, { signal }),
  "factors.fetch": () => (client, signal) =>
    client.factors.fetch({ entityIdentity, factorSid: FACTOR_SID }, { signal }),
  "factors.list": () => (client, signal) =>
    collect(client.factors.list({ entityIdentity }, { signal })),
  "factors.compare": () => (client, signal) =>
    client.factors.compare({ entityIdentity, known: [] }, { signal }),
};
const HANGS = { status: 0, hangs: true };
const PAUSES = { status: 429, headers: { "retry-after": "1000000" } };
const CLIENTS = [
  ["the account", CREDENTIALS.account],
  ["a Standard key", CREDENTIALS.standard],
] as const;

it("has a row for each method of the client", () => {
  const client = clientAt("https://api.example.test");
  const methods = Object.entries(client).flatMap(([group, value]) =>
    Object.entries(Object(value) as object)
      .filter(([, method]) => typeof method === "function")
      .map(([name]) => `${group}.${name}`),
  );
  expect(Object.keys(METHODS).toSorted()).toEqual(methods.toSorted());
});

describe.each(CLIENTS)("with %s", (_who, credentials) => {
  const client = () => clientAt(upstream.url, { ...credentials, timeoutMs: 2 ** 31 - 1 });

  /** Aborts a call after one of its requests; returns false when it makes less. */
  async function abortIn(scripted: object, request: number, run: Run): Promise<boolean> {
    const sent = upstream.seen.length + request + 1;
    const before = Array<undefined>(request).fill(undefined);
    upstream.script.splice(0, Infinity, ...before, scripted as typeof HANGS);
    const stop = new AbortController();
    const running = run(client(), stop.signal);
    const settled = jest.fn();
    running.then(settled, settled);
    await until(() => settled.mock.calls.length > 0 || upstream.seen.length === sent);
    if (settled.mock.calls.length > 0) return false;
    // The client has received the response.
    if (scripted === PAUSES) for (let turns = 0; turns < TURNS; turns++) await nextTurn();
    await expectAborted(running, stop);
    expect(upstream.seen).toHaveLength(sent);
    return true;
  }

  it.each(Object.entries(METHODS))("%s ends", async (name, createRun) => {
    for (let count = 0; count < ITEMS; count++) {
      upstream.createKey(`key ${count}`);
      const webhook_url = `https://hooks.example.test/${count}`;
      upstream.createWebhook({ friendly_name: `hook ${count}`, webhook_url, event_types: ["*"] });
    }
    const kind = name.startsWith("keys") ? "keys" : "webhooks";
    const run = createRun(await sidOf(upstream.client, kind));
    // Before.
    const early = new AbortController();
    early.abort(REASON);
    const before = upstream.seen.length;
    await expectAborted(run(client(), early.signal), early);
    expect(upstream.seen).toHaveLength(before);
    // In the wait for each response, and in the pause after it.
    for (const scripted of [HANGS, PAUSES]) {
      for (let request = 0; await abortIn(scripted, request, run); request++);
      upstream.script.splice(0);
    }
  });
});
