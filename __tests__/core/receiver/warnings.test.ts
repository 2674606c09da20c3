import type { RequestListener } from "node:http";
import connect from "connect";
import {
  createMemoryDedupe,
  pushWebhooks,
  type DedupeStore,
  type PushWebhooksOptions,
} from "express-push-verification";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { createWarnOfPath } from "../../../lib/core/receiver/warnings";
import {
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
} from "../../support/webhook-requests";
import { createReceiver } from "../../support/receivers";
import { APPS, send, startServer, stopServers } from "../../support/servers";
import { useWarnings } from "../../support/warnings";

const path = new URL(PUBLIC_URL).pathname;
const warnings = useWarnings();
afterEach(stopServers);

const confirm = () => true;
const create = (options: Partial<PushWebhooksOptions>) =>
  pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
const createPush = () => createReceiver({ confirm }).push;

describe("createWarnOfPath", () => {
  it.each([
    [path, 0],
    [`${path}?a=b`, 0],
    [`${path}/`, 0],
    ["/second", 0],
    ["*", 0],
    [`${path}2`, 1],
    ["/", 1],
  ])("of %j: %i warnings", (url, count) => {
    const warn = createWarnOfPath([PUBLIC_URL, "https://hooks.example.test/second"]);
    for (let times = 0; times < 2; times++) warn(url, false, false);
    expect(warnings.listMessages()).toHaveLength(count);
  });

  it("says nothing when the path of publicUrl is /", () => {
    createWarnOfPath(["https://hooks.example.test"])("/favicon.ico", false, false);
    expect(warnings.list()).toEqual([]);
  });

  it("names both paths without a query", () => {
    const url = `/a\u202E${"x".repeat(20_000)}`;
    createWarnOfPath([`https://a.example/${"y".repeat(20_000)}?token=hush`])(url, false, false);
    createWarnOfPath([PUBLIC_URL])("/other?code=hush", false, false);
    const [long = "", short] = warnings.listMessages();
    expect(long).toContain("/a\\u202exx");
    expect(long.length).toBeLessThan(1_000);
    expect(short).toMatch(/ \/other, .*\/push\/events/);
    expect(long + short).not.toContain("hush");
  });
});

type App = RequestListener & Record<string, (...args: unknown[]) => unknown>;
const SERVERS = [...APPS, ["connect", connect]] as unknown as [string, () => App][];

type Mount = [name: string, mount: (app: App) => unknown, warns: boolean];
const MOUNTS: Mount[] = [
  ["without a path", (app) => app.use?.(createPush()), true],
  ["at another path, as behind a proxy", (app) => app.use?.("/push", createPush()), false],
];
const ROUTES: Mount[] = [
  ["at one of several routes", (app) => app.all?.(["/a", "/push/other"], createPush()), false],
  ["at a pattern", (app) => app.post?.(/^.push/, createPush()), false],
];
it.each(
  SERVERS.flatMap(([server, createApp]) =>
    (server === "connect" ? MOUNTS : [...MOUNTS, ...ROUTES]).map(
      ([name, mount, warns]) => [server, name, mount, warns, createApp] as const,
    ),
  ),
)("a receiver in %s mounted %s", async (_server, _name, mount, warns, createApp) => {
  const app = createApp();
  mount(app);
  const port = await startServer(app);
  for (let times = 0; times < 2; times++) {
    const { status } = await fetch(`http://127.0.0.1:${port}/push/other`, { method: "POST" });
    expect(status).toBe(403);
  }
  const messages = warnings.listMessages();
  expect(messages).toHaveLength(warns ? 1 : 0);
  if (warns) expect(messages[0]).toContain(`app.use("${path}", push)`);
});

it.each([
  ["Express 5", "/{*any}"],
  ["Express 4", "*"],
])("a receiver in %s at a route for each path warns", async (server, pattern) => {
  const app = SERVERS.find(([name]) => name === server)![1]();
  app.all?.(pattern, createPush());
  await fetch(`http://127.0.0.1:${await startServer(app)}/push/other`);
  expect(warnings.listCodes()).toEqual(["MOUNTED_WITHOUT_PATH"]);
});

it("does not warn after a request was accepted at another path, which a framework has rewritten", async () => {
  const app = SERVERS[0]![1]();
  app.use?.(createPush());
  const port = await startServer(app);
  const good = eventRequest("factor.created");
  expect(await send(port, { ...good, path: "/" })).toHaveProperty("status", 200);
  expect(await send(port, { ...good, path: "/", headers: {} })).toHaveProperty("status", 403);
  expect(warnings.list()).toEqual([]);
});

const queue = { outcomes: createMemoryOutcomes(), store: async () => "new" as const };
const shared: DedupeStore = { claim: () => "new", complete() {}, release() {} };
const { NODE_ENV } = process.env;
afterEach(() => void (process.env.NODE_ENV = NODE_ENV));

const takeCodes = () => warnings.listCodes().filter((code) => code.endsWith("_UNCONFIRMED"));

it.each<[Partial<PushWebhooksOptions>, string[]]>([
  [{}, []],
  [{ methods: ["POST", "GET"], queue }, ["GET_UNCONFIRMED"]],
  [{ methods: ["GET"], confirm }, []],
])("warns at start of GET without confirm: %j", (options, codes) => {
  create(options);
  expect(takeCodes()).toEqual(codes);
});

it.each<[string | undefined, Partial<PushWebhooksOptions>, string[]]>([
  ["production", {}, ["WAIT_UNCONFIRMED"]],
  ["production", { dedupe: false }, ["WAIT_UNCONFIRMED"]],
  ["production", { dedupe: createMemoryDedupe() }, ["WAIT_UNCONFIRMED"]],
  ["production", { dedupe: shared }, []],
  ["production", { queue }, []],
  ["production", { confirm }, []],
  ["test", {}, []],
])("in %s, warns once of a wait whose uuids a restart forgets: %j", async (env, options, codes) => {
  process.env.NODE_ENV = env;
  const push = create(options);
  expect(takeCodes()).toEqual([]);
  for (let times = 0; times < 2; times++) {
    const wait = { challengeSid: CHALLENGE_SID, entityIdentity: "ada", timeoutMs: 1 };
    await expect(push.waitForChallenge(wait)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  }
  expect(takeCodes()).toEqual(codes);
});

it("says nothing of the path of a request that it cannot judge", async () => {
  const app = SERVERS[0]![1]();
  const push = createPush();
  await push.close();
  app.use?.(push);
  expect(await fetch(`http://127.0.0.1:${await startServer(app)}/`)).toHaveProperty("status", 503);
  expect(warnings.list()).toEqual([]);
});

it("warns in production of a short token", () => {
  process.env.NODE_ENV = "production";
  create({ authToken: "short" });
  expect(warnings.listCodes()).toEqual(["AUTH_TOKEN_SHORT"]);
});

it("warns once of a deadline after which the service has given up", () => {
  for (const deadlineMs of [14_000, 15_000]) create({ deadlineMs });
  expect(warnings.listMessages()).toEqual([]);
  for (const deadlineMs of [15_001, 60_000]) create({ deadlineMs });
  expect(warnings.listCodes()).toEqual(["DEADLINE_LATE"]);
  expect(warnings.listMessages()[0]).toContain("15001");
});
