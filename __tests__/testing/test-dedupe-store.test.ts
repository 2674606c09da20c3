import { createMemoryDedupe, type DedupeClaim, type DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";
import { never, nextTurn } from "../support/waiting";

type Key = Parameters<DedupeStore["release"]>[0];

const ONCE = "a uuid is claimed once until it is completed, then it is done:";
const REPEATED = "complete and release may be repeated, and may have no claim: none";
const LAPSED = "a claim lapses after leaseMs and belongs to the next owner: a claim after";
const MANY = "one of many concurrent claims";
const TEXT = "every text may be a uuid:";

/** What a store does wrong, and how the failing checks begin. */
const FAULTS = {
  "never-lapses": ["a claim lapses", `${MANY} replaces`],
  "ignores-account": [
    'accounts are apart: a claim of this uuid of another account must return "new"; received "running"',
  ],
  "completes-other-account": ["accounts are apart: a claim after complete"],
  "ignores-owner": [
    ONCE,
    "complete of another owner is ignored: a claim after complete of another owner",
    "release of another owner is ignored: a claim after release of another owner",
    `${MANY} is new`,
  ],
  "rejects-repeated": ["the owner of a claim may repeat it: the same claim"],
  "ends-repeated": ["the owner of a claim may repeat it: a claim of another owner"],
  "never-releases": ["a released uuid is new again"],
  "never-completes": [`${ONCE} a claim after complete`],
  "runs-done-of-owner": [`${ONCE} a claim of the same owner`],
  "runs-done-after-lease": ["a done uuid stays done"],
  "runs-other-content": ["other content of a done uuid"],
  "reads-before-writing": [`${MANY} is new`],
  "drops-running": [`${MANY} is new`],
  "returns-unknown": [ONCE, TEXT],
  "ignores-case": ["uuids are apart"],
  "cuts-uuid": ["uuids are apart"],
  "trims-uuid": ["uuids are apart"],
  "compares-beginning": ["uuids are apart"],
  "throws-for-release-without-claim": [REPEATED],
  "throws-for-second-complete": [REPEATED],
  "obeys-release-of-former-owner": [`${LAPSED} release`],
  "obeys-complete-of-former-owner": [`${LAPSED} complete`],
  "forgets-NUL": [`${TEXT} a claim of another owner of a uuid with NUL`],
  "completes-no-NUL": [`${TEXT} a claim after complete of a uuid with NUL`],
};
type Fault = keyof typeof FAULTS;

/** A store without conflicts that has one fault. */
function createStore(fault?: Fault): DedupeStore {
  const has = (one: Fault) => one === fault;
  const entries = new Map<string, DedupeClaim & { endsAtMs: number; isDone: boolean }>();
  const owners = new Set<string>();
  const keyOf = ({ accountSid, uuid }: Key) => {
    if (has("ignores-account")) return uuid;
    if (has("ignores-case")) return accountSid + uuid.toLowerCase();
    if (has("cuts-uuid")) return accountSid + uuid.slice(0, 255);
    if (has("trims-uuid")) return accountSid + uuid.trim();
    if (has("forgets-NUL") && uuid.includes("\0")) return crypto.randomUUID();
    const isSame = (key: string) => has("compares-beginning") && key.startsWith(accountSid + uuid);
    return [...entries.keys()].find(isSame) ?? accountSid + uuid;
  };
  const find = (key: Key, isFormer: boolean) => {
    const entry = entries.get(keyOf(key));
    const isObeyed = has("ignores-owner") || (isFormer && owners.has(key.owner));
    return entry?.owner === key.owner || isObeyed ? entry : undefined;
  };
  return {
    async claim(one) {
      if (has("returns-unknown")) return "claimed" as never;
      const key = keyOf(one);
      const entry = entries.get(key);
      if (has("reads-before-writing")) await nextTurn();
      const isOwner = entry?.owner === one.owner || has("ignores-owner");
      const nowMs = performance.now();
      const isLapsed = entry !== undefined && entry.endsAtMs < nowMs;
      const isFree =
        (has("runs-done-of-owner") && isOwner) ||
        (has("runs-done-after-lease") && isLapsed) ||
        (has("runs-other-content") && entry?.contentHash !== one.contentHash);
      if (entry?.isDone === true && !isFree) return "done";
      const isRunning = entry?.isDone === false && !isLapsed;
      if (isRunning && !isOwner) return has("drops-running") ? "done" : "running";
      if (isRunning && has("rejects-repeated")) return "running";
      owners.add(one.owner);
      const endsAtMs = has("never-lapses") ? Infinity : nowMs + one.leaseMs;
      entries.set(key, { ...one, endsAtMs, isDone: false });
      if (isRunning && has("ends-repeated")) entries.delete(key);
      return "new";
    },
    complete(key) {
      const entry = find(key, has("obeys-complete-of-former-owner"));
      if (entry === undefined || has("never-completes")) return;
      if (entry.isDone && has("throws-for-second-complete")) throw new Error("none");
      entry.isDone = !has("completes-no-NUL") || !key.uuid.includes("\0");
      if (!has("completes-other-account")) return;
      for (const other of entries.values()) other.isDone ||= other.uuid === key.uuid;
    },
    release(key) {
      const entry = find(key, has("obeys-release-of-former-owner"));
      if (!entry && has("throws-for-release-without-claim")) throw new Error("none");
      if (entry?.isDone === false && !has("never-releases")) entries.delete(keyOf(key));
    },
  };
}

interface Failures {
  message: string;
  errors: { message: string; cause: Error }[];
}

const findFailures = (store: DedupeStore) =>
  testDedupeStore(() => store).then(
    () => ({ message: "", errors: [] }),
    (error: Failures) => error,
  );

describe("testDedupeStore", () => {
  it("passes stores that several runs share, with conflicts or without", async () => {
    const store = createMemoryDedupe();
    const uuids = new Set<string>();
    const claim = (one: DedupeClaim) => {
      uuids.add(one.uuid);
      return store.claim(one);
    };
    const stores = [() => store, async () => ({ ...store, claim }), () => createStore()];
    await Promise.all(stores.map((create) => testDedupeStore(create)));
    const odd = ["a\0b", `a'b"c\`d`, "a:b::c:", "a\\b%c_d", "a\r\nb", "__proto__", "meta", " "];
    odd.push("x".repeat(256), "é".repeat(256), "👍🏽".repeat(3), "constructor");
    expect(odd.filter((uuid) => !uuids.has(uuid))).toEqual([]);
  });

  it.concurrent.each(Object.entries(FAULTS))("fails a store that %s", async (fault, checks) => {
    const { errors, message } = await findFailures(createStore(fault as Fault));
    const count = `${errors.length} of \\d+ checks failed`;
    expect(message).toMatch(new RegExp(`^testDedupeStore: ${count}:\\n- `));
    for (const check of checks) expect(message).toContain(`\n- ${check}`);
  });

  it("has what the store throws as the cause", async () => {
    const claim = () => Promise.reject("down");
    const { errors } = await findFailures({ ...createStore(), claim, release: claim });
    for (const { message, cause } of errors) {
      expect(message).toMatch(/(:|threw) down$/);
      expect(cause.cause ?? cause).toBe("down");
    }
    const create = () => Promise.reject(new RangeError("down"));
    await expect(testDedupeStore(create)).rejects.toThrow(RangeError);
  });

  const { claim, complete, release } = createStore();
  it.each([
    [undefined, "claim"],
    [null, "claim"],
    [{ complete, release }, "claim"],
    [{ claim, release }, "complete"],
    [{ claim, complete }, "release"],
  ])("rejects %p, which has no method %s", async (store, method) => {
    const message: unknown = expect.stringContaining(`no method ${method}`);
    const wrong = expect.objectContaining({ name: "TypeError", message });
    await expect(testDedupeStore(() => store as never)).rejects.toEqual(wrong);
  });

  it("fails a store that does not respond, without waiting for it", async () => {
    jest.useFakeTimers();
    const store = { ...createStore(), claim: never };
    const failed = expect(testDedupeStore(() => store)).rejects.toThrow("within 5000 ms");
    await jest.advanceTimersByTimeAsync(5_000 * 20);
    jest.useRealTimers();
    await failed;
  });
});
