import connect from "connect";
import express from "express";
import express4 from "express4";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { createWarnOfPath } from "../../lib/receiver/warnings";
import { PUBLIC_URL } from "../support/webhook-requests";
import { mount, startServer, stopServers, type Middleware } from "../support/servers";

const options: PushWebhooksOptions = {
  authToken: "token",
  publicUrl: PUBLIC_URL,
  methods: ["POST", "GET"],
  confirm: () => true,
};
const path = new URL(PUBLIC_URL).pathname;
let warnings: jest.SpyInstance;

beforeEach(() => {
  warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(async () => {
  warnings.mockRestore();
  await stopServers();
});

const takeWarnings = () => warnings.mock.calls.map(([message]) => String(message));
const createPush = () => {
  const push = pushWebhooks(options);
  push.onRejected(() => {});
  return push;
};

describe("createWarnOfPath", () => {
  it.each([
    [path, 0],
    [`${path}?a=b`, 0],
    [`${path}/`, 0],
    [`${path}/further?a`, 0],
    ["/second", 0],
    ["*", 0],
    ["http://other.example/", 0],
    ["", 0],
    [`${path}2`, 1],
    ["/", 1],
    ["/favicon.ico", 1],
  ])("of %j: %i warnings", (url, count) => {
    const warn = createWarnOfPath([PUBLIC_URL, "https://hooks.example.test/second"]);
    for (let times = 0; times < 2; times++) warn(url, false);
    expect(takeWarnings()).toHaveLength(count);
  });

  it("names both paths, bounded and escaped, without a query", () => {
    const url = `/a\u202E${"x".repeat(20_000)}`;
    createWarnOfPath([`https://a.example/${"y".repeat(20_000)}?token=hush`])(url, false);
    createWarnOfPath([PUBLIC_URL])("/other?code=hush", false);
    const [long = "", short = ""] = takeWarnings();
    expect(long).toContain("/a\\u202exx");
    expect(long.length).toBeLessThan(1_000);
    expect(short).toContain(" /other,");
    expect(short).toContain(path);
    expect(long + short).not.toContain("hush");
  });

  it("never warns of a publicUrl whose path is /", () => {
    createWarnOfPath(["https://hooks.example.test"])("/favicon.ico", false);
    expect(takeWarnings()).toEqual([]);
  });
});

const APPS: [name: string, createApp: () => express.Express | connect.Server][] = [
  ["Express 5", () => express()],
  ["Express 4", () => express4() as never],
  ["connect", () => connect()],
];

describe.each(APPS)("a receiver in %s", (_name, createApp) => {
  async function get(target: string, listener: Parameters<typeof startServer>[0]): Promise<number> {
    return (await fetch(`http://127.0.0.1:${await startServer(listener)}${target}`)).status;
  }

  it("without a path warns once when it rejects a request of another route", async () => {
    const app = createApp();
    (app as { use: (one: unknown) => unknown }).use(createPush());
    for (let times = 0; times < 2; times++) expect(await get("/favicon.ico", app)).toBe(403);
    expect(takeWarnings()).toEqual([expect.stringContaining(`app.use("${path}", push)`)]);
    expect(takeWarnings()[0]).toContain("/favicon.ico");
  });

  it("under a path does not warn, though a proxy rewrites it", async () => {
    const before: Middleware[] = [];
    expect(await get("/push/other", mount(createApp(), createPush(), before))).toBe(403);
    expect(takeWarnings()).toEqual([]);
  });
});

it("a receiver in a route of Express does not warn of requests for its own path", async () => {
  const port = await startServer(express().get(path, createPush()));
  expect(await fetch(`http://127.0.0.1:${port}${path}`)).toHaveProperty("status", 403);
  expect(takeWarnings()).toEqual([]);
});
