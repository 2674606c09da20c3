import {
  createMemoryDedupe,
  pushWebhooks,
  type DedupeStore,
  type WebhookError,
} from "express-push-verification";
import { createDedupe } from "../../lib/delivery/dedupe";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { closeServers, send, startServer, stopServers } from "../support/servers";

afterEach(stopServers);

const request = (uuid = "a") => ({ accountSid: "AC1", uuid, contentHash: "hash" });
const deadline = () => performance.now() + 500;
/** Creates a promise that a test resolves. */
function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("createDedupe", () => {
  const failures: WebhookError[] = [];
  const onFailure = (error: WebhookError) => void failures.push(error);
  const run = jest.fn(async () => {});
  const storeWith = (methods: Partial<DedupeStore>): DedupeStore => ({
    ...createMemoryDedupe(),
    ...methods,
  });

  beforeEach(() => {
    failures.splice(0);
    run.mockClear();
  });

  it("runs the handlers of each delivery without a store", async () => {
    const { deliverOnce, close } = createDedupe(false, onFailure);
    for (let time = 0; time < 2; time++) {
      await (
        await deliverOnce(request(), run, deadline())
      ).finished;
    }
    expect(run).toHaveBeenCalledTimes(2);
    await close();
  });

  it("calls init once at the start, and claims wait for it", async () => {
    const started = createGate();
    const store = storeWith({ init: jest.fn(() => started.opened) });
    const { deliverOnce } = createDedupe(store, onFailure);
    expect(store.init).toHaveBeenCalledTimes(1);
    const deliveries = ["a", "b"].map((uuid) => deliverOnce(request(uuid), run, deadline()));
    await tick();
    expect(run).not.toHaveBeenCalled();
    started.open();
    for (const delivery of deliveries) await (await delivery).finished;
    expect(run).toHaveBeenCalledTimes(2);
    expect(store.init).toHaveBeenCalledTimes(1);
  });

  it("reports an init that fails, and calls it again for the next claim", async () => {
    const init = jest.fn<Promise<void>, []>().mockResolvedValue();
    init.mockRejectedValueOnce(Object.assign(new Error("no connection"), { password: "hush" }));
    const { deliverOnce } = createDedupe(storeWith({ init }), onFailure);
    await tick();
    expect(failures).toMatchObject([
      { code: "STORE_UNAVAILABLE", cause: { message: "no connection" } },
    ]);
    expect(failures[0]?.cause).not.toHaveProperty("password");
    await (
      await deliverOnce(request(), run, deadline())
    ).finished;
    expect(init).toHaveBeenCalledTimes(2);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<void>]>([
    ["fails", () => Promise.reject(new Error("no connection"))],
    [
      "throws",
      () => {
        throw new Error("no connection");
      },
    ],
    ["never ends", () => new Promise(() => {})],
  ])(
    "rejects a delivery with STORE_UNAVAILABLE at its deadline when init %s",
    async (_how, init) => {
      const { deliverOnce } = createDedupe(storeWith({ init }), onFailure);
      const delivered = deliverOnce(request(), run, performance.now() + 100);
      await expect(delivered).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", status: 503 });
      expect(run).not.toHaveBeenCalled();
    },
  );

  it("initializes and closes a store once for all receivers that share it", async () => {
    const store = storeWith({ init: jest.fn(), close: jest.fn() });
    const [first, second] = [createDedupe(store, onFailure), createDedupe(store, onFailure)];
    expect(store.init).toHaveBeenCalledTimes(1);
    await Promise.all([first.close(), first.close()]);
    expect(store.close).not.toHaveBeenCalled();
    await second.close();
    expect(store.close).toHaveBeenCalledTimes(1);
    createDedupe(store, onFailure);
    expect(store.init).toHaveBeenCalledTimes(2);
  });

  it("reports a close that fails, and resolves", async () => {
    const close = () => Promise.reject(new Error("still busy"));
    await createDedupe(storeWith({ close }), onFailure).close();
    expect(failures).toMatchObject([
      { code: "STORE_UNAVAILABLE", cause: { message: "still busy" } },
    ]);
  });

  it("waits for a running init before it closes the store", async () => {
    const started = createGate();
    const store = storeWith({ init: () => started.opened, close: jest.fn() });
    const closed = createDedupe(store, onFailure).close();
    await tick();
    expect(store.close).not.toHaveBeenCalled();
    started.open();
    await closed;
    expect(store.close).toHaveBeenCalledTimes(1);
  });

  it("waits 5 s at most for close of the store", async () => {
    jest.useFakeTimers();
    const closed = createDedupe(
      storeWith({ close: () => new Promise(() => {}) }),
      onFailure,
    ).close();
    await jest.advanceTimersByTimeAsync(5_000);
    await closed;
    jest.useRealTimers();
    expect(failures).toMatchObject([{ code: "STORE_UNAVAILABLE" }]);
  });
});

describe("pushWebhooks with a store that has init and close", () => {
  it("responds when init is done, and closes the store after the last handler", async () => {
    const log: string[] = [];
    const started = createGate();
    const handling = createGate();
    const dedupe: DedupeStore = {
      ...createMemoryDedupe(),
      init: () => started.opened,
      close: () => void log.push("close"),
    };
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, dedupe });
    push.onAny(async () => {
      log.push("handler");
      await handling.opened;
      log.push("handled");
    });
    const port = await startServer((req, res) => void push(req, res));
    const response = send(port, eventRequest("factor.created"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(log).toEqual([]);
    started.open();
    while (log.length === 0) await tick();
    closeServers();
    const closed = push.close();
    await tick();
    expect(log).toEqual(["handler"]);
    handling.open();
    expect(await response).toHaveProperty("status", 200);
    await closed;
    expect(log).toEqual(["handler", "handled", "close"]);
  });

  it("responds 503 while init fails, and calls onError and onRejected", async () => {
    const dedupe: DedupeStore = {
      ...createMemoryDedupe(),
      init: () => Promise.reject(new Error("no connection")),
    };
    const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, dedupe, deadlineMs: 200 };
    const push = pushWebhooks(options);
    const told: [listener: string, code: string][] = [];
    push.onError((error) => void told.push(["onError", error.code]));
    push.onRejected((error) => void told.push(["onRejected", error.code]));
    await tick();
    expect(told.splice(0)).toEqual([["onError", "STORE_UNAVAILABLE"]]);
    const port = await startServer((req, res) => void push(req, res));
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 503);
    expect(told.toSorted()).toEqual([
      ["onError", "STORE_UNAVAILABLE"],
      ["onRejected", "STORE_UNAVAILABLE"],
    ]);
  });
});
