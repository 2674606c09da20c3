/** Queues and receivers of the durable tests; each pair stands for one process of an app. */
import type { QueuedEvent } from "../../lib/core/delivery/event-queue";
import { pushWebhooks, type PushEvent, type PushWebhooksOptions } from "express-push-verification";
import type { DurableQueue, QueueStats } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { silent } from "./receivers";
import { AUTH_TOKEN, PUBLIC_URL, type TestRequest } from "./webhook-requests";
import { send, startServer, stopServers } from "./servers";
import { collect, until } from "./waiting";

export const QUEUE_NAME = "durable-test";
/** The user of every event that `eventRequest` creates. */
export const entityIdentity = "user-7f3a-22";
export { silent };
/** A queue that waits longer for its store than any outage of the tests, and any pause of a process. */
export const patient = { logger: silent, storeTimeoutMs: 60_000 };

export const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;

const opened: { close(options: { deadlineMs: number }): unknown }[] = [];

export function closeLater<Part extends (typeof opened)[number]>(part: Part): Part {
  opened.push(part);
  return part;
}

/** After a test: closes its queues and receivers, and stops their servers. */
export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((one) => one.close({ deadlineMs: 60_000 })));
  await stopServers();
}

export type DurableReceiver = Awaited<ReturnType<typeof receiveInto>>;

/** Opens a receiver on a queue, and on a server of its own; {@link closeOpened} closes all three. */
export async function receiveInto(
  queue: DurableQueue,
  receiverOptions: Partial<PushWebhooksOptions> = {},
) {
  const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, logger: silent, queue };
  closeLater(queue);
  const push = closeLater(pushWebhooks({ ...settings, ...receiverOptions }));
  const port = await startServer((req, res) => void push(req, res));
  const deliver = async (request: TestRequest) => (await send(port, request)).status;
  return { queue, push, port, deliver };
}

export const storeFactor = (queue: DurableQueue, uuid: string, deadlineAtMs = Infinity) =>
  queue.store(queuedEvent(eventFixture("factor.created", { uuid })), deadlineAtMs);

/** A response to the challenge with this number. */
export const responseOf = (uuid: string, index: number, type: "approved" | "denied" = "approved") =>
  queuedEvent(eventFixture(`challenge.${type}`, { uuid, challenge_sid: sidOf(index) }));

/** Waits for the outcome of the challenge with this number. */
export const waitForOutcome = (
  { outcomes }: DurableQueue,
  index: number,
  timeoutMs = 60_000,
  authenticatedAccount = "",
) => outcomes.wait({ authenticatedAccount, challengeSid: sidOf(index), timeoutMs });

export const untilStats = (queue: DurableQueue, expected: Partial<QueueStats>) =>
  until(async () => {
    const stats = await queue.stats();
    return Object.entries(expected).every(([name, count]) => Reflect.get(stats, name) === count);
  });

/** Calls each operation of an operator, on an event that does not exist. */
export function operate(queue: DurableQueue): Promise<unknown>[] {
  const [stats, deadLetters] = [queue.stats(), collect(queue.deadLetters())];
  return [stats, deadLetters, queue.retry("none"), queue.discard("none"), queue.retryAll()];
}

export function queuedEvent(event: PushEvent, overrides: Partial<QueuedEvent> = {}): QueuedEvent {
  return {
    event,
    authenticatedAccount: "",
    accountSid: event.account_sid,
    uuid: event.uuid,
    contentHash: "h",
    authTokenIndex: 0,
    publicUrlIndex: 0,
    receiver: undefined,
    ...overrides,
  };
}
