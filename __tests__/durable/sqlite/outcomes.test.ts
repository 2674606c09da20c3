import { eventFixture } from "express-push-verification/testing";
import { resolveSqliteOptions } from "../../../lib/durable/sqlite/options";
import { createFileOutcomes } from "../../../lib/durable/sqlite/outcomes";
import { sidOf } from "../../support/durable";

interface Watch {
  key: string;
  isWanted: () => boolean;
  resolve: (params: string | undefined) => void;
}

/** Outcomes of a thread that replies when the test says so. */
function createOutcomes() {
  const watches: Watch[] = [];
  const unwatched: string[] = [];
  const outcomes = createFileOutcomes(
    resolveSqliteOptions({ name: "q", file: "push.db" }),
    (key, isWanted) => new Promise((resolve) => watches.push({ key, isWanted, resolve })),
    (key) => unwatched.push(key),
  );
  const wait = (timeoutMs: number) =>
    outcomes.wait({ account: "", challengeSid: sidOf(1), timeoutMs });
  const endWait = () => expect(wait(1)).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT" });
  return { outcomes, watches, unwatched, wait, endWait };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it("adds nothing to the backlog of a stalled thread for waits that have ended", async () => {
  const { watches, unwatched, endWait } = createOutcomes();
  for (let count = 0; count < 5; count++) await endWait();
  expect(watches).toHaveLength(5);
  expect(watches.some(({ isWanted }) => isWanted())).toBe(false);
  expect(unwatched).toEqual([]);
});

it("ends the watch of a wait that ended before the thread replied", async () => {
  const { watches, unwatched, endWait } = createOutcomes();
  await endWait();
  watches[0]!.resolve(undefined);
  await nextTurn();
  expect(unwatched).toEqual([watches[0]!.key]);
});

it("ends the watch of the last wait", async () => {
  const { watches, unwatched, endWait } = createOutcomes();
  const ended = endWait();
  watches[0]!.resolve(undefined);
  await ended;
  expect(unwatched).toEqual([watches[0]!.key]);
});

it("watches again after the file was opened again", async () => {
  const { outcomes, watches, unwatched, wait } = createOutcomes();
  const event = eventFixture("challenge.approved", { challenge_sid: sidOf(1) });
  const waiting = wait(60_000);
  watches[0]!.resolve(undefined);
  await nextTurn();
  outcomes.watchAgain();
  expect(watches).toHaveLength(2);
  expect(watches[1]!.isWanted()).toBe(true);
  watches[1]!.resolve(outcomes.toRow("", event).params);
  expect(await waiting).toEqual(event);
  expect(unwatched).toEqual([watches[1]!.key]);
});
