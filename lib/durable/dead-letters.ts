import { parseJson, toAsciiJson } from "../kit/text";
import type {
  Storage,
  StoredDeadGroup,
  StoredDeadLetter,
  StoredDeadLetterChoice,
  StoredState,
} from "./storage";
import { hashKey } from "./event-key";
import type {
  DeadLetter,
  DeadLetterGroup,
  DeadLetterOptions,
  EventOperations,
  EventStatus,
} from "./event-operations";
import type { NoteStep, Step } from "./steps";
import { readEventNames, readFailures, readStoredEvent } from "./stored-event";

const ALL: StoredDeadLetterChoice = { failure: undefined, newestFirst: false };

/**
 * Creates the operations of a queue on single events.
 *
 * @param noteStep notes what became of a dead letter.
 * @param run runs an operation, and again while the store fails.
 */
export function createEventOperations(
  storage: Storage,
  name: string,
  noteStep: NoteStep,
  run: <Value>(operation: () => Promise<Value>) => Promise<Value>,
): Omit<EventOperations, "countUserData" | "eraseUserData"> {
  /** Lists pages without later failures: a dead letter that is retried is listed once. */
  async function* listPages(
    choice: StoredDeadLetterChoice = ALL,
  ): AsyncGenerator<readonly StoredDeadLetter[]> {
    let last: StoredDeadLetter | undefined;
    let endAtMs: number | undefined;
    for (;;) {
      const after = last;
      const page = await run(() => storage.deadLetters(choice, after));
      last = page.at(-1);
      if (last === undefined) return;
      const limitMs = (endAtMs ??= last.listedAtMs);
      yield page.filter(({ atMs }) => atMs <= limitMs);
      if (!choice.newestFirst && last.atMs > limitMs) return;
    }
  }

  async function change(
    method: "retry" | "discard",
    uuid: string,
    options: DeadLetterOptions = {},
  ): Promise<boolean> {
    const found = await run(() => storage.find(hashKey(name, uuid)));
    const dead = found.filter(({ state }) => state === "dead");
    const chosen = choose(method, dead, options);
    const ids = chosen.map(({ id }) => id);
    // A worker may handle it before this process knows.
    const atMs = Date.now();
    const isChanged = ids.length > 0 && (await run(() => storage[method](ids))) > 0;
    if (isChanged) noteAll(method, chosen, { atMs, by: options.by });
    return isChanged;
  }

  function noteAll(
    method: "retry" | "discard",
    letters: readonly StoredState[],
    step: Pick<Step, "atMs" | "by">,
  ): void {
    const what = method === "retry" ? "retried" : "discarded";
    for (const { body } of letters) noteStep(parseJson(body ?? ""), { what, ...step });
  }

  return {
    async *deadLetters({ error: chosen, newestFirst = false } = {}) {
      const failure = chosen === undefined ? undefined : toAsciiJson(chosen);
      for await (const page of listPages({ failure, newestFirst })) {
        for (const letter of page) yield toDeadLetter(letter);
      }
    },
    async deadGroups() {
      const groups = await run(() => storage.deadGroups());
      return groups.map(toGroup);
    },
    retry: (uuid, options) => change("retry", uuid, options),
    async retryAll() {
      let count = 0;
      for await (const page of listPages()) {
        const atMs = Date.now();
        count += await run(() => storage.retry(page.map(({ id }) => id)));
        noteAll("retry", page, { atMs });
      }
      return count;
    },
    discard: (uuid, options) => change("discard", uuid, options),
    async find(uuid, options = {}) {
      const found = await run(() => storage.find(hashKey(name, uuid)));
      const last = choose("find", found, options).at(-1) ?? found.find(({ body }) => body === null);
      return last && toStatus(last);
    },
  };
}

/**
 * Chooses the events of a uuid that an operation means.
 *
 * @throws TypeError when several authenticated accounts have them: an account_sid may be a claim.
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
    accounts.add(names.authenticatedAccount);
    return true;
  });
  if (accounts.size <= 1) return chosen;
  throw new TypeError(
    `${method}: several accounts or receivers have an event of this uuid. Pass them: ${method}(uuid, { accountSid, receiver }).`,
  );
}

function toGroup({ failure, count, users, firstAtMs, lastAtMs }: StoredDeadGroup): DeadLetterGroup {
  const error = parseJson(failure);
  return { error: typeof error === "string" ? error : "", count, users, firstAtMs, lastAtMs };
}

function toDeadLetter({ body, errors, attempts, atMs }: StoredDeadLetter): DeadLetter {
  const { error = "" } = readFailures(errors).at(-1) ?? {};
  return { ...readNamed(body), error, attempts, failedAt: new Date(atMs) };
}

function toStatus({ state, body, attempts, errors, atMs }: StoredState): EventStatus {
  const { accountSid, receiver, event }: Partial<ReturnType<typeof readNamed>> =
    body === null ? {} : readNamed(body);
  const at = atMs === null ? undefined : new Date(atMs);
  return { state, accountSid, receiver, event, attempts, failures: readFailures(errors), at };
}

function readNamed(body: string): Pick<DeadLetter, "uuid" | "accountSid" | "receiver" | "event"> {
  const stored = parseJson(body);
  const { uuid, accountSid, receiver } = readEventNames(stored);
  let event: DeadLetter["event"];
  try {
    ({ event } = readStoredEvent(stored));
  } catch {
    // The error may quote parameters. Undefined: this version cannot read the event.
  }
  return { uuid, accountSid, receiver, event };
}
