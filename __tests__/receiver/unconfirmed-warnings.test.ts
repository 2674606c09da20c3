import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { createMemoryDedupe } from "../../lib/delivery/memory-dedupe";
import { createMemoryOutcomes } from "../../lib/challenge/memory-outcomes";
import { AUTH_TOKEN, CHALLENGE_SID, PUBLIC_URL } from "../support/webhook-requests";

const queue: PushWebhooksOptions["queue"] = {
  outcomes: createMemoryOutcomes(),
  store: () => Promise.resolve("new"),
};
let warnings: jest.SpyInstance;
const { NODE_ENV } = process.env;
let row = 0;

beforeEach(() => {
  warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(() => {
  warnings.mockRestore();
  process.env.NODE_ENV = NODE_ENV;
});

const takeCodes = () =>
  warnings.mock.calls
    .map(([, { code }]: [string, { code: string }]) => code)
    .filter((code) => code.endsWith("_UNCONFIRMED"));
const create = (options: Partial<PushWebhooksOptions>) =>
  pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });

it.each<[Partial<PushWebhooksOptions>, string[]]>([
  [{}, []],
  [{ methods: ["POST"] }, []],
  [{ methods: ["GET"] }, ["GET_UNCONFIRMED"]],
  [{ methods: ["POST", "GET"] }, ["GET_UNCONFIRMED"]],
  [{ methods: ["POST", "GET"], queue }, ["GET_UNCONFIRMED"]],
  [{ methods: ["GET"], confirm: () => true }, []],
])("warns at start of GET without confirm, once for a URL: %j", (options, codes) => {
  const publicUrl = `${PUBLIC_URL}/${row++}`;
  for (let times = 0; times < 2; times++) create({ publicUrl, ...options });
  expect(takeCodes()).toEqual(codes);
});

it.each<[string | undefined, Partial<PushWebhooksOptions>, string[]]>([
  ["production", {}, ["WAIT_UNCONFIRMED"]],
  ["production", { dedupe: false }, ["WAIT_UNCONFIRMED"]],
  ["production", { dedupe: createMemoryDedupe() }, []],
  ["production", { queue }, []],
  ["production", { confirm: () => true }, []],
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
