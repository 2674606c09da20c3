/** Queues and receivers of the durable tests; each pair stands for one process of an app. */
import type { QueuedEvent } from "../../lib/delivery/event-queue";
import {
  createHandlers,
  pushWebhooks,
  type Pair,
  type PushEvent,
  type PushWebhooksOptions,
} from "express-push-verification";
import {
  redisQueue,
  type DurableQueue,
  type RedisQueueOptions,
} from "express-push-verification/durable";
import { silent } from "./receivers";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL, type TestRequest } from "./webhook-requests";
import { send, startServer } from "./servers";
import { collect } from "./waiting";

export const QUEUE_NAME = "durable-test";
/** The user of every event that `eventRequest` creates. */
export const entityIdentity = "user-7f3a-22";
export { silent };

/** The challenge SID with this number. */
export const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;

/** A receiver on a queue of its own, with connections of its own. */
export type DurableReceiver = Awaited<ReturnType<typeof receiveInto>>;

/** Opens a receiver on a queue in Redis, and on a server of its own; `stopServers` closes the server. */
export async function openReceiver(
  queueOptions: Partial<RedisQueueOptions> & Pick<RedisQueueOptions, "connection">,
  receiverOptions: Partial<PushWebhooksOptions> = {},
): Promise<DurableReceiver> {
  return receiveInto(
    redisQueue({ name: QUEUE_NAME, logger: silent, ...queueOptions }),
    receiverOptions,
  );
}

/** The same with a queue of any engine. */
export async function receiveInto(
  queue: DurableQueue,
  receiverOptions: Partial<PushWebhooksOptions> = {},
) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    logger: silent,
    queue,
    ...receiverOptions,
  });
  const port = await startServer((req, res) => void push(req, res));
  return {
    queue,
    push,
    /** Sends a webhook request and returns the status of the response. */
    deliver: async (request: TestRequest) => (await send(port, request)).status,
    /** Closes the receiver and the queue. */
    async close(deadlineMs = 500) {
      await push.close({ deadlineMs });
      await queue.close({ deadlineMs });
    },
  };
}

/** Calls each operation of an operator, on an event that does not exist. */
export function operate(queue: DurableQueue): Promise<unknown>[] {
  const [stats, deadLetters] = [queue.stats(), collect(queue.deadLetters())];
  return [stats, deadLetters, queue.retry("none"), queue.discard("none"), queue.retryAll()];
}

/** Handlers that list the uuids of their events; that of "slow" runs until `finish` is called. */
export function createSlowHandlers() {
  const handled: string[] = [];
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const handlers = createHandlers().onUnhandled(async (event) => {
    const { uuid } = event as PushEvent;
    handled.push(uuid);
    if (uuid === "slow") await finished;
  });
  return { handlers, handled, finish };
}

/** An event as a receiver passes it to the queue. */
export function queuedEvent(event: PushEvent, overrides: Partial<QueuedEvent> = {}): QueuedEvent {
  return {
    event,
    account: "",
    accountSid: event.account_sid,
    uuid: event.uuid,
    contentHash: "h",
    authTokenIndex: 0,
    publicUrlIndex: 0,
    receiver: undefined,
    ...overrides,
  };
}

/** The smallest event that a queue stores; no worker can read it. */
export function queuedParams(params: Pair[]): QueuedEvent {
  const { uuid = "" } = Object.fromEntries(params);
  const event = { uuid, account_sid: ACCOUNT_SID, params };
  return queuedEvent(event as unknown as PushEvent);
}
