import * as z from "zod";
import {
  type Journal,
  MemoryJournal,
  type PushWebhooks,
  type QueuedEvent,
  type ReceiverInspection,
} from "../../core/door";
import type { RequestRow, ResendChoice } from "./console-view";
import type { History } from "./journal-view";
import type { ConsoleQueue } from "./queue-view";
import { filterSchema, selectFailed, selectRows } from "./request-filter";

/** The schema of {@link ResendChoice}. */
export const resendSchema = z.union([
  z.strictObject({ ids: z.array(z.string().max(100)).min(1).max(1_000) }),
  z.strictObject({ filter: filterSchema, untilMs: z.number() }),
]);

/** Lists the requests of a choice that may run again, the oldest first. */
export async function chooseRequests(
  { rows }: History,
  choice: ResendChoice,
  journal: Journal,
): Promise<readonly RequestRow[]> {
  if ("ids" in choice) {
    const ids = new Set(choice.ids);
    return rows.filter(({ id }) => ids.has(id)).toReversed();
  }
  const { filter, untilMs } = choice;
  const { text = "" } = filter;
  const person = text === "" ? undefined : await journal.createPseudonym(text);
  const failed = selectFailed(selectRows(rows, filter, person), rows);
  return failed.filter(({ atMs }) => atMs <= untilMs);
}

/** What runs the handlers again. */
export interface Resending {
  push: PushWebhooks;
  redeliver: ReceiverInspection["redeliver"];
  queue: ConsoleQueue | undefined;
  journal: Journal;
  /** Who does it. */
  by: string | undefined;
}

/**
 * Runs the handlers again for the event of a request: by a worker if there is a queue, where it is a
 * dead letter; else in this process, after `confirm` if the event needs it.
 *
 * @returns why they did not; undefined when they succeeded, or run later.
 */
export async function resendRequest(
  { id, uuid = "", accountSid = "", receiver, isAuthenticated }: RequestRow,
  { push, redeliver, queue, journal, by }: Resending,
): Promise<string | undefined> {
  if (!isAuthenticated) return "Its event was not accepted.";
  if (queue !== undefined) {
    if (await queue.retry(uuid, { accountSid, receiver, by })) return undefined;
    const found = await queue.find(uuid, { accountSid });
    if (found !== undefined) return `Its event is no dead letter: it is ${found.state}.`;
  }
  const queued = journal instanceof MemoryJournal ? journal.find(id) : undefined;
  if (queued === undefined) return "Its event is not kept here.";
  const error = await runHandlers(queued, push, redeliver);
  const atMs = Date.now();
  const step = { kind: "step", what: "resent", atMs, uuid, accountSid, error, by } as const;
  journal.append({ ...step, share: queued.authenticatedAccount });
  return error;
}

async function runHandlers(
  queued: QueuedEvent,
  push: PushWebhooks,
  redeliver: ReceiverInspection["redeliver"],
): Promise<string | undefined> {
  if (push.handledTypes().every((type) => type !== queued.event.type)) {
    return "No handler for it is registered in this process.";
  }
  return redeliver(queued).then(
    () => undefined,
    (error: { code?: string }) => error.code ?? "INTERNAL_ERROR",
  );
}
