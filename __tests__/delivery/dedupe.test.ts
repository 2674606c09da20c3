import { setTimeout as sleep } from "node:timers/promises";
import { createMemoryDedupe, type Claim, type DedupeStore } from "express-push-verification";
import {
  createDeduplication,
  type Acceptance,
  type Deduplication,
  type RequestIdentity,
} from "../../lib/delivery/dedupe";
import { createGate, nextTurn, until } from "../support/waiting";
import type { WebhookError } from "../../lib/errors/webhook-error";

const keyOf = (uuid: string, contentHash = "hash", accountSid = "AC1") => ({
  accountSid,
  uuid,
  contentHash,
});

function withoutDeadline({ acceptOnce }: Deduplication) {
  const never = Number.POSITIVE_INFINITY;
  return (request: RequestIdentity, run: () => Promise<void> = async () => {}) =>
    acceptOnce(request, { run, deadlineAtMs: never, finishAtMs: never });
}

/** Awaits a delivery and its handlers; returns its result. */
async function finish(delivery: Promise<Acceptance>) {
  const { result, finished } = await delivery;
  await finished;
  return result;
}

it("gives a store a hash of the signature", async () => {
  const signature = "zHU7DDJRrX2Pi7zCG7MUDB7Hny4=";
  const hashes: string[] = [];
  const store = createMemoryDedupe();
  const claim: DedupeStore["claim"] = (given) => {
    hashes.push(given.contentHash);
    return store.claim(given);
  };
  const deliver = withoutDeadline(createDeduplication({ ...store, claim }, () => {}));
  await finish(deliver(keyOf("a", signature)));
  expect(hashes).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});

describe("createDeduplication", () => {
  const failures: WebhookError[] = [];
  const once = (store: DedupeStore = createMemoryDedupe(), retryForMs = 200) =>
    withoutDeadline(createDeduplication(store, (error) => failures.push(error), retryForMs));

  beforeEach(() => failures.splice(0));

  /** A store whose results and failures the test sets. */
  function scripted(claims: (Claim | Error)[], log: string[] = []): DedupeStore {
    return {
      claim: () => {
        const claim = claims.length > 1 ? claims.shift() : claims[0];
        log.push(`claim ${String(claim)}`);
        if (claim instanceof Error) throw claim;
        return Promise.resolve(claim ?? "new");
      },
      complete: () => void log.push("complete"),
      release: () => void log.push("release"),
    };
  }

  it("runs handlers once when the response to a claim is lost after the store kept it", async () => {
    const memory = createMemoryDedupe();
    let lost = 0;
    const store: DedupeStore = {
      ...memory,
      claim: async (claim) => {
        const found = await memory.claim(claim);
        if (lost++ === 0) throw new Error("the connection was reset");
        return found;
      },
    };
    const run = jest.fn(async () => {});
    expect([await finish(once(store, 2_000)(keyOf("a"), run)), lost]).toEqual(["new", 2]);
    expect(run).toHaveBeenCalledTimes(1);
    expect(await finish(once(store)(keyOf("a"), run))).toBe("duplicate");
  });

  it("fails every concurrent duplicate, and runs the handlers again for the next delivery", async () => {
    const acceptOnce = once();
    const failure = new Error("failed");
    const run = jest.fn(() => Promise.reject(failure));
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => finish(acceptOnce(keyOf("a"), run))),
    );
    expect(outcomes).toEqual(Array(3).fill({ status: "rejected", reason: failure }));
    expect(run).toHaveBeenCalledTimes(1);
    expect(await finish(acceptOnce(keyOf("a")))).toBe("new");
  });

  it("rejects concurrent deliveries with the failure of the first, without another claim", async () => {
    const owners = new Set<string>();
    const claim = ({ owner }: { owner: string }) => {
      owners.add(owner);
      throw new Error("down");
    };
    const acceptOnce = once({ ...scripted([]), claim }, 40);
    const requests = [keyOf("a", "one"), keyOf("a", "two")];
    const settled = await Promise.allSettled(requests.map((request) => acceptOnce(request)));
    expect(settled).toMatchObject(Array(2).fill({ reason: { code: "STORE_UNAVAILABLE" } }));
    expect(owners.size).toBe(1);
  });

  it("causes no unhandled rejection when the caller does not await a failure", async () => {
    const unhandled = jest.fn();
    process.on("unhandledRejection", unhandled);
    await once()(keyOf("a"), () => Promise.reject(new Error("failed")));
    await nextTurn();
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("completes after the run, releases after a failure", async () => {
    const log: string[] = [];
    const acceptOnce = once(scripted(["new"], log));
    await finish(acceptOnce(keyOf("a"), async () => void log.push("run")));
    const failed = finish(acceptOnce(keyOf("b"), () => Promise.reject(new Error("no"))));
    await expect(failed).rejects.toThrow("no");
    expect(log).toEqual(["claim new", "run", "complete", "claim new", "release"]);
  });

  it.each<[what: string, claims: (Claim | Error)[], result: string, runs: number]>([
    [
      "waits for a request that runs in another process",
      ["running", "running", "done"],
      "duplicate",
      0,
    ],
    ["runs the handlers after another process released the uuid", ["running", "new"], "new", 1],
    ["retries while the store is down", [new Error("down"), "new"], "new", 1],
  ])("%s", async (_what, claims, result, runs) => {
    const run = jest.fn(async () => {});
    expect(await finish(once(scripted(claims))(keyOf("a"), run))).toBe(result);
    expect(run).toHaveBeenCalledTimes(runs);
  });

  it("rejects a request that another process does not finish in time", async () => {
    const delivery = once(scripted(["running"]), 60)(keyOf("a"));
    await expect(delivery).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      // No TypeError: the test store itself works.
      cause: expect.not.objectContaining({ name: "TypeError" }),
    });
  });

  it.each<Claim | Error>([new Error("down"), "done", "conflict"])(
    "claims again for the next delivery after %s",
    async (first) => {
      let answer = first;
      const store: DedupeStore = {
        ...scripted([]),
        claim: (claim) => scripted([answer]).claim(claim),
      };
      const acceptOnce = once(store, 40);
      await Promise.allSettled([acceptOnce(keyOf("a"))]);
      answer = "new";
      const run = jest.fn(async () => {});
      expect(await finish(acceptOnce(keyOf("a"), run))).toBe("new");
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  it("claims once for a request whose handlers run", async () => {
    const log: string[] = [];
    const acceptOnce = once(scripted(["new"], log));
    const gate = createGate();
    const first = finish(acceptOnce(keyOf("a"), () => gate.opened));
    await nextTurn();
    const second = finish(acceptOnce(keyOf("a")));
    await nextTurn();
    gate.open();
    expect(await Promise.all([first, second])).toEqual(["new", "duplicate"]);
    expect(log).toEqual(["claim new", "complete"]);
  });

  it.each([undefined, null, true, "duplicate", 0, {}])(
    "does not accept %j as the result of a claim",
    async (claim) => {
      const run = jest.fn(async () => {});
      const delivery = once({ ...scripted([]), claim: () => claim as never }, 40)(keyOf("a"), run);
      await expect(delivery).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        cause: { name: "TypeError" },
      });
      expect(run).not.toHaveBeenCalled();
    },
  );

  it("marks handled requests without a limit on concurrent marks", async () => {
    const marking = createGate();
    const slow = { ...scripted(["new"]), complete: () => marking.opened };
    const lost = jest.fn();
    const acceptOnce = withoutDeadline(createDeduplication(slow, lost));
    // One more than a bounded retry accepts.
    const uuids = Array.from({ length: 1_001 }, (_, index) => String(index));
    const deliveries = await Promise.all(uuids.map((uuid) => acceptOnce(keyOf(uuid))));
    // Longer than the only attempt of an operation over a limit.
    await sleep(300);
    marking.open();
    await Promise.all(deliveries.map(({ finished }) => finished));
    expect(lost).not.toHaveBeenCalled();
  });

  it.each<Claim>(["new", "running", "done", "conflict"])(
    "releases only its own claim when the store replies after the deadline: %j",
    async (late) => {
      let reply!: (claim: Claim) => void;
      const claimed = new Promise<Claim>((resolve) => (reply = resolve));
      const owners = new Set<string>();
      const released: string[] = [];
      const slow: DedupeStore = {
        claim: ({ owner }) => (owners.add(owner), claimed),
        complete: () => {},
        release: ({ owner }) => void released.push(owner),
      };
      const delivery = once(slow, 20)(keyOf("a"));
      await expect(delivery).rejects.toHaveProperty("code", "STORE_UNAVAILABLE");
      const early = released.splice(0);
      reply(late);
      await nextTurn();
      expect([...early, ...released].every((owner) => owners.has(owner))).toBe(true);
      if (late === "new") expect(released).toEqual([...owners]);
    },
  );

  it("releases a claim whose response never arrives, so that the next delivery runs", async () => {
    const memory = createMemoryDedupe();
    let isHanging = true;
    const hanging: DedupeStore = {
      ...memory,
      claim: (claim) => {
        const found = memory.claim(claim);
        return isHanging ? new Promise(() => {}) : found;
      },
    };
    const acceptOnce = once(hanging, 60);
    const run = jest.fn(async () => {});
    await expect(acceptOnce(keyOf("a"), run)).rejects.toHaveProperty("code", "STORE_UNAVAILABLE");
    isHanging = false;
    expect(await finish(acceptOnce(keyOf("a"), run))).toBe("new");
    expect(run).toHaveBeenCalledTimes(1);
  });

  it("reports a mark that failed, keeps the result of the run, and marks later", async () => {
    let isDown = true;
    const completed: string[] = [];
    const broken: DedupeStore = {
      claim: () => "new",
      complete({ uuid }) {
        if (isDown) throw new Error("down");
        completed.push(uuid);
      },
      release: () => Promise.reject(new Error("down")),
    };
    await finish(once(broken, 40)(keyOf("a")));
    isDown = false;
    await until(() => completed.includes("a"));
    const failed = finish(once(broken, 40)(keyOf("b"), () => Promise.reject(new Error("no"))));
    await expect(failed).rejects.toThrow("no");
    expect(failures.map(({ code }) => code)).toEqual(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
  });
});
