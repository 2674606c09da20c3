import * as z from "zod";
import type { ConsoleQueue } from "./queue-view";

const nameSchema = z.strictObject({
  uuid: z.string().min(1).max(256),
  accountSid: z.string().max(64),
  receiver: z.string().max(100).optional(),
});

/** The fields that tell a dead letter from others of its uuid. */
export type DeadLetterName = z.output<typeof nameSchema>;

/** The schema of a {@link DeadLetterChoice}. */
export const deadLetterChoiceSchema = z.union([
  nameSchema,
  z.strictObject({
    error: z.string().max(1_000).optional(),
    count: z.int().min(1),
    untilMs: z.number(),
  }),
]);

/** A dead letter; or all with an error, or with any, that had failed until then. */
export type DeadLetterChoice = z.output<typeof deadLetterChoiceSchema>;

/** Lists the dead letters of a choice, the oldest first. */
export async function* chooseDeadLetters(
  queue: ConsoleQueue,
  choice: DeadLetterChoice,
): AsyncGenerator<DeadLetterName> {
  if ("uuid" in choice) {
    yield choice;
    return;
  }
  let left = choice.count;
  for await (const deadLetter of queue.deadLetters({ error: choice.error })) {
    // The oldest failure comes first, so these are the ones that were counted.
    if (left-- === 0 || deadLetter.failedAt.getTime() > choice.untilMs) return;
    yield deadLetter;
  }
}
