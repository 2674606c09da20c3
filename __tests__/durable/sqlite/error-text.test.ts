import { createHandlers, PermanentError } from "express-push-verification";
import { sqliteQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { readErrorText, writeErrorText } from "../../../lib/durable/sqlite/error-text";
import { queuedEvent, silent } from "../../support/durable";
import { until } from "../../support/redis";
import { createFile, removeFiles } from "../../support/sqlite";

afterEach(removeFiles);

it.each([
  "HANDLER_FAILED: plain",
  'HANDLER_FAILED: "\\',
  "E: \ud800",
  "E: \udfff\u0000é😀",
  '"\ud800',
  "",
])("reads %j as it was written", (error) => {
  const written = writeErrorText(error);
  expect(written.isWellFormed()).toBe(true);
  expect(readErrorText(written)).toBe(error);
});

it("keeps a lone surrogate in the error of a dead letter", async () => {
  await using queue = sqliteQueue({ file: createFile(), name: "q", logger: silent });
  const handlers = createHandlers().onUnhandled(() => {
    throw new PermanentError("a\u0000\ud800");
  });
  queue.work(handlers);
  await queue.store(queuedEvent(eventFixture("factor.created")), Number.POSITIVE_INFINITY);
  await until(async () => (await queue.stats()).deadLetters === 1);
  for await (const { error } of queue.deadLetters()) {
    expect(error).toBe("HANDLER_FAILED: a\u0000\ud800");
  }
});
