/** States of a store that an operator makes while a queue works. */
import type { Logger } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { closeOpened, entityIdentity, receiveInto, sidOf } from "../../support/durable";
import { until } from "../../support/waiting";
import { eventRequest } from "../../support/webhook-requests";
import { printHead, printOutcome } from "./setup";

export type State = readonly [
  title: string,
  begin: () => unknown,
  /** Undefined for a state that needs no undoing: the queue goes on by itself. */
  end?: (() => unknown) | undefined,
  /** The code of its health until then, and words of its log. */
  says?: readonly [code: string, words: RegExp],
];

/** Describes that a queue says what is wrong, loses nothing that it stores then, and goes on afterwards. */
export function describeStates(
  engine: string,
  open: (logger: Logger) => DurableQueue,
  states: readonly State[],
): void {
  describe(`a queue in ${engine}, whose operator`, () => {
    beforeAll(() => printHead(engine, "health()"));
    afterEach(closeOpened);

    for (const [title, begin, end, says] of states) {
      it(title, () => tryState(title, begin, end, says));
    }

    async function tryState(...[title, begin, end, says]: State): Promise<void> {
      const log: string[] = [];
      const write = (_fields: object, text: string) => void log.push(text);
      const queue = open({ debug() {}, info: write, warn: write, error: write });
      const { push, deliver } = await receiveInto(queue);
      const handled = new Map<string, number>();
      push.onAny(({ uuid }) => void handled.set(uuid, performance.now()));
      queue.work(push.handlers);
      await queue.ready();
      const store = (uuid: string, index: number) =>
        deliver(eventRequest("challenge.approved", { uuid, challenge_sid: sidOf(index) }));
      expect(await store("before", 1)).toBe(200);
      await until(() => handled.has("before"));
      await begin();
      if (says !== undefined) {
        const [code, words] = says;
        await until(async () => (await queue.health()).code === code);
        await until(() => log.some((line) => words.test(line)));
      }
      const { code = "healthy" } = await queue.health();
      const challenge = { challengeSid: sidOf(2), entityIdentity, timeoutMs: 60_000 };
      const waiting = push.waitForChallenge(challenge);
      const sentAtMs = performance.now();
      const sending = store("during", 2);
      // Where nothing can be stored, the receiver tries again.
      if (code !== "STORE_UNAVAILABLE") await sending;
      await end?.();
      const stored = await sending;
      await waiting;
      const waitedMs = performance.now() - sentAtMs;
      await until(() => handled.has("during"));
      const handledMs = (handled.get("during") ?? 0) - sentAtMs;
      printOutcome(title, {
        ready: code,
        words: log.find((line) => says?.[1].test(line)) ?? "",
        stored,
        handledMs,
        waitedMs,
      });
      expect(stored).toBe(200);
      await until(async () => (await queue.health()).status === "healthy");
    }
  });
}
