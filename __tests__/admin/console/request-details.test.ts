/** What the console keeps of a request, where its event is in a queue, and how it is sent again. */
import type { ConsoleQueue } from "express-push-verification/admin";
import type { RequestDetails } from "../../../lib/admin/console/console-view";
import { ACCOUNT_SID, CHALLENGE_SID } from "../../support/webhook-requests";
import { startConsole, useConsoles, type ConsoleApp } from "./console-app";
import { createMemoryQueue } from "./memory-queue";

useConsoles();

const JANE = "jane.doe@example.com";

async function readDetails({ url }: ConsoleApp, id: number) {
  const response = await fetch(`${url}console/requests/${id}`);
  return { status: response.status, details: (await response.json()) as RequestDetails };
}

async function resend({ url }: ConsoleApp, ids: number[]) {
  const body = JSON.stringify({ ids });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${url}console/resend`, { method: "POST", headers, body });
  return { status: response.status, ...((await response.json()) as object) };
}

/** A queue that knows one event. */
function createQueueWith(found: Awaited<ReturnType<NonNullable<ConsoleQueue["find"]>>>) {
  const asked: unknown[] = [];
  const queue = createMemoryQueue(["boom"]);
  const find: ConsoleQueue["find"] = (...args) => {
    asked.push(args);
    return Promise.resolve(found);
  };
  return { queue: Object.assign(queue, { find }), asked };
}

const FOUND = { event: undefined, attempts: 3, at: new Date(5_000) };

describe("GET /console/requests/:id", () => {
  it("has the parameters, masked, the headers without the signature, and no queue", async () => {
    const app = await startConsole();
    await app.deliver("challenge.approved", { entity_identity: JANE });
    const { details } = await readDetails(app, 1);
    const params = Object.fromEntries(details.params ?? []);
    expect(params).toMatchObject({
      type: "challenge.approved",
      account_sid: ACCOUNT_SID,
      challenge_sid: CHALLENGE_SID,
      entity_identity: "jan…com",
      factor_metadata: expect.stringMatching(/^\(\d+ characters\)$/),
    });
    const names = details.headers.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(["host", "content-type", "content-length"]));
    expect(names).not.toContain("x-service-signature");
    expect(details).toMatchObject({ canResend: true, responseHeaders: [] });
    expect(details.queued).toBeUndefined();
    expect(JSON.stringify(details)).not.toContain(JANE);
  });

  it("has the values with reveal", async () => {
    const app = await startConsole({ router: { console: { reveal: true } } });
    await app.deliver("challenge.approved", { entity_identity: JANE });
    const { details } = await readDetails(app, 1);
    expect(details.params).toContainEqual(["entity_identity", JANE]);
  });

  it("has no parameters of a request that was not authenticated, or is large", async () => {
    const app = await startConsole();
    await app.deliver("challenge.approved", {}, { authToken: "wrong" });
    await app.deliver("challenge.approved", { challenge_details: "x".repeat(20_000) });
    for (const id of [1, 2]) {
      const { details } = await readDetails(app, id);
      expect(details.params).toBeUndefined();
      expect(details.canResend).toBe(false);
    }
    expect((await readDetails(app, 3)).status).toBe(404);
  });

  it("asks the queue where the event is, and masks the error of each attempt", async () => {
    const { queue, asked } = createQueueWith({
      ...FOUND,
      state: "delayed",
      failures: [
        { at: new Date(2_000), error: "HANDLER_FAILED: ECONNREFUSED" },
        { at: new Date(4_000), error: `HANDLER_FAILED: no user ${JANE}` },
      ],
    });
    const app = await startConsole({ router: { queue } });
    await app.deliver("challenge.approved", { uuid: "evt-1", entity_identity: JANE });
    expect((await readDetails(app, 1)).details.queued).toEqual({
      state: "delayed",
      attempts: 3,
      failures: [
        { atMs: 2_000, error: "HANDLER_FAILED: ECONNREFUSED" },
        { atMs: 4_000, error: "HANDLER_FAILED: no user <entity_identity>" },
      ],
      atMs: 5_000,
    });
    expect(asked).toEqual([["evt-1", { accountSid: ACCOUNT_SID }]]);
  });
});

describe("POST /console/resend", () => {
  it("runs the handlers again, and is audited with the uuid", async () => {
    const app = await startConsole();
    const handled: string[] = [];
    app.push.on("challenge.approved", ({ uuid }) => void handled.push(uuid));
    await app.deliver("challenge.approved", { uuid: "a" });
    await app.deliver("challenge.approved", { uuid: "b" });
    expect(await resend(app, [1])).toEqual({ status: 200, results: [{ id: 1 }] });
    expect(await resend(app, [2, 1])).toMatchObject({ results: [{ id: 2 }, { id: 1 }] });
    expect(handled).toEqual(["a", "b", "a", "b", "a"]);
    expect(app.audits.map(({ action, uuid }) => [action, uuid])).toEqual([
      ["request.resend", "a"],
      ["request.resend", undefined],
    ]);
  });

  it("names the problem of each event", async () => {
    const app = await startConsole();
    app.push.on("challenge.denied", () => {
      throw new Error("boom");
    });
    await app.deliver("challenge.denied");
    await app.deliver("challenge.approved");
    await app.deliver("challenge.approved", {}, { authToken: "wrong" });
    expect(await resend(app, [1, 2, 3])).toMatchObject({
      results: [
        { problem: "HANDLER_FAILED" },
        { problem: expect.stringContaining("No handler") },
        { problem: expect.stringContaining("not in memory") },
      ],
    });
    expect((await resend(app, [4])).status).toBe(404);
    expect((await resend(app, [])).status).toBe(400);
  });

  it.each<[string, string[], object]>([
    ["dead", ["retry evt-1"], {}],
    ["delayed", [], { problem: expect.stringContaining("delayed") }],
  ])("leaves an event that is %s to the queue", async (state, changes, result) => {
    const { queue } = createQueueWith({ ...FOUND, state, failures: [] });
    const retry = (uuid: string) => {
      queue.changes.push(`retry ${uuid}`);
      return Promise.resolve(true);
    };
    const app = await startConsole({ router: { queue: { ...queue, retry } } });
    let runs = 0;
    app.push.onAny(() => void runs++);
    await app.deliver("challenge.approved", { uuid: "evt-1" });
    expect(await resend(app, [1])).toMatchObject({ results: [{ id: 1, ...result }] });
    expect([queue.changes, runs]).toEqual([changes, 1]);
  });
});
