/**
 * Genuine requests, and texts that the token signed for other products, a given number of each. Then
 * random bytes, random changes of signed requests, random options, random admin input and random
 * responses of the service, for a given time. A crash, hang, leak, false accept or false reject is a
 * failure.
 *
 * npm run fuzz -- [seconds] [texts] [seed]
 */
import fc from "fast-check";
import { pushWebhooks } from "express-push-verification";
import { ApiError, createAdminClient, InputError } from "express-push-verification/admin";
import { decodeForm } from "../../lib/form/form";
import { joinParams } from "../../lib/signature/signature";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
} from "../support/webhook-requests";
import { ATTACKED, countAttacked } from "../support/attacked-cuts";
import { chooseHonestCut, createRandom } from "../support/attacker-texts";
import { countForeign, joinCut } from "../support/cuts";
import { createChooseCut } from "../support/random-cuts";
import { countForgeries, findRejected, SETTINGS } from "../support/forgery-run";
import { createReceiver } from "../support/receivers";
import { rawRequest, send, sendRaw, startServer, stopServers } from "../support/servers";

const [, , seconds = "60", texts = "1000000", firstSeed = Date.now()] = process.argv;
const timeLimitMs = (Number(seconds) * 1_000) / 6;
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => void unhandled.push(reason));
process.on("warning", () => {});

async function check(what: string, property: fc.IRawProperty<unknown>): Promise<void> {
  const details = await fc.check(property as fc.IAsyncProperty<unknown>, {
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: timeLimitMs,
  });
  if (details.failed && details.counterexample !== null) {
    throw new Error(`${what}: ${fc.defaultReportMessage(details)}`);
  }
  console.log(`${what}: ${details.numRuns} runs`);
}

const bytesArb = fc.uint8Array({ maxLength: 2_000 });
/** Replaces, removes or adds some characters of a text. */
const changeArb = fc.array(
  fc.record({ at: fc.nat(5_000), remove: fc.nat(3), add: fc.uint8Array({ maxLength: 4 }) }),
  { minLength: 1, maxLength: 4 },
);
type Change = { at: number; remove: number; add: Uint8Array }[];

function apply(bytes: Buffer, change: Change): Buffer {
  let changed = bytes;
  for (const { at, remove, add } of change) {
    const place = at % (changed.length + 1);
    const rest = changed.subarray(place + remove);
    changed = Buffer.concat([changed.subarray(0, place), add, rest]);
  }
  return changed;
}

/** All cuts of some signed texts, then some of random ones: none may be accepted as another event. */
function checkCuts(): void {
  for (const row of ATTACKED) {
    const { foreign, accepted } = countAttacked(row, 1);
    if (accepted > 0) throw new Error(`another cut was accepted: ${JSON.stringify(row)}`);
    console.log(`all cuts of ${row[0]} ${row[1]}: ${foreign} of another event`);
  }
  const random = createRandom(Date.now());
  const endsAtMs = performance.now() + timeLimitMs;
  const total = { cuts: 0, foreign: 0 };
  while (performance.now() < endsAtMs) {
    const honest = chooseHonestCut(random);
    const chooseCut = createChooseCut(joinCut(honest), random);
    const { foreign, accepted } = countForeign(honest, Array.from({ length: 100 }, chooseCut));
    if (accepted > 0) throw new Error(`another cut was accepted: ${JSON.stringify(honest)}`);
    total.cuts += 100;
    total.foreign += foreign;
  }
  console.log(`cuts of signed texts: ${total.cuts} runs, ${total.foreign} of another event`);
}

/** An attacker's texts and genuine requests, 10 to 1; a tenth of these with hostile texts. */
async function checkForgeries(): Promise<void> {
  const seed = Number(firstSeed);
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
  const requests = Math.ceil(Number(texts) / 10);
  const rejected = await findRejected(requests, seed);
  const unconfirmed = await findRejected(Math.ceil(requests / 10), seed, true);
  console.log(
    `genuine requests: ${requests} runs, ${rejected.length} rejected; hostile ones with confirm: ${Math.ceil(requests / 10)} runs, ${unconfirmed.length} rejected`,
  );
  console.log(
    `texts of other products: ${count.texts} runs, ${count.requests} sent with a matching signature, ${count.events} of them complete events, ${count.accepted.length} accepted (seed ${seed})`,
  );
  const wrong = [...count.accepted, ...rejected, ...unconfirmed];
  if (wrong.length > 0) throw new Error(wrong.slice(0, 5).join("\n"));
}

async function main(): Promise<void> {
  await checkForgeries();
  checkCuts();
  const { push, events } = createReceiver({ methods: ["POST"], deadlineMs: 100, dedupe: false });
  // Otherwise fetch may use a connection that was closed while a random test blocked this thread.
  const port = await startServer(push, { keepAliveTimeout: 0 });
  const good = eventRequest("challenge.approved");
  const signed = joinParams(decodeForm(Buffer.from(good.body ?? "")));
  const isAlive = async () => {
    const { status } = await send(port, good);
    if (status !== 200) throw new Error(`a good request got ${status}`);
  };

  await check(
    "random bytes",
    fc.asyncProperty(bytesArb, async (bytes) => {
      const before = events.length;
      const { status } = await sendRaw(port, [Buffer.from(bytes)], { giveUpMs: 100 });
      if (status >= 500 || events.length !== before) throw new Error(`got ${status}`);
      await isAlive();
    }),
  );
  await check(
    "a signed request with changed bytes",
    fc.asyncProperty(changeArb, fc.boolean(), async (change, inBody) => {
      const request = rawRequest(good);
      const start = request.indexOf("\r\n\r\n") + 4;
      const body = inBody
        ? apply(Buffer.from(good.body ?? ""), change)
        : Buffer.from(good.body ?? "");
      const head = Buffer.from(
        request.slice(0, start).replace(/content-length: \d+/, `content-length: ${body.length}`),
      );
      const sent = inBody
        ? Buffer.concat([head, body])
        : Buffer.concat([apply(head, change), body]);
      const before = events.length;
      const { status, text } = await sendRaw(port, [sent], { giveUpMs: 100 });
      if (status >= 500) throw new Error(`got ${status}`);
      if (text.includes(AUTH_TOKEN)) throw new Error("the response has the token");
      // An accepted request must have the signed parameters, in any encoding.
      const isSame = () => joinParams(decodeForm(body)) === signed;
      if (events.length !== before && inBody && !isSame()) throw new Error("a change was taken");
    }),
  );
  await check(
    "random options",
    fc.property(fc.dictionary(fc.string(), fc.anything()), fc.anything(), (options, value) => {
      for (const given of [
        options,
        { ...options, authToken: value },
        { authToken: AUTH_TOKEN, publicUrl: value },
      ]) {
        try {
          pushWebhooks(given as never);
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          if (error.message.includes(AUTH_TOKEN))
            throw new Error("the token is shown", { cause: error });
        }
      }
    }) as fc.IRawProperty<unknown>,
  );
  const answers = { next: () => new Response() };
  const client = createAdminClient({
    accountUrl: "https://api.example.com",
    verifyUrl: "https://verify.example.com",
    accountSid: ACCOUNT_SID,
    serviceSid: SERVICE_SID,
    password: AUTH_TOKEN,
    maxRetries: 0,
    timeoutMs: 500,
    fetch: () => Promise.resolve(answers.next()),
  });
  const expectKnown = async (call: () => Promise<unknown>) => {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof InputError)) throw error;
      if (`${error.message} ${JSON.stringify(error)}`.includes(AUTH_TOKEN))
        throw new Error("the token is shown", { cause: error });
    }
  };
  await check(
    "random admin input",
    fc.asyncProperty(fc.anything(), fc.anything(), async (one, other) => {
      answers.next = () => new Response("{}", { status: 404 });
      for (const call of [
        () => client.keys.fetch(one as never),
        () => client.keys.update(one as never, other as never),
        () => client.webhooks.create(one as never),
        () => client.webhooks.ensure(one as never),
        () => client.keys.page(one as never),
      ]) {
        await expectKnown(call);
      }
    }),
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
    retryAfter: fc.option(fc.oneof(fc.integer().map(String), fc.stringMatching(/^[ -~]*$/))),
  });
  await check(
    "random responses of the service",
    fc.asyncProperty(answerArb, async ({ status, body, retryAfter }) => {
      answers.next = () =>
        new Response(body, {
          status,
          headers: retryAfter === null ? {} : { "retry-after": retryAfter },
        });
      await expectKnown(() => client.keys.fetch(`SK${"0".repeat(32)}`));
      await expectKnown(async () => {
        for await (const key of client.keys.list()) if (key.sid === "") break;
      });
      await expectKnown(() =>
        client.webhooks.check({ publicUrl: PUBLIC_URL, handledTypes: () => [] }),
      );
    }),
  );
  await isAlive();
  if (unhandled.length > 0)
    throw new Error("There were unhandled rejections.", { cause: unhandled[0] });
  await push.close();
  await stopServers();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
