import type { RequestRow } from "../../../lib/admin/console/console-view";
import { createCounters } from "../../../lib/admin/console/totals";
import { ACCOUNT_SID } from "../../support/webhook-requests";

const NO_WAITS = { count: 0, oldestStartMs: undefined };

/** The row of a handled event. */
function createRow(fields: Partial<RequestRow> = {}): RequestRow {
  return {
    id: 1,
    change: 1,
    atMs: 1_000,
    durationMs: 5,
    result: "handled",
    status: 200,
    code: undefined,
    message: undefined,
    failure: undefined,
    attempt: 1,
    type: "challenge.approved",
    version: "v2",
    uuid: "a",
    accountSid: ACCOUNT_SID,
    factorSid: undefined,
    challengeSid: undefined,
    entity: undefined,
    pseudonym: undefined,
    tokenIndex: 0,
    urlIndex: 0,
    issues: [],
    target: "POST /push",
    isTest: false,
    explanation: undefined,
    canExplain: false,
    ...fields,
  };
}

const REJECTED = { result: "rejected", code: "SIGNATURE_MISMATCH" } as const;
const FAILED = { result: "failed", code: "HANDLER_FAILED" } as const;

describe("createCounters", () => {
  it("counts requests by result and by code", () => {
    const counters = createCounters();
    for (const fields of [{}, {}, { result: "duplicate" } as const, REJECTED, REJECTED, FAILED]) {
      counters.add(createRow(fields));
    }
    expect(counters.read([], NO_WAITS, 1)).toMatchObject({
      received: 6,
      byResult: { handled: 2, stored: 0, duplicate: 1, conflict: 0, rejected: 2, failed: 1 },
      byCode: { SIGNATURE_MISMATCH: 2, HANDLER_FAILED: 1 },
    });
  });

  it("moves a request whose handlers failed after its response, and counts it once", () => {
    const counters = createCounters();
    const row = createRow({ result: "stored" });
    counters.add(row);
    counters.move(row, { ...row, ...FAILED });
    const { received, byResult, byCode } = counters.read([], NO_WAITS, 1);
    expect([received, byResult.stored, byResult.failed, byCode]).toEqual([
      1,
      0,
      1,
      { HANDLER_FAILED: 1 },
    ]);
  });

  it("returns totals that later requests do not change", () => {
    const counters = createCounters();
    const before = counters.read([], NO_WAITS, 1);
    counters.add(createRow(REJECTED));
    expect([before.received, before.byResult.rejected, before.byCode]).toEqual([0, 0, {}]);
  });

  it("knows when it was created, and how long the oldest wait has been pending", () => {
    const beforeMs = Date.now();
    const counters = createCounters();
    const oldestStartMs = performance.now() - 4_000;
    const { sinceMs, waits } = counters.read([], { count: 2, oldestStartMs }, 1);
    expect(sinceMs).toBeGreaterThanOrEqual(beforeMs);
    expect(sinceMs).toBeLessThanOrEqual(Date.now());
    expect(waits.count).toBe(2);
    expect(waits.oldestMs).toBeGreaterThanOrEqual(4_000);
    expect(waits.oldestMs).toBeLessThan(60_000);
    expect(counters.read([], NO_WAITS, 1).waits).toEqual({ count: 0, oldestMs: undefined });
  });
});

describe("the rotation", () => {
  const read = (rows: RequestRow[], tokenCount: number | undefined) =>
    createCounters().read(rows, NO_WAITS, tokenCount).rotation;

  it("counts the requests of each token, and when the last of them arrived", () => {
    const rows = [
      createRow({ tokenIndex: 1, atMs: 3_000 }),
      createRow({ tokenIndex: 0, atMs: 1_000 }),
      createRow({ tokenIndex: 1, atMs: 2_000 }),
    ];
    const tokens = [
      { count: 1, lastAtMs: 1_000 },
      { count: 2, lastAtMs: 3_000 },
    ];
    expect(read(rows, 2)).toEqual([{ accountSid: ACCOUNT_SID, tokens }]);
  });

  it("has a token that no request used", () => {
    const tokens = [
      { count: 1, lastAtMs: 1_000 },
      { count: 0, lastAtMs: undefined },
    ];
    expect(read([createRow()], 2)).toEqual([{ accountSid: ACCOUNT_SID, tokens }]);
  });

  it.each([
    ["one static token", 1, [createRow()]],
    ["a function that always found the first token", undefined, [createRow()]],
    ["no authenticated request", 2, [createRow({ accountSid: undefined, tokenIndex: undefined })]],
  ])("is empty with %s", (_name, tokenCount, rows) => {
    expect(read(rows, tokenCount)).toEqual([]);
  });

  it("of a function has each account whose request used another than the first token", () => {
    const rows = [
      createRow({ accountSid: "AC1" }),
      createRow({ accountSid: "AC2", tokenIndex: 1 }),
      createRow({ accountSid: "AC2", tokenIndex: 0 }),
    ];
    expect(read(rows, undefined)).toMatchObject([
      { accountSid: "AC2", tokens: [{ count: 1 }, { count: 1 }] },
    ]);
  });

  it("is bounded: 10 accounts, 16 tokens", () => {
    const rows = Array.from({ length: 12 }, (_, index) =>
      createRow({ accountSid: `AC${index}`, tokenIndex: index === 0 ? 15 : 1 }),
    );
    rows.push(createRow({ accountSid: "AC0", tokenIndex: 16 }));
    const rotation = read(rows, undefined);
    expect(rotation.map(({ accountSid }) => accountSid)).toEqual(
      Array.from({ length: 10 }, (_, index) => `AC${index}`),
    );
    expect(rotation[0]?.tokens).toHaveLength(16);
    expect(read([createRow()], 100)[0]?.tokens).toHaveLength(16);
  });
});
