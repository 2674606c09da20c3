import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { pushWebhooks } from "express-push-verification";
import type { LiveUpdate } from "../../../lib/admin/console/console-view";
import { createLive, type LiveSettings } from "../../../lib/admin/console/live";
import { createRequestLog } from "../../../lib/admin/console/request-log";
import { inspectReceiver, type ReceiverInspection } from "../../../lib/receiver/inspection";
import { send, startServer, stopServers } from "../../support/servers";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
} from "../../support/webhook-requests";

afterEach(stopServers);

/** A receiver, and a server whose every response is a stream of it. */
async function startLive(settings: Partial<LiveSettings> = {}) {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  const log = createRequestLog(inspectReceiver(push) as ReceiverInspection, false);
  const live = createLive(log, { collectMs: 20, tickMs: 20, ...settings });
  const receiverPort = await startServer((req, res) => void push(req, res));
  const port = await startServer((req, res) => {
    if (!live.open(req, res, req.url?.slice(1))) res.writeHead(503).end();
  });
  const deliver = (uuid: string, publicUrl = PUBLIC_URL) =>
    send(receiverPort, eventRequest("challenge.approved", { uuid }, { publicUrl }));
  return { push, log, deliver, open: (after = "") => openStream(port, after) };
}

async function openStream(port: number, after: string) {
  const sent = get({ port, host: "127.0.0.1", path: `/${after}`, agent: false });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const messages = readMessages(response);
  const next = async () => (await messages.next()).value as string | undefined;
  return {
    response,
    next,
    nextUpdate: async () => JSON.parse((await next())?.replace(/^data: /, "") ?? "") as LiveUpdate,
  };
}

async function* readMessages(response: IncomingMessage): AsyncGenerator<string> {
  let received = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const parts = (received + chunk).split("\n\n");
    received = parts.pop() ?? "";
    yield* parts;
  }
}

const uuids = ({ rows }: LiveUpdate) => rows.map(({ uuid }) => uuid);

describe("createLive", () => {
  it("sends all rows first, as events that no middleware may hold back", async () => {
    const { deliver, open } = await startLive();
    await deliver("a");
    await deliver("b");
    const { response, nextUpdate } = await open();
    expect(response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    const update = await nextUpdate();
    expect([update.isComplete, uuids(update)]).toEqual([true, ["a", "b"]]);
    expect(update.totals.received).toBe(2);
  });

  it("then collects the rows that changed into one update", async () => {
    const { deliver, open } = await startLive({ collectMs: 500, tickMs: 10_000 });
    await deliver("a");
    const { nextUpdate } = await open();
    expect(uuids(await nextUpdate())).toEqual(["a"]);
    await deliver("b");
    await deliver("c");
    const update = await nextUpdate();
    expect([update.isComplete, uuids(update)]).toEqual([false, ["b", "c"]]);
  });

  it("sends every stream what it has not had", async () => {
    const { deliver, open } = await startLive();
    const first = await open();
    await first.next();
    await deliver("a");
    expect(uuids(await first.nextUpdate())).toEqual(["a"]);
    const second = await open();
    expect(uuids(await second.nextUpdate())).toEqual(["a"]);
    await deliver("b");
    expect(uuids(await first.nextUpdate())).toEqual(["b"]);
    expect(uuids(await second.nextUpdate())).toEqual(["b"]);
  });

  it("sends a changed number of pending waits, to each stream", async () => {
    const { push, open } = await startLive();
    const streams = [await open(), await open()];
    for (const { next } of streams) {
      await next();
    }
    const waiting = push.waitForChallenge({ challengeSid: CHALLENGE_SID, entityIdentity: "u" });
    for (const { nextUpdate } of streams) {
      expect((await nextUpdate()).totals.waits.count).toBe(1);
    }
    await Promise.all([expect(waiting).rejects.toHaveProperty("code", "CLOSING"), push.close()]);
    for (const { nextUpdate } of streams) {
      expect((await nextUpdate()).totals.waits.count).toBe(0);
    }
  });

  it("continues after the cursor of an earlier stream, and starts anew after an unknown one", async () => {
    const { deliver, open } = await startLive();
    await deliver("a");
    const { cursor } = await (await open()).nextUpdate();
    await deliver("b");
    const next = await (await open(cursor)).nextUpdate();
    expect([next.isComplete, uuids(next)]).toEqual([false, ["b"]]);
    for (const unknown of ["", "1-1", `${cursor}9`, "x"]) {
      const anew = await (await open(unknown)).nextUpdate();
      expect([anew.isComplete, uuids(anew)]).toEqual([true, ["a", "b"]]);
    }
  });

  it("ends a stream at its greatest age", async () => {
    const { open } = await startLive({ maxAgeMs: 100 });
    const { next } = await open();
    await next();
    expect(await next()).toBeUndefined();
  });

  it("opens no more streams than allowed, and another when one has closed", async () => {
    const { open } = await startLive({ maxStreams: 1 });
    const { response } = await open();
    expect((await open()).response.statusCode).toBe(503);
    response.destroy();
    // The server sees a closed connection a moment later.
    let status: number | undefined;
    while (status !== 200) ({ statusCode: status } = (await open()).response);
  });

  it("looks for the causes of a few wrong signatures while a page is open, and of none before", async () => {
    const { log, deliver, open } = await startLive({ maxExplanations: 1 });
    await deliver("a", `${PUBLIC_URL}/`);
    expect(log.findUnexplained()).toMatchObject({ id: 1 });
    const { nextUpdate } = await open();
    expect((await nextUpdate()).rows).toMatchObject([{ explanation: { isProven: true } }]);
    await deliver("b", `${PUBLIC_URL}/`);
    expect((await nextUpdate()).rows).toMatchObject([{ id: 2, canExplain: true }]);
  });
});
