/** Each public function that takes a signal: aborted before, in each of its waits, and after. */
import { getEventListeners } from "node:events";
import { sendRequest } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { readLibrary } from "./support/docs";
import { createMemoryOutcomes } from "../lib/core/delivery/memory-outcomes";
import { createReceiver } from "./support/receivers";
import { startServer, stopServers } from "./support/servers";
import { clientAt, CREDENTIALS, useUpstream, WEBHOOK } from "./support/upstream";
import { collect, createGate, nextTurn, until } from "./support/waiting";
import { AUTH_TOKEN, CHALLENGE_SID, FACTOR_SID } from "./support/webhook-requests";

const REASON = new Error("changed my mind");
/** How many turns of the event loop an aborted function may take to end. */
const TURNS = 500;
const upstream = useUpstream();

afterEach(stopServers);

/** Aborts a function now; expects that it ends with the reason, and leaves no listener. */
async function expectAborted(running: Promise<unknown>, stop: AbortController): Promise<void> {
  const ends: unknown[] = [];
  void running.then(
    () => ends.push("resolved"),
    (reason: unknown) => ends.push(reason),
  );
  stop.abort(REASON);
  for (let turns = 0; turns < TURNS && ends.length === 0; turns++) await nextTurn();
  expect(ends).toEqual([REASON]);
  expect(ends[0]).toBe(REASON);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
}

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

it("has the options of all functions with a signal", () => {
  const found = readLibrary().matchAll(
    /^export interface (\w+)[^}]*^ {2}(?:readonly )?signal\?:/gm,
  );
  expect(Array.from(found, ([, name]) => name).toSorted()).toEqual([
    "OutcomeWait",
    "RequestOptions",
    "SendRequestOptions",
    "WaitOptions",
  ]);
});

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

it("sendRequest ends before and while it waits", async () => {
  const url = `http://127.0.0.1:${await startServer(() => {})}/push`;
  const request = signedRequest({ authToken: AUTH_TOKEN, publicUrl: url }, "factor.created");
  const stop = new AbortController();
  const { opened: isSent, open: onSent } = createGate();
  const running = sendRequest(request, { signal: stop.signal, onSent });
  await isSent;
  stop.abort(REASON);
  for (const aborted of [running, sendRequest(request, { signal: stop.signal })]) {
    await expect(aborted).rejects.toMatchObject({
      code: "ABORTED",
      isConnectionFailure: false,
      cause: REASON,
    });
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  }
});

it.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
  [
    "waitForChallenge",
    (signal) =>
      createReceiver().push.waitForChallenge({
        challengeSid: CHALLENGE_SID,
        entityIdentity,
        signal,
      }),
  ],
  [
    "the wait of a memory of outcomes",
    (signal) =>
      Promise.resolve(
        createMemoryOutcomes().wait({
          authenticatedAccount: "",
          challengeSid: CHALLENGE_SID,
          timeoutMs: 2 ** 31 - 1,
          signal,
        }),
      ),
  ],
])("%s ends before and while it waits", async (_what, run) => {
  const stop = new AbortController();
  await expectAborted(run(stop.signal), stop);
  await expectAborted(run(stop.signal), stop);
});
