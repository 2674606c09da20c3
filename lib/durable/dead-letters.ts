import type { PushEvent, UnknownPushEvent } from "../event/event";
import { parseJson } from "../form/text";
import type { EventFailure, EventState, Storage, StoredDeadLetter, StoredState } from "./storage";
import { hashKey, readEventNames, readFailures, readStoredEvent } from "./stored-event";

/** An event that exhausted its attempts. */
export interface DeadLetter {
  uuid: string;
  accountSid: string;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** The code and the message of the last error of its handlers. */
  error: string;
  /** How often its handlers ran. */
  attempts: number;
  /** When they failed last. */
  failedAt: Date;
}

/** The place of an event in a queue; see `queue.find`. */
export interface EventStatus {
  /**
   * - `"waiting"`: it waits for a worker.
   * - `"active"`: its handlers run now.
   * - `"delayed"`: its handlers failed, and run again at `at`.
   * - `"dead"`: it is a dead letter; its handlers failed for the last time at `at`.
   * - `"handled"`: its handlers succeeded; only its uuid is kept.
   * - `"discarded"`: it was a dead letter, and was discarded; only its uuid is kept.
   */
  state: EventState;
  /** The account that the event claims; undefined when only its uuid is kept, as all that follows. */
  accountSid: string | undefined;
  /** The option `name` of the receiver that verified the event. */
  receiver: string | undefined;
  /** Undefined also when this version cannot read the stored event. */
  event: PushEvent | UnknownPushEvent | undefined;
  /** How often its handlers were started, since it was stored or retried; 0 when only its uuid is kept. */
  attempts: number;
  /** Its last failed attempts, at most 10, the oldest first; also those before a retry. */
  failures: readonly EventFailure[];
  /** When its handlers were or are to run, or when they failed for the last time. */
  at: Date | undefined;
}

/** Chooses between events of one uuid. */
export interface DeadLetterOptions {
  /** Needed only when several accounts have an event of the uuid. */
  accountSid?: string | undefined;
  /** Needed only when receivers with static tokens share the queue, as `accountSid` is a claim. */
  receiver?: string | undefined;
}

/** What a queue does with single events. */
export interface EventOperations {
  /** Lists the events that exhausted their attempts, the oldest failure first. */
  deadLetters(): AsyncIterableIterator<DeadLetter>;
  /**
   * Runs the handlers of a dead letter again, with all attempts.
   *
   * @returns whether there was one.
   * @throws TypeError when several accounts have one of this uuid and `accountSid` is not given.
   */
  retry(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /** Runs the handlers of every dead letter again; returns how many there were. */
  retryAll(): Promise<number>;
  /**
   * Removes a dead letter. Its uuid is kept, so that a replay is not handled.
   *
   * @returns whether there was one.
   * @throws TypeError as {@link EventOperations.retry}.
   */
  discard(uuid: string, options?: DeadLetterOptions): Promise<boolean>;
  /**
   * Returns where an event is, dead letters included, or that it was handled or discarded;
   * undefined for a uuid that the queue does not keep (any more).
   *
   * @throws TypeError as {@link EventOperations.retry}.
   */
  find(uuid: string, options?: DeadLetterOptions): Promise<EventStatus | undefined>;
}

/**
 * Creates the operations of a queue on single events.
 *
 * @param run runs an operation, and again while the store fails.
 */
export function createEventOperations(
  storage: Storage,
  name: string,
  run: <Value>(operation: () => Promise<Value>) => Promise<Value>,
): EventOperations {
  /** Lists pages, without the failures from now on: a dead letter that is retried is listed once. */
  async function* listPages(): AsyncGenerator<readonly StoredDeadLetter[]> {
    let last: StoredDeadLetter | undefined;
    let endAtMs: number | undefined;
    for (;;) {
      const after = last;
      const page = await run(() => storage.deadLetters(after));
      last = page.at(-1);
      if (last === undefined) return;
      const atMs = (endAtMs ??= last.listedAtMs);
      yield page.filter(({ failedAtMs }) => failedAtMs <= atMs);
      if (last.failedAtMs > atMs) return;
    }
  }

  async function change(
    method: "retry" | "discard",
    uuid: string,
    options: DeadLetterOptions = {},
  ): Promise<boolean> {
    const found = await run(() => storage.find(hashKey(name, uuid)));
    const dead = found.filter(({ state }) => state === "dead");
    const ids = choose(method, dead, options).map(({ id }) => id);
    return ids.length > 0 && (await run(() => storage[method](ids))) > 0;
  }

  return {
    async *deadLetters() {
      for await (const page of listPages()) {
        for (const { body, errors, attempts, failedAtMs } of page) {
          const { uuid, ...read } = readNamed(body);
          const { error = "" } = readFailures(errors).at(-1) ?? {};
          yield { uuid, ...read, error, attempts, failedAt: new Date(failedAtMs) };
        }
      }
    },
    retry: (uuid, options) => change("retry", uuid, options),
    async retryAll() {
      let count = 0;
      for await (const page of listPages()) {
        const ids = page.map(({ id }) => id);
        if (ids.length > 0) count += await run(() => storage.retry(ids));
      }
      return count;
    },
    discard: (uuid, options) => change("discard", uuid, options),
    async find(uuid, options = {}) {
      const found = await run(() => storage.find(hashKey(name, uuid)));
      const newest =
        choose("find", found, options).at(-1) ?? found.find(({ body }) => body === null);
      if (newest === undefined) return undefined;
      const { state, body, attempts, errors, atMs } = newest;
      const { accountSid, receiver, event }: Partial<ReturnType<typeof readNamed>> =
        body === null ? {} : readNamed(body);
      const at = atMs === null ? undefined : new Date(atMs);
      return { state, accountSid, receiver, event, attempts, failures: readFailures(errors), at };
    },
  };
}

/**
 * Chooses the events of a uuid that an operation means.
 *
 * @throws TypeError when they are of several authenticated accounts: the account_sid of an event may
 *   be a claim of its signer.
 */
function choose(
  method: "retry" | "discard" | "find",
  found: readonly StoredState[],
  { accountSid, receiver }: DeadLetterOptions,
): StoredState[] {
  const accounts = new Set<string>();
  const chosen = found.filter(({ body }) => {
    if (body === null) return false;
    const names = readEventNames(parseJson(body));
    if ((accountSid ?? names.accountSid) !== names.accountSid) return false;
    if ((receiver ?? names.receiver) !== names.receiver) return false;
    accounts.add(names.account);
    return true;
  });
  if (accounts.size <= 1) return chosen;
  throw new TypeError(
    `${method}: several accounts or receivers have an event of this uuid. Pass those of the event: ${method}(uuid, { accountSid, receiver }).`,
  );
}

function readNamed(body: string): Pick<DeadLetter, "uuid" | "accountSid" | "receiver" | "event"> {
  const stored = parseJson(body);
  const { uuid, accountSid, receiver } = readEventNames(stored);
  let event: DeadLetter["event"];
  try {
    ({ event } = readStoredEvent(stored));
  } catch {
    // The error may quote the parameters. Undefined tells that this version cannot read the event.
  }
  return { uuid, accountSid, receiver, event };
}
