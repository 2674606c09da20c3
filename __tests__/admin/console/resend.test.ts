/** Running the handlers again for requests that a person chooses. */
import { once } from "node:events";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createMemoryDedupe,
  type DedupeStore,
  type PushEvent,
  type PushWebhooksOptions,
} from "express-push-verification";
import { until } from "../../support/waiting";
import { ACCOUNT_SID } from "../../support/webhook-requests";
import {
  act,
  readRows,
  readShown,
  startConsole,
  useConsoles,
  type ConsoleApp,
} from "./console-app";
import { createMemoryQueue, storeDown, storeIn } from "./memory-queue";

useConsoles();

const approve = "challenge.approved";
const FAILED = { filter: { state: "bad" }, untilMs: Date.UTC(2100) };

async function resend(app: ConsoleApp, uuid: string) {
  const row = (await readRows(app)).find((one) => one.uuid === uuid);
  return act(app, "/resend", { id: row?.id ?? uuid });
}

const result = (changed: number, ...problems: unknown[]) => ({ result: { changed, problems } });

describe("without a queue", () => {
  it.each<[code: string, options: Partial<PushWebhooksOptions>]>([
    ["NOT_CONFIRMED", { confirm: () => false }],
    ["PAYLOAD_AMBIGUOUS", {}],
  ])("runs no event that was rejected: %s", async (code, options) => {
    const app = await startConsole({ receiver: options });
    const handler = jest.fn();
    app.push.onAny(handler);
    await app.deliver(approve, { uuid: "a", challenge_hidden_details: "AccountSid=" });
    expect(await readRows(app)).toMatchObject([{ code, canResend: false }]);
    expect(await resend(app, "a")).toMatchObject(result(0, expect.any(String)));
    expect(handler).not.toHaveBeenCalled();
  });

  it("runs the handlers again only after confirm", async () => {
    let isTrue = true;
    const asked: string[] = [];
    const confirm = ({ type }: PushEvent) => asked.push(type) > 0 && isTrue;
    const app = await startConsole({ receiver: { confirm } });
    const handled: string[] = [];
    app.push.onAny(({ type }) => void handled.push(type));
    await app.deliver(approve, { uuid: "a" });
    await app.deliver("challenge.denied", { uuid: "a" });
    expect(await resend(app, "a")).toEqual({ done: 1, count: 1, ...result(1) });
    const resent = { atMs: expect.any(Number), by: "alice" };
    expect(await readRows(app)).toMatchObject([{ resent }, { canResend: false }]);
    isTrue = false;
    expect(await resend(app, "a")).toMatchObject(result(0, "NOT_CONFIRMED"));
    const [, dropped] = await readRows(app);
    expect(await act(app, "/resend", { id: dropped?.id })).toMatchObject(
      result(0, expect.any(String)),
    );
    const audit = { action: "request.resend", actor: "alice", status: 200, uuid: "a" };
    expect(app.audits).toMatchObject([
      { ...audit, count: 1, code: undefined },
      { ...audit, count: 0, code: "NOT_CONFIRMED" },
      { ...audit, count: 0, code: expect.any(String) },
    ]);
    expect(asked).toEqual(Array(3).fill(approve));
    expect(handled).toEqual(Array(2).fill(approve));
  });

  it("does not run the handlers for content that a dedupe store calls done", async () => {
    const memory = createMemoryDedupe();
    const claim: DedupeStore["claim"] = async (one) => {
      const found = await memory.claim(one);
      return found === "conflict" ? "done" : found;
    };
    const app = await startConsole({ receiver: { dedupe: { ...memory, claim } } });
    await app.deliver("challenge.denied", { uuid: "a" });
    await app.deliver(approve, { uuid: "a" });
    const rows = [{ canResend: true }, { state: "duplicate", canResend: false }];
    expect(await readRows(app)).toMatchObject(rows);
  });

  it("runs each failed event once that is kept and was not handled", async () => {
    const app = await startConsole();
    const handled: string[] = [];
    let isDown = true;
    app.push.onAny(({ uuid }) => {
      if (isDown || uuid.startsWith("bad")) throw new Error(uuid === "a" ? "rare" : "down");
      handled.push(uuid);
    });
    // The service sends one of them again.
    for (const uuid of ["a", "retried", "bad", "large", "bad", "bad 2"]) {
      const details = uuid === "large" ? { challenge_details: "x".repeat(20_000) } : {};
      const entity_identity = uuid === "a" ? "user-of-a" : "user-of-others";
      await app.deliver(approve, { uuid, entity_identity, ...details });
    }
    isDown = false;
    await app.deliver(approve, { uuid: "retried", entity_identity: "user-of-others" });
    await app.deliver(approve, { uuid: "good" });
    handled.length = 0;
    const { failed } = await readShown(app);
    const errors = [
      { error: "down", count: 2 },
      { error: "rare", count: 1 },
    ];
    expect(failed).toMatchObject({ count: 3, users: 2, errors });
    const [first] = await readRows(app);
    expect(failed.firstAtMs).toBe(first?.atMs);
    const early = { ...FAILED, untilMs: (first?.atMs ?? 0) - 1 };
    expect(await act(app, "/resend", early)).toMatchObject({ count: 0, ...result(0) });
    const none = { ...FAILED, filter: { code: "X" } };
    expect(await act(app, "/resend", none)).toMatchObject({ count: 0, ...result(0) });
    const last = { done: 3, count: 3, ...result(1, "HANDLER_FAILED", "HANDLER_FAILED") };
    const counted = { ...FAILED, untilMs: failed.lastAtMs };
    expect(await act(app, "/resend", counted)).toEqual(last);
    expect(handled).toEqual(["a"]);
    expect(app.audits.at(-1)).toEqual({
      action: "request.resend",
      actor: "alice",
      status: 200,
      count: 1,
    });
    expect((await readShown(app)).failed).toMatchObject({ count: 2 });
  });

  it("says why it runs no handlers", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "a" });
    expect(await resend(app, "a")).toMatchObject(result(0, expect.stringMatching("No handler")));
    expect(await resend(app, "unknown-1")).toMatchObject({ count: 0, ...result(0) });
    expect(await act(app, "/resend", {})).toMatchObject({ status: 400 });
  });
});

describe("with a queue", () => {
  async function startDead(uuids: readonly string[], retry: (uuid: string) => Promise<boolean>) {
    const queue = createMemoryQueue([]);
    const given = jest.fn(retry);
    const find = jest.fn(async () => ({ state: "active" }) as never);
    const shown = { ...queue, retry: given, find };
    const app = await startConsole(storeIn(shown, { name: "login" }));
    const handler = jest.fn();
    app.push.onAny(handler);
    for (const uuid of uuids) {
      await app.deliver(approve, { uuid });
      const step = { kind: "step", what: "dead", atMs: Date.now() + 1, uuid, attempt: 8 } as const;
      queue.journal?.append({
        ...step,
        accountSid: ACCOUNT_SID,
        error: "down",
        share: "",
      });
    }
    return { app, retry: given, find, handler };
  }

  it("leaves the handlers of dead letters to a worker", async () => {
    const { app, retry, find, handler } = await startDead(["a", "b"], async (uuid) => uuid === "a");
    const problem = expect.stringMatching("active");
    expect(await act(app, "/resend", FAILED)).toMatchObject({ done: 2, ...result(1, problem) });
    expect(retry.mock.calls).toEqual(
      ["a", "b"].map((uuid) => [uuid, { accountSid: ACCOUNT_SID, receiver: "login", by: "alice" }]),
    );
    expect(find.mock.calls).toEqual([["b", { accountSid: ACCOUNT_SID, receiver: "login" }]]);
    expect(handler).not.toHaveBeenCalled();
    expect(app.audits).toMatchObject([{ action: "request.resend", count: 1 }]);
  });

  it("runs no handlers in this process without a journal", async () => {
    const queue = { ...createMemoryQueue([]), journal: undefined };
    const app = await startConsole(storeIn(queue));
    const handler = jest.fn();
    app.push.onAny(handler);
    await app.deliver(approve, { uuid: "a" });
    expect(await readRows(app)).toMatchObject([{ state: "stored", canResend: false }]);
    expect(await resend(app, "a")).toMatchObject(result(0, expect.any(String)));
    expect(handler).not.toHaveBeenCalled();
  });

  it("audits what was done when the connection closes", async () => {
    let retryNext: (isDone: boolean) => void = () => {};
    const { app, retry } = await startDead(["a", "b", "c"], (uuid) =>
      uuid === "a" ? Promise.resolve(true) : new Promise((resolve) => (retryNext = resolve)),
    );
    const closed = new Promise((resolve) => {
      app.server.on("request", (_req, res: ServerResponse) => res.on("close", resolve));
    });
    const headers = { "Content-Type": "application/json" };
    const sent = request(`${app.url}console/resend`, { method: "POST", headers });
    sent.on("error", () => {}).end(JSON.stringify(FAILED));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(response.headers).toMatchObject({
      "content-type": "application/x-ndjson",
      // nginx passes each line on.
      "x-accel-buffering": "no",
    });
    const [line] = (await once(response, "data")) as [Buffer];
    expect(JSON.parse(String(line))).toEqual({ done: 1, count: 3 });
    sent.destroy();
    await closed;
    retryNext(true);
    await until(() => app.audits.length === 1);
    expect(app.audits).toMatchObject([{ count: 2, code: "STOPPED" }]);
    expect(retry).toHaveBeenCalledTimes(2);
  });

  it("tells in the last line that the store went down", async () => {
    const { app } = await startDead(["a", "b"], async (uuid) => {
      if (uuid === "a") return true;
      throw storeDown;
    });
    const error = { code: "STORE_UNAVAILABLE", status: 503 };
    expect(await act(app, "/resend", FAILED)).toMatchObject({ done: 1, count: 2, error });
    expect(await resend(app, "b")).toMatchObject({ code: "STORE_UNAVAILABLE" });
    const audit = { code: "STORE_UNAVAILABLE", status: 200 };
    expect(app.audits).toMatchObject([
      { ...audit, count: 1 },
      { ...audit, status: 503, count: 0 },
    ]);
  });
});
