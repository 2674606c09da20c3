import { type StepEntry, StoredOutcomes } from "../core/door";
import { sidRule } from "../kit/option-rules";
import { parseJson } from "../kit/text";
import { isText, validateOptions, type OptionRules } from "../kit/validate-options";
import type { EventOperations, QueueUser, UserData } from "./event-operations";
import type { StoredJournal } from "./journal";
import type { Storage, StoredText, TextKind } from "./storage";
import { isEventOf } from "./stored-event";

/** Both are secret: one may be given in place of the other. */
const USER_RULES: OptionRules<QueueUser> = {
  accountSid: { ...sidRule("AC"), required: true, secret: true },
  entityIdentity: {
    accepts: isText,
    expected: "the entity_identity of the user's events",
    required: true,
    secret: true,
  },
};

const COUNTS = {
  waiting: "waiting",
  active: "active",
  delayed: "delayed",
  dead: "deadLetters",
  outcome: "outcomes",
  entry: "entries",
} as const satisfies Record<StoredText["state"], keyof UserData>;

/**
 * Creates the operations of a queue on the data of a user. Keys are hashes, so all texts are read.
 *
 * @param run runs an operation, and again while the store fails.
 */
export function createUserOperations(
  storage: Storage,
  journal: StoredJournal,
  run: <Value>(operation: () => Promise<Value>) => Promise<Value>,
): Pick<EventOperations, "countUserData" | "eraseUserData"> {
  /** Calls `visit` with the ids of each slice that are of the user, and counts them. */
  async function visitAll(
    user: QueueUser,
    visit?: (kind: TextKind, ids: readonly string[]) => Promise<unknown>,
  ): Promise<UserData> {
    const { accountSid } = user;
    const person = await journal.createPseudonym(user.entityIdentity);
    await journal.flush();
    // Events first: one that runs may record an outcome before it is erased.
    const kinds: Record<TextKind, (text: string) => boolean> = {
      event: (text) => isEventOf(user, parseJson(text)),
      outcome: (text) => StoredOutcomes.isOf(user, text),
      entry: (text) => isEntryOf({ accountSid, person }, text),
    };
    const counts: UserData = {
      waiting: 0,
      active: 0,
      delayed: 0,
      deadLetters: 0,
      outcomes: 0,
      entries: 0,
    };
    for (const [kind, isOf] of Object.entries(kinds) as [TextKind, (text: string) => boolean][]) {
      const seen = new Set<string>();
      let from: string | undefined;
      do {
        const start = from;
        const { texts, next } = await run(() => storage.scan(kind, start));
        const found = texts.filter(({ text }) => isOf(text));
        if (found.length > 0)
          await visit?.(
            kind,
            found.map(({ id }) => id),
          );
        for (const { id, state } of found) {
          if (!seen.has(id)) counts[COUNTS[state]]++;
          seen.add(id);
        }
        from = next;
      } while (from !== undefined);
    }
    return counts;
  }

  return {
    async countUserData(user) {
      validateOptions("countUserData", user, USER_RULES);
      return visitAll(user);
    },
    async eraseUserData(user) {
      validateOptions("eraseUserData", user, USER_RULES);
      return visitAll(user, (kind, ids) => run(() => storage.erase(kind, ids)));
    },
  };
}

/** Of a rejected request, both are what its sender claims. */
function isEntryOf(user: { accountSid: string; person: string }, text: string): boolean {
  const entry = Object(parseJson(text)) as Partial<StepEntry>;
  return entry.person === user.person && entry.accountSid === user.accountSid;
}
