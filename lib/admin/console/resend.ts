import * as z from "zod";
import type { Journal, QueuedEvent, ReceiverInspection } from "../../core/door";
import type { PushWebhooks } from "../../index";
import { findKept, type History } from "./journal-view";
import type { ConsoleQueue } from "./queue-view";
import { filterSchema, selectFailed, selectRows } from "./request-filter";
import type { RequestRow } from "./request-row";

/** The schema of a {@link ResendChoice}. */
export const resendSchema = z.union([
  z.strictObject({ id: z.string().max(100) }),
  z.strictObject({ filter: filterSchema, untilMs: z.number() }),
]);

/** A request, or what failed of a filter until the response that counted it. */
export type ResendChoice = z.output<typeof resendSchema>;

/** Lists the requests of a choice that may run again, the oldest first. */
export async function chooseRequests(
  { rows }: History,
  choice: ResendChoice,
  journal: Journal,
): Promise<readonly RequestRow[]> {
  if ("id" in choice) return rows.filter(({ id }) => id === choice.id);
  const counted = rows.filter(({ atMs }) => atMs <= choice.untilMs);
  return selectFailed(await selectRows(counted, choice.filter, journal), rows);
}

/** What runs the handlers again. */
interface Resending {
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
  { queue, journal, by, ...runs }: Resending,
): Promise<string | undefined> {
  if (!isAuthenticated) return "Its event was not accepted.";
  if (queue !== undefined) {
    if (await queue.retry(uuid, { accountSid, receiver, by })) return undefined;
    const found = await queue.find(uuid, { accountSid, receiver });
    if (found !== undefined) return `Its event is no dead letter: it is ${found.state}.`;
  }
  const queued = findKept(journal, id);
  if (queued === undefined) return "Its event is not kept here.";
  const error = await runHandlers(queued, runs);
  const step = { kind: "step", what: "resent", atMs: Date.now() } as const;
  journal.append({ ...step, uuid, accountSid, error, by, share: queued.authenticatedAccount });
  return error;
}

async function runHandlers(
  queued: QueuedEvent,
  { push, redeliver }: Pick<Resending, "push" | "redeliver">,
): Promise<string | undefined> {
  if (push.handledTypes().every((type) => type !== queued.event.type)) {
    return "No handler for it is registered in this process.";
  }
  return redeliver(queued).then(
    () => undefined,
    (error: { code?: string }) => error.code ?? "INTERNAL_ERROR",
  );
}
