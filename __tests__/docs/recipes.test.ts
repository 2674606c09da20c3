/** Code of the documents that decides something: what it responds, and what it erases. */
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import express, { type Express, type RequestHandler } from "express";
import { Pool, type PoolClient } from "pg";
import { pushWebhooks, type Diagnostics, type PushWebhooks } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { redisQueue } from "../../lib/durable/redis";
import { eventFixture } from "express-push-verification/testing";
import { findRecipe } from "../support/docs";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../support/postgres";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { send, startServer, stopServers } from "../support/servers";
import { useWarnings } from "../support/warnings";
import { until } from "../support/waiting";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  PUBLIC_URL,
} from "../support/webhook-requests";

const folder = join(__dirname, ".readme-recipes");
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(stopServers);
afterEach(() => jest.restoreAllMocks());
const warnings = useWarnings();

interface Recipe {
  app: Express;
  addLogin(app: Express, push: PushWebhooks): void;
  createStaffLogin(credentials: string): {
    askForPassword: RequestHandler;
    isStaff(req: express.Request): boolean;
  };
  eraseUser(queue: DurableQueue, accountSid: string, entityIdentity: string): Promise<object>;
  handleOnce(
    pool: Pool,
    event: { account_sid: string; uuid: string },
    change: (client: PoolClient) => Promise<unknown>,
  ): Promise<void>;
  onDeadLetter(act: (message: Diagnostics["dead-lettered"]) => void): void;
}

function load(name: string): Recipe {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, findRecipe(name));
  return require(file) as Recipe;
}

describe("docs/mistakes.md", () => {
  beforeEach(() => {
    jest.spyOn(console, "error").mockImplementation(() => {});
    Object.assign(process.env, {
      PUSH_AUTH_TOKEN: AUTH_TOKEN,
      PUSH_KEY_SECRET: "b".repeat(32),
      PUSH_PUBLIC_URL: PUBLIC_URL,
    });
  });

  const event = eventRequest("challenge.approved");
  const shop = { method: "GET", path: "/shop", headers: {}, body: undefined };
  const webhook = { ...event, path: "/webhooks/push" };
  it.each([
    ["wrong_parser", webhook, 400, []],
    ["right_parser", webhook, 200, []],
    ["wrong_url", event, 403, ["SIGNATURE_MISMATCH"]],
    ["right_url", event, 200, []],
    ["wrong_token", webhook, 403, ["SIGNATURE_MISMATCH"]],
    ["right_token", webhook, 200, []],
    ["wrong_mount", shop, 405, ["MOUNTED_WITHOUT_PATH", "METHOD_NOT_ALLOWED"]],
    ["right_mount", shop, 200, []],
  ])("%s", async (name, request, status, codes) => {
    const { app } = load(name);
    expect((await send(await startServer(app), request)).status).toBe(status);
    expect(
      warnings
        .listCodes()
        .filter((code) => code !== "EVENT_UNHANDLED")
        .toSorted(),
    ).toEqual(codes.toSorted());
  });

  it.each([
    ["wrong_login", 200],
    ["right_login", 404],
  ])("%s responds %i to an attacker with an approval of his own", async (name, status) => {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
    const ids = { entity_identity: "mallory-1", challenge_sid: CHALLENGE_SID };
    await push.dispatch(eventFixture("challenge.approved", ids));
    const app = express();
    load(name).addLogin(app, push);
    const body = JSON.stringify({ entityIdentity: "mallory-1", challengeSid: CHALLENGE_SID });
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", path: "/login/the-one-of-ada", headers, body };
    expect((await send(await startServer(app), request)).status).toBe(status);
  });
});

it("a handler finds a header in AsyncLocalStorage, as docs/troubleshooting.md says", async () => {
  const storage = new AsyncLocalStorage<IncomingHttpHeaders>();
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  const seen: unknown[] = [];
  push.onAny(() => void seen.push(storage.getStore()?.["x-region"]));
  const app = express();
  app.use("/push", (req, res, next) => storage.run(req.headers, () => push(req, res, next)));
  const { headers, ...event } = eventRequest("factor.created");
  const request = { ...event, headers: { ...headers, "x-region": "eu" } };
  expect((await send(await startServer(app), request)).status).toBe(200);
  expect(seen).toEqual(["eu"]);
});

it("the login in front of the console accepts its user and password alone", async () => {
  const { createStaffLogin } = load("staff");
  const { askForPassword, isStaff } = createStaffLogin("ada:correct horse");
  const app = express().use(askForPassword, (req, res) => void res.json(isStaff(req)));
  const port = await startServer(app);
  const ask = async (credentials?: string) => {
    const authorization = `Basic ${Buffer.from(credentials ?? "").toString("base64")}`;
    const headers = credentials === undefined ? {} : { authorization };
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
    return [response.status, response.headers.get("www-authenticate")];
  };
  expect(await ask("ada:correct horse")).toEqual([200, null]);
  for (const wrong of [undefined, "", "ada:", "ada:wrong", "eve:correct horse"])
    expect(await ask(wrong)).toEqual([401, 'Basic realm="staff"']);
});

describeWithPostgres("a handler with the transaction of docs/idempotency.md", () => {
  let server: PostgresProcess;
  let pool: Pool;
  beforeEach(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    const [, table = ""] = /^\/\/ (create table .*);$/m.exec(findRecipe("one_effect")) ?? [];
    await pool.query(`${table}; create table login (approvals int); insert into login values (0)`);
  });
  afterEach(async () => {
    await pool.end();
    await server.remove();
  });

  it("has the effect of one successful run only", async () => {
    const { handleOnce } = load("one_effect");
    const event = eventFixture("challenge.approved");
    const approve = (client: PoolClient) =>
      client.query("update login set approvals = approvals + 1");
    const fail = async (client: PoolClient) => {
      await approve(client);
      throw new Error("no mail server");
    };
    const count = async () => (await pool.query("select approvals from login")).rows;
    await expect(handleOnce(pool, event, fail)).rejects.toThrow("no mail server");
    expect(await count()).toEqual([{ approvals: 0 }]);
    await Promise.all([1, 2].map(() => handleOnce(pool, event, approve)));
    await handleOnce(pool, event, fail);
    expect(await count()).toEqual([{ approvals: 1 }]);
  });
});

describeWithRedis("a queue", () => {
  let queue: DurableQueue;
  beforeEach(async () => {
    const { url: connection } = await startRedis();
    queue = redisQueue({ name: "docs", connection, attempts: 2, backoff: 200 });
    await queue.ready();
  });
  afterEach(async () => {
    await queue.close();
    await stopRedis();
  });

  async function store(...requests: ReturnType<typeof eventRequest>[]): Promise<PushWebhooks> {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
    const port = await startServer(express().use("/push/events", push));
    for (const request of requests) expect((await send(port, request)).status).toBe(200);
    return push;
  }

  it("and one worker with concurrency 1 keep the order of events that do not fail", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const push = await store(...names.map((uuid) => eventRequest("factor.created", { uuid })));
    const handled: string[] = [];
    const done = new Promise<void>((resolve) => {
      push.onAny(({ uuid }, { attempt }) => {
        if (uuid === "b" && attempt === 1) throw new Error("try again");
        if (handled.push(uuid) === names.length) resolve();
      });
    });
    const worker = queue.work(push.handlers, { concurrency: 1 });
    await done;
    await worker.close();
    expect(handled.toSorted()).toEqual(names);
    expect(handled.filter((name) => name !== "b")).toEqual(["a", "c", "d", "e"]);
    expect(handled.indexOf("b")).toBeGreaterThan(1);
  });

  it("has no dead letter of a user that was erased", async () => {
    const users = ["user-1", "user-2"];
    const push = await store(
      ...users.map((entity_identity, index) =>
        eventRequest("factor.created", { entity_identity, uuid: String(index) }),
      ),
    );
    push.onAny(() => Promise.reject(new Error("no database")));
    push.onError(() => {});
    const failed: object[] = [];
    load("last_failure").onDeadLetter((message) => void failed.push(message));
    const worker = queue.work(push.handlers);
    await until(async () => (await queue.stats()).deadLetters === 2);
    await worker.close();
    expect(failed).toEqual(users.map(() => ({ type: "factor.created", attempts: 2 })));
    const { eraseUser } = load("erase");
    const erased = await eraseUser(queue, ACCOUNT_SID, "user-1");
    expect(erased).toMatchObject({ deadLetters: 1 });
    const left: unknown[] = [];
    for await (const { event } of queue.deadLetters()) left.push(event);
    expect(left).toMatchObject([{ entity_identity: "user-2" }]);
  });
});
