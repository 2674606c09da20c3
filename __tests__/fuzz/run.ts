/**
 * Genuine requests and texts that the token signed for other products, then random requests, options,
 * admin input and responses of the service, for a given time. A crash, hang, leak, false accept or
 * false reject is a failure.
 *
 * npm run fuzz -- [seconds] [texts] [seed]
 */
import fc from "fast-check";
import { pushWebhooks } from "express-push-verification";
import { ApiError, createAdminClient, InputError } from "express-push-verification/admin";
import { decodeForm } from "../../lib/core/event/form";
import { joinParams } from "../../lib/core/signature/signature";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
} from "../support/webhook-requests";
import {
  ATTACKED,
  countAttacked,
  countForgeries,
  countRandom,
  findRejected,
  SETTINGS,
} from "../support/attacks";
import { UNLUCKY_NAMES } from "../support/attacker-texts";
import { createReceiver, silent } from "../support/receivers";
import { WRAPPERS, type Wrapper } from "../support/response-wrappers";
import {
  APPS,
  mount,
  rawRequest,
  send,
  sendRaw,
  startServer,
  stopServers,
} from "../support/servers";
import { collect } from "../support/waiting";

const [, , seconds = "60", texts = "1000000", firstSeed = Date.now()] = process.argv;
const seed = Number(firstSeed);
const timeLimitMs = (Number(seconds) * 1_000) / 7;
const unhandled: unknown[] = [];
for (const event of ["unhandledRejection", "uncaughtException"])
  process.on(event, (reason) => void unhandled.push(reason));
process.on("warning", () => {});

async function check<Value>(
  what: string,
  arb: fc.Arbitrary<Value>,
  run: (value: Value) => unknown,
): Promise<void> {
  const property = fc.asyncProperty(arb, async (value) => void (await run(value)));
  const limits = { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: timeLimitMs };
  const details = await fc.check(property, limits);
  if (details.failed && details.counterexample !== null) {
    throw new Error(`${what}: ${fc.defaultReportMessage(details)}`);
  }
  console.log(`${what}: ${details.numRuns} runs`);
}

/** Replaces, removes or adds some bytes. */
const changeArb = fc.array(fc.tuple(fc.nat(5_000), fc.nat(3), fc.uint8Array({ maxLength: 4 })), {
  minLength: 1,
  maxLength: 4,
});
const apply = (bytes: Buffer, change: (readonly [number, number, Uint8Array])[]) =>
  change.reduce((changed, [at, removed, added]) => {
    const place = at % (changed.length + 1);
    return Buffer.concat([changed.subarray(0, place), added, changed.subarray(place + removed)]);
  }, bytes);

/** All cuts of some signed texts, then some of random ones: none may be accepted as another event. */
function checkCuts(): void {
  const report = (what: string, { foreign, accepted }: ReturnType<typeof countRandom>) => {
    console.log(`${what}: ${foreign} of another event`);
    if (accepted.length > 0) throw new Error(`accepted: ${JSON.stringify(accepted.slice(0, 5))}`);
    if (foreign === 0) throw new Error(`${what}: no cut means another event`);
  };
  for (const row of ATTACKED) report(`all cuts of ${row[0]} ${row[1]}`, countAttacked(row));
  const endsAtMs = performance.now() + timeLimitMs;
  const total = { foreign: 0, accepted: [] };
  let runs = 0;
  for (; performance.now() < endsAtMs; runs++) {
    const { foreign, accepted } = countRandom(
      100,
      seed + runs,
      runs % 2 === 0 ? [] : UNLUCKY_NAMES,
    );
    total.foreign += foreign;
    if (accepted.length > 0) return report("random cuts", { foreign, accepted });
  }
  report(`random cuts of ${100 * runs} signed texts`, total);
}

/** An attacker's texts and genuine requests, 10 to 1; a tenth of these with hostile texts. */
async function checkForgeries(): Promise<void> {
  const count = { texts: 0, requests: 0, events: 0, accepted: [] as string[] };
  for (const [index, [, options]] of SETTINGS.entries()) {
    // The default settings get half of the texts.
    const share = index === 0 ? 0.5 : 0.5 / (SETTINGS.length - 1);
    const tried = Math.ceil(Number(texts) * share);
    const found = await countForgeries(tried, seed + index, options);
    count.texts += tried;
    count.requests += found.requests;
    count.events += found.events;
    count.accepted.push(...found.accepted);
  }
  console.log(
    `texts of other products: ${count.texts} runs, ${count.requests} sent with a matching signature, ${count.events} of them complete events, ${count.accepted.length} accepted (seed ${seed})`,
  );
  if (count.events === 0) throw new Error("no text of another product is a complete event");
  const wrong = count.accepted;
  for (const [kind, of] of [
    ["plain", 10],
    ["unclear", 100],
  ] as const) {
    const requests = Math.ceil(Number(texts) / of);
    const rejected = await findRejected(requests, seed, kind);
    console.log(`genuine requests, ${kind}: ${requests} runs, ${rejected.length} rejected`);
    wrong.push(...rejected);
  }
  if (wrong.length > 0) throw new Error(wrong.slice(0, 5).join("\n"));
}

function expectKnown(error: unknown, kinds: (new (...args: never[]) => Error)[]): void {
  if (!kinds.some((kind) => error instanceof kind)) throw error;
  if (`${(error as Error).message} ${JSON.stringify(error)}`.includes(AUTH_TOKEN))
    throw new Error("the token is shown", { cause: error });
}

/** Requests with changed bytes behind a random middleware that wraps the response, on each Express. */
async function checkWrapped(): Promise<void> {
  const good = eventRequest("challenge.approved");
  const bytes = Buffer.from(rawRequest(good));
  const arb = fc.tuple(fc.nat(WRAPPERS.length - 1), fc.nat(APPS.length - 1), changeArb);
  const limits = { deadlineMs: 2_000, dedupe: false, logger: silent } as const;
  const ports = new Map<string, number>();
  const portOf = async (id: number, app: number) => {
    const key = `${id} ${app}`;
    const [, makeApp] = APPS[app] as (typeof APPS)[number];
    const { push } = createReceiver({ methods: ["POST"], ...limits });
    const [, middleware] = WRAPPERS[id] as Wrapper;
    const listener = () => mount(makeApp(), push, [middleware]);
    const port = ports.get(key) ?? (await startServer(listener()));
    ports.set(key, port);
    return port;
  };
  await check("a wrapped response", arb, async ([id, app, change]) => {
    const [wrapper, , throws = false] = WRAPPERS[id] as Wrapper;
    const port = await portOf(id, app);
    const { status } = await sendRaw(port, [apply(bytes, change)], { giveUpMs: 100 });
    if (status >= 500 && !throws) throw new Error(`${wrapper}: got ${status}`);
    if (unhandled.length > 0) throw new Error(wrapper, { cause: unhandled[0] });
    const alive = await sendRaw(port, [rawRequest(good)]);
    if (alive.status !== 200 && !throws) throw new Error(`${wrapper}: good got ${alive.status}`);
  });
  await stopServers();
}

async function checkReceiver(): Promise<void> {
  const { push, events } = createReceiver({ methods: ["POST"], deadlineMs: 100, dedupe: false });
  // Otherwise fetch may use a connection that was closed while a random test blocked this thread.
  const port = await startServer(push);
  const good = eventRequest("challenge.approved");
  const bytes = Buffer.from(good.body ?? "");
  const signed = decodeForm(bytes).joined;

  await check("random bytes", fc.uint8Array({ maxLength: 2_000 }), async (sent) => {
    const before = events.length;
    const { status } = await sendRaw(port, [Buffer.from(sent)], { giveUpMs: 100 });
    if (status >= 500 || events.length !== before) throw new Error(`got ${status}`);
    const alive = await send(port, good);
    if (alive.status !== 200) throw new Error(`a good request got ${alive.status}`);
  });
  await check(
    "a signed request with changed bytes",
    fc.tuple(changeArb, fc.boolean()),
    async ([change, inBody]) => {
      const body = inBody ? apply(bytes, change) : bytes;
      const [start = ""] = rawRequest(good).split(/(?<=\r\n\r\n)/);
      const head = Buffer.from(
        start.replace(/content-length: \d+/, `content-length: ${body.length}`),
      );
      const sent = Buffer.concat([inBody ? head : apply(head, change), body]);
      const { status, text } = await sendRaw(port, [sent], { giveUpMs: 100 });
      if (status >= 500) throw new Error(`got ${status}`);
      if (text.includes(AUTH_TOKEN)) throw new Error("the response has the token");
      // An accepted request, perhaps an earlier one, must have the signed parameters.
      const isOther = ({ params }: (typeof events)[0]) => joinParams(params) !== signed;
      if (events.splice(0).some(isOther)) throw new Error("a change was taken");
    },
  );
  await push.close();
  await stopServers();
  await check(
    "random options",
    fc.tuple(fc.dictionary(fc.string(), fc.anything()), fc.anything()),
    ([options, value]) => {
      for (const given of [
        options,
        { ...options, authToken: value },
        { authToken: AUTH_TOKEN, publicUrl: value },
      ]) {
        try {
          pushWebhooks(given as never);
        } catch (error) {
          expectKnown(error, [TypeError]);
        }
      }
    },
  );
}

async function checkAdmin(): Promise<void> {
  let response = () => new Response("{}", { status: 404 });
  const client = createAdminClient({
    accountUrl: "https://api.example.com",
    verifyUrl: "https://verify.example.com",
    accountSid: ACCOUNT_SID,
    serviceSid: SERVICE_SID,
    password: AUTH_TOKEN,
    maxRetries: 0,
    timeoutMs: 500,
    fetch: () => Promise.resolve(response()),
  });
  const call = (...calls: (() => Promise<unknown>)[]) =>
    Promise.all(
      calls.map((one) => one().catch((error) => expectKnown(error, [ApiError, InputError]))),
    );
  await check("random admin input", fc.tuple(fc.anything(), fc.anything()), ([one, other]) =>
    call(
      async () => client.keys.fetch(one as never),
      async () => client.keys.update(one as never, other as never),
      async () => client.webhooks.create(one as never),
      async () => client.webhooks.ensure(one as never),
      async () => client.keys.page(one as never),
    ),
  );
  const answerArb = fc.record({
    status: fc
      .integer({ min: 200, max: 599 })
      .filter((status) => ![204, 205, 304].includes(status)),
    body: fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((value) => JSON.stringify({ keys: [], ...value })),
      fc.webUrl().map((url) => JSON.stringify({ keys: [], next_page_uri: url })),
    ),
    retryAfter: fc.oneof(fc.integer().map(String), fc.stringMatching(/^[ -~]*$/)),
  });
  await check("random responses of the service", answerArb, ({ status, body, retryAfter }) => {
    response = () => new Response(body, { status, headers: { "retry-after": retryAfter } });
    return call(
      () => client.keys.fetch(`SK${"0".repeat(32)}`),
      () => collect(client.keys.list()),
      () => client.webhooks.check({ publicUrl: PUBLIC_URL, handledTypes: () => [] }),
    );
  });
}

async function main(): Promise<void> {
  await checkForgeries();
  checkCuts();
  await checkReceiver();
  await checkWrapped();
  await checkAdmin();
  if (unhandled.length > 0)
    throw new Error("There were unhandled rejections.", { cause: unhandled[0] });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
