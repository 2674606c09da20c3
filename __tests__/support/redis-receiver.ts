import type { PushEvent } from "express-push-verification";
import type {
  DurableQueue,
  RedisQueueOptions,
  EventWorker,
} from "express-push-verification/durable";
import { openReceiver, type DurableReceiver } from "./durable";
import { startRedis, stopRedis, type RedisServer } from "./redis";
import { stopServers } from "./servers";
import { AUTH_TOKEN, eventRequest, type TestRequest } from "./webhook-requests";

/** A receiver on a queue in Redis, and the calls of its handlers; new for each test. */
export interface RedisReceiver {
  server: RedisServer;
  /** The options of the queue, for further queues on the same keys. */
  options: RedisQueueOptions;
  receiver: DurableReceiver;
  queue: DurableQueue;
  handled: { event: PushEvent; attempt: number; authTokenIndex: number }[];
  /** Returns the error that the handlers throw. @default undefined: they throw nothing */
  fails: (event: PushEvent, attempt: number) => unknown;
  /** Starts a worker that runs the handlers. */
  work(): EventWorker;
  /** Sends a webhook request, an approval by default, and returns the status of the response. */
  deliver(request?: TestRequest): Promise<number>;
}

/** Opens a receiver before each test, on a Redis of the test file and with keys of its own. */
export function useRedisReceiver(): RedisReceiver {
  const app = {
    work: () => app.queue.work(app.receiver.push.handlers),
    deliver: (request = eventRequest("challenge.approved")) => app.receiver.deliver(request),
  } as RedisReceiver;

  beforeAll(async () => {
    app.server = await startRedis();
  });
  afterAll(stopRedis);
  beforeEach(async () => {
    const prefix = `push-test-${crypto.randomUUID()}`;
    app.options = { name: "q", connection: app.server.url, prefix, durability: "trust" };
    app.handled = [];
    app.fails = () => undefined;
    app.receiver = await openReceiver(
      { ...app.options, backoff: 20, attempts: 3 },
      { authToken: ["next", AUTH_TOKEN] },
    );
    app.queue = app.receiver.queue;
    app.receiver.push.onAny((any, { attempt, authTokenIndex }) => {
      const event = any as PushEvent;
      app.handled.push({ event, attempt, authTokenIndex });
      const failure = app.fails(event, attempt);
      if (failure !== undefined) throw failure;
    });
    await app.queue.ready();
  });
  afterEach(async () => {
    await app.receiver.close();
    await stopServers();
  });
  return app;
}
