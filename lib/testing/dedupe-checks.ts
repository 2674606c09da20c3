import { setTimeout as sleep } from "node:timers/promises";
import { createSid } from "../kit/sid";
import type { DedupeStore } from "../index";

type DedupeClaim = Parameters<DedupeStore["claim"]>[0];
type Claim = Awaited<ReturnType<DedupeStore["claim"]>>;

const LONG_LEASE_MS = 60_000;
const SHORT_LEASE_MS = 200;
/** How long to wait after a lease: clocks of databases and timers are not exact. */
const LAPSE_MS = 100;
const OWNERS = 20;

/** The text of a uuid is not restricted (specification, section 6.3). */
const ODD_UUIDS: Readonly<Record<string, string>> = {
  NUL: "a\0b",
  quotes: `a'b"c\`d`,
  colons: "a:b::c:",
  "a backslash, a percent sign and an underscore": "a\\b%c_d",
  "a line break": "a\r\nb",
  "256 characters": "x".repeat(256),
  "256 characters of two bytes": "é".repeat(256),
  emoji: "👍🏽".repeat(3),
  ["__proto__"]: "__proto__",
  constructor: "constructor",
  meta: "meta",
  "one space": " ",
};

/** Checks of `testDedupeStore` by name: each throws an Error with the expected and received value. */
export const DEDUPE_CHECKS: Readonly<Record<string, (store: DedupeStore) => Promise<void>>> = {
  async "a uuid is claimed once until it is completed, then it is done"(store) {
    const first = await claimFirst(store);
    await expectClaim(store, nextOwner(first), "a claim of another owner", "running");
    await store.complete(first);
    await expectClaim(store, nextOwner(first), "a claim after complete", "done");
    await expectClaim(store, first, "a claim of the same owner after complete", "done");
  },

  async "the owner of a claim may repeat it"(store) {
    const first = await claimFirst(store);
    await expectClaim(store, first, "the same claim again", "new");
    await expectClaim(store, nextOwner(first), "a claim of another owner", "running");
  },

  async "accounts are apart"(store) {
    const first = await claimFirst(store);
    const other = { ...nextOwner(first), accountSid: createSid("AC") };
    await expectClaim(store, other, "a claim of this uuid of another account", "new");
    await store.complete(first);
    const next = nextOwner(other);
    await expectClaim(store, next, "a claim after complete of another account", "running");
  },

  async "uuids are apart"(store) {
    const prefix = crypto.randomUUID();
    const long = prefix.padEnd(255, "x");
    const first = `${prefix}a`;
    const claim = await claimFirst(store, { uuid: first });
    for (const uuid of [`${prefix}A`, `${prefix}a `, prefix, `${long}1`, `${long}2`]) {
      const name = `a claim of ${showResult(uuid)} after ${showResult(first)}`;
      await expectClaim(store, { ...nextOwner(claim), uuid }, name, "new");
    }
  },

  async "other content of a done uuid is a conflict or done"(store) {
    const first = await claimFirst(store);
    await store.complete(first);
    const other = { ...nextOwner(first), contentHash: "another hash" };
    await expectClaim(store, other, "a claim of other content", "conflict", "done");
  },

  async "a released uuid is new again"(store) {
    const first = await claimFirst(store);
    await store.release(first);
    await expectClaim(store, nextOwner(first), "a claim after release", "new");
  },

  async "complete of another owner is ignored"(store) {
    const first = await claimFirst(store);
    await store.complete(nextOwner(first));
    const next = nextOwner(first);
    await expectClaim(store, next, "a claim after complete of another owner", "running");
    await store.release(first);
    await expectClaim(store, next, "a claim after release of the owner", "new");
  },

  async "release of another owner is ignored"(store) {
    const first = await claimFirst(store);
    await store.release(nextOwner(first));
    const next = nextOwner(first);
    await expectClaim(store, next, "a claim after release of another owner", "running");
    await store.complete(first);
    await expectClaim(store, next, "a claim after complete of the owner", "done");
  },

  async "complete and release may be repeated, and may have no claim"(store) {
    const first = newClaim();
    await store.release(first);
    await expectClaim(store, first, "a claim after release without a claim", "new");
    await store.complete(first);
    await store.complete(first);
    await expectClaim(store, nextOwner(first), "a claim after complete twice", "done");
  },

  async "a claim lapses after leaseMs and belongs to the next owner"(store) {
    const first = await claimFirst(store, { leaseMs: SHORT_LEASE_MS });
    const second = { ...nextOwner(first), leaseMs: LONG_LEASE_MS };
    await sleep(SHORT_LEASE_MS + LAPSE_MS);
    await expectClaim(store, second, "a claim after the lease", "new");
    await store.release(first);
    const third = nextOwner(second);
    await expectClaim(store, third, "a claim after release of the former owner", "running");
    await store.complete(first);
    await expectClaim(store, third, "a claim after complete of the former owner", "running");
  },

  async "a done uuid stays done after leaseMs"(store) {
    const first = await claimFirst(store, { leaseMs: SHORT_LEASE_MS });
    await store.complete(first);
    await sleep(SHORT_LEASE_MS + LAPSE_MS);
    await expectClaim(store, nextOwner(first), "a claim after the lease", "done");
  },

  async "one of many concurrent claims is new"(store) {
    await expectOneNew(store, newClaim());
  },

  async "one of many concurrent claims replaces a lapsed one"(store) {
    const lapsing = await claimFirst(store, { leaseMs: 1 });
    await sleep(1 + LAPSE_MS);
    await expectOneNew(store, { ...lapsing, leaseMs: LONG_LEASE_MS });
  },

  async "every text may be a uuid"(store) {
    for (const [name, uuid] of Object.entries(ODD_UUIDS)) {
      const first = newClaim({ uuid });
      const next = nextOwner(first);
      await expectClaim(store, first, `the first claim of a uuid with ${name}`, "new");
      await expectClaim(store, next, `a claim of another owner of a uuid with ${name}`, "running");
      await store.complete(first);
      await expectClaim(store, next, `a claim after complete of a uuid with ${name}`, "done");
    }
  },
};

async function claimFirst(store: DedupeStore, fields: Partial<DedupeClaim> = {}) {
  const claim = newClaim(fields);
  await expectClaim(store, claim, "the first claim", "new");
  return claim;
}

async function expectClaim(
  store: DedupeStore,
  claim: DedupeClaim,
  claimName: string,
  ...expected: Claim[]
): Promise<void> {
  const received = await attemptClaim(store, claim, claimName);
  if (expected.includes(received)) return;
  const wanted = expected.map((one) => showResult(one)).join(" or ");
  throw new Error(`${claimName} must return ${wanted}; received ${showResult(received)}`);
}

async function attemptClaim(store: DedupeStore, claim: DedupeClaim, claimName: string) {
  try {
    return await store.claim(claim);
  } catch (error) {
    throw new Error(`${claimName} threw ${String(error)}`, { cause: error });
  }
}

async function expectOneNew(store: DedupeStore, claim: DedupeClaim): Promise<void> {
  const claims = Array.from({ length: OWNERS }, () => nextOwner(claim));
  const found = await Promise.all(
    claims.map((one) => attemptClaim(store, one, "a concurrent claim")),
  );
  const newCount = found.filter((one) => one === "new").length;
  const others = found.filter((one) => one !== "new" && one !== "running");
  if (newCount === 1 && others.length === 0) return;
  throw new Error(
    `${OWNERS} concurrent claims must return "new" once and "running" ${OWNERS - 1} times; received "new" ${newCount} times${others.length === 0 ? "" : ` and ${showResult(others[0])}`}`,
  );
}

function newClaim(fields: Partial<DedupeClaim> = {}): DedupeClaim {
  const owner = crypto.randomUUID();
  const defaults = { accountSid: createSid("AC"), contentHash: "hash", leaseMs: LONG_LEASE_MS };
  return { uuid: crypto.randomUUID(), owner, ...defaults, ...fields };
}

function nextOwner(claim: DedupeClaim): DedupeClaim {
  return { ...claim, owner: crypto.randomUUID() };
}

function showResult(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
