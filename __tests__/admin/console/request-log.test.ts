import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { createRequestLog } from "../../../lib/admin/console/request-log";
import { inspectReceiver, type ReceiverInspection } from "../../../lib/receiver/inspection";
import { send, startServer, stopServers } from "../../support/servers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../../support/webhook-requests";

afterEach(stopServers);

/** A receiver, and the log of its requests. */
async function startLog(options: Partial<PushWebhooksOptions> = {}) {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  push.onError(() => {});
  const log = createRequestLog(inspectReceiver(push) as ReceiverInspection, false);
  const port = await startServer((req, res) => void push(req, res));
  const deliver = (uuid: string, type: "challenge.approved" | "challenge.denied") =>
    send(port, eventRequest(type, { uuid }));
  /** Sends requests whose signature is of another URL, which `explain` can prove. */
  async function deliverMismatches(count: number): Promise<void> {
    const signed = eventRequest("challenge.approved", {}, { publicUrl: `${PUBLIC_URL}/` });
    for (let index = 0; index < count; index++) await send(port, signed);
  }
  return { push, log, deliver, deliverMismatches };
}

const approve = "challenge.approved";

describe("createRequestLog", () => {
  it("has a row for each request, the oldest first", async () => {
    const { log, deliver, deliverMismatches } = await startLog();
    expect([log.listRows(), log.change]).toEqual([[], 0]);
    await deliver("a", approve);
    await deliverMismatches(1);
    expect(log.listRows()).toMatchObject([
      { id: 1, change: 1, result: "handled", status: 200, type: approve, uuid: "a" },
      { id: 2, change: 2, result: "rejected", status: 403, code: "SIGNATURE_MISMATCH" },
    ]);
    expect(log.readTotals()).toMatchObject({ received: 2, byCode: { SIGNATURE_MISMATCH: 1 } });
  });

  it("lists only the rows that changed after a change", async () => {
    const { log, deliver } = await startLog();
    await deliver("a", approve);
    const { change } = log;
    await deliver("b", approve);
    expect(log.listRows(change)).toMatchObject([{ uuid: "b" }]);
    expect(log.listRows(log.change)).toEqual([]);
  });

  it("counts the deliveries of a uuid", async () => {
    const { log, deliver } = await startLog();
    await deliver("a", approve);
    await deliver("a", approve);
    await deliver("b", approve);
    await deliver("a", "challenge.denied");
    expect(log.listRows().map(({ uuid, attempt, result }) => [uuid, attempt, result])).toEqual([
      ["a", 1, "handled"],
      ["a", 2, "duplicate"],
      ["b", 1, "handled"],
      ["a", 3, "conflict"],
    ]);
  });

  it("keeps the last 200 rows, and the totals of all", async () => {
    const { log, deliver } = await startLog();
    await deliver("first", approve);
    for (let index = 2; index <= 201; index++) await deliver(`uuid-${index}`, approve);
    const rows = log.listRows();
    expect([rows.length, rows[0]?.id, rows.at(-1)?.id]).toEqual([200, 2, 201]);
    expect(log.readTotals().received).toBe(201);
    // Its first delivery is no longer among the rows.
    await deliver("first", approve);
    expect(log.listRows().at(-1)).toMatchObject({ id: 202, result: "duplicate", attempt: 1 });
  });

  it("changes the row of a request whose handlers failed after the response", async () => {
    const { push, log, deliver } = await startLog({ acknowledge: "before" });
    let fail: (error: Error) => void = () => {};
    push.onAny(() => new Promise((_resolve, reject) => (fail = reject)));
    expect((await deliver("a", approve)).status).toBe(200);
    expect(log.listRows()).toMatchObject([{ id: 1, result: "handled" }]);
    const changed = new Promise<void>((resolve) => void log.onChange(resolve));
    fail(new Error("the database is away"));
    await changed;
    expect(log.listRows(1)).toMatchObject([
      { id: 1, change: 2, result: "failed", status: 200, code: "HANDLER_FAILED", attempt: 1 },
    ]);
    const { received, byResult } = log.readTotals();
    expect([received, byResult.handled, byResult.failed]).toEqual([1, 0, 1]);
  });

  it("calls a listener after each change until it is removed", async () => {
    const { log, deliver } = await startLog();
    const changes: number[] = [];
    const remove = log.onChange(() => void changes.push(log.change));
    await deliver("a", approve);
    await deliver("b", approve);
    remove();
    await deliver("c", approve);
    expect(changes).toEqual([1, 2]);
  });
});

describe("explain", () => {
  it("finds the cause of a wrong signature once, and keeps it in the row", async () => {
    const { log, deliverMismatches } = await startLog();
    await deliverMismatches(1);
    expect(log.listRows()).toMatchObject([{ canExplain: true, explanation: undefined }]);
    expect(log.findUnexplained()).toMatchObject({ id: 1 });
    let changes = 0;
    log.onChange(() => void changes++);
    const explained = log.explain(1);
    expect(explained).toMatchObject({
      id: 1,
      change: 2,
      canExplain: false,
      explanation: { isProven: true, subject: `${PUBLIC_URL}/` },
    });
    expect(log.listRows(1)).toEqual([explained]);
    expect(log.explain(1)).toBe(explained);
    expect(changes).toBe(1);
    expect(log.findUnexplained()).toBeUndefined();
  });

  it("keeps the last 10 signatures that can be explained", async () => {
    const { log, deliverMismatches } = await startLog();
    await deliverMismatches(11);
    const canExplain = log.listRows().map((row) => row.canExplain);
    expect(canExplain).toEqual([false, ...Array.from({ length: 10 }, () => true)]);
    expect(log.explain(1)).toBe("unknown request");
    expect(log.findUnexplained()).toMatchObject({ id: 11 });
  });

  it("ends when the budget of the receiver is used up", async () => {
    const { log, deliverMismatches } = await startLog();
    await deliverMismatches(10);
    // Fewer than 10 on a slow machine: the budget also limits the work.
    for (let id = 1; id <= 10 && log.explain(id) !== "budget used up"; id++);
    await deliverMismatches(1);
    expect(log.explain(11)).toBe("budget used up");
    // Not given up: the budget is renewed.
    expect(log.findUnexplained()).toMatchObject({ id: 11, canExplain: true });
  });

  it("knows nothing of requests that were accepted, are not there, or were overwritten", async () => {
    const { log, deliver, deliverMismatches } = await startLog();
    await deliverMismatches(1);
    for (let index = 0; index < 199; index++) await deliver(`uuid-${index}`, approve);
    expect(log.findUnexplained()).toMatchObject({ id: 1 });
    await deliver("last", approve);
    expect(log.findUnexplained()).toBeUndefined();
    for (const id of [1, 2, 0, 202, -1]) expect(log.explain(id)).toBe("unknown request");
  });
});
