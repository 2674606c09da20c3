import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createMemoryDedupe, pushWebhooks, type DedupeStore } from "express-push-verification";
import { eventPairs, PUBLIC_URL as publicUrl, signedRequestOf } from "./support/webhook-requests";
import { openReceiver } from "./support/durable";
import { describeWithAnyRedis, stopRedis, useRedis } from "./support/redis";
import { until } from "./support/redis";
import { send, startServer, stopServers } from "./support/servers";

const OLD = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const NEW = "93d1f6a2b8c74d0e8a5f2c1b7e604d39";
const RESULTS = ["duplicate", "conflict"];
const channelOf = (result: string) => `express-push-verification:${result}`;

let results: string[];
const record = (_message: unknown, name: string | symbol) =>
  void results.push(String(name).replace(channelOf(""), ""));

beforeEach(() => {
  results = [];
  for (const result of RESULTS) subscribe(channelOf(result), record);
});
afterEach(async () => {
  for (const result of RESULTS) unsubscribe(channelOf(result), record);
  await stopServers();
});

const uuid = "0f7f0b6e-0001-4c86-9a1e-1f3a1f6c1f11";
const params = eventPairs("factor.created", "v2", { uuid });
const otherParams = eventPairs("factor.created", "v2", { uuid, entity_identity: "user-2" });
const signedBy = (authToken: string, given = params) => signedRequestOf(given, { authToken });

describe.each([
  ["a list", [NEW, OLD]],
  ["a function", () => [OLD, NEW]],
])("a receiver whose authToken is %s of two tokens", (_what, authToken) => {
  it("reports a redelivery signed with the other token as a duplicate", async () => {
    let runs = 0;
    const push = pushWebhooks({ authToken, publicUrl }).onAny(() => void runs++);
    const port = await startServer(push);
    for (const call of [signedBy(OLD), signedBy(NEW), signedBy(OLD), signedBy(NEW, otherParams)]) {
      expect(await send(port, call)).toHaveProperty("status", 200);
    }
    expect([runs, results]).toEqual([1, ["duplicate", "duplicate", "conflict"]]);
  });

  it("reports one that arrives while the handlers run as a duplicate", async () => {
    let finish!: () => void;
    const running = new Promise<void>((resolve) => (finish = resolve));
    const push = pushWebhooks({ authToken, publicUrl }).onAny(() => running);
    let received = 0;
    const port = await startServer((req, res) => {
      void push(req, res);
      received++;
    });
    const calls = [signedBy(OLD), signedBy(NEW), signedBy(NEW, otherParams)];
    const responses = calls.map((call) => send(port, call));
    await until(() => received === 3);
    finish();
    for (const response of await Promise.all(responses)) expect(response.status).toBe(200);
    expect(results.toSorted()).toEqual(["conflict", "duplicate"]);
  });
});

it("a redelivery after the new token was added is a duplicate in a store that was kept", async () => {
  const dedupe: DedupeStore = createMemoryDedupe();
  for (const [authToken, call] of [
    [OLD, signedBy(OLD)],
    [[NEW, OLD], signedBy(OLD)],
    [[NEW, OLD], signedBy(NEW)],
  ] as const) {
    const port = await startServer(pushWebhooks({ authToken, publicUrl, dedupe }));
    expect(await send(port, call)).toHaveProperty("status", 200);
  }
  expect(results).toEqual(["duplicate", "duplicate"]);
});

describeWithAnyRedis("a receiver with a queue and two tokens", () => {
  afterAll(stopRedis);

  it("reports a redelivery signed with the other token as a duplicate", async () => {
    const server = await useRedis();
    const prefix = `push-test-${crypto.randomUUID()}`;
    const queueOptions = { connection: server.url, prefix, durability: "trust" } as const;
    const receiver = await openReceiver(queueOptions, { authToken: [NEW, OLD] });
    await receiver.queue.ready();
    for (const call of [signedBy(OLD), signedBy(NEW), signedBy(NEW, otherParams)]) {
      expect(await receiver.deliver(call)).toBe(200);
    }
    expect(results).toEqual(["duplicate", "conflict"]);
    await receiver.close();
    const keys = await server.redis.keys(`${prefix}:*`);
    if (keys.length > 0) await server.redis.del(keys);
  });
});
