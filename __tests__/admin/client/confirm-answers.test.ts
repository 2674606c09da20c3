/** What becomes of an event for each answer of the service to `confirmWith`. */
import { PUSH_EVENT_TYPES, type Confirm, type PushEventType } from "express-push-verification";
import { confirmWith } from "express-push-verification/admin";
import { redisQueue } from "express-push-verification/durable";
import { closeOpened, receiveInto, sidOf, silent } from "../../support/durable";
import { createReceiver } from "../../support/receivers";
import { describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { stopServers } from "../../support/servers";
import { ANSWERS, startAnsweringService, type Answer } from "../../support/service-answers";
import { clientAt } from "../../support/upstream";
import { collect, countTime, until } from "../../support/waiting";
import { eventRequest, FACTOR_SID, type TestRequest } from "../../support/webhook-requests";

const [TRUTH, EARLIER, OTHER_USER, UNKNOWN] = ANSWERS as [Answer, Answer, Answer, Answer];
const HANDLED = "handled";

/** An event, and the answers of the service about it. */
interface Row {
  type: PushEventType;
  answer: Answer;
  when: "first" | "always";
  identity: string;
  request: TestRequest;
  /** The result, and whether the service is asked once. */
  expected: [result: string, isAskedOnce: boolean];
}

/** Only an answer of the service itself decides, and an earlier state is no decision yet. */
function expectedOf({
  type,
  answer,
  when,
}: Pick<Row, "type" | "answer" | "when">): Row["expected"] {
  const isTrue =
    answer === TRUTH ||
    (answer === UNKNOWN && type === "factor.deleted") ||
    (answer === EARLIER && type === "factor.created");
  if (isTrue) return [HANDLED, true];
  if (answer === OTHER_USER || answer === UNKNOWN) return ["NOT_CONFIRMED", true];
  if (when === "first") return [HANDLED, false];
  return [answer === EARLIER ? "NOT_CONFIRMED" : "CONFIRM_UNAVAILABLE", false];
}

type Service = Awaited<ReturnType<typeof startAnsweringService>>;

function createRows(service: Service): Row[] {
  const kinds = PUSH_EVENT_TYPES.flatMap((type) =>
    ANSWERS.flatMap((answer) =>
      (["first", "always"] as const).map((when) => ({ type, answer, when })),
    ),
  );
  return kinds.map((kind, index) => {
    const { type, answer, when } = kind;
    const identity = `user-${index}-0001`;
    const isChallenge = type.startsWith("challenge.");
    const challenge = isChallenge ? { challenge_sid: sidOf(index) } : {};
    const sid = isChallenge ? sidOf(index) : FACTOR_SID;
    const question = { type, identity, sid, factorSid: FACTOR_SID };
    service.answer(question, ...(when === "first" ? [answer, TRUTH] : [answer]));
    const request = eventRequest(type, { uuid: identity, entity_identity: identity, ...challenge });
    return { type, answer, when, identity, request, expected: expectedOf(kind) };
  });
}

/** Counts the calls of `confirm` for each user. */
function countCalls(confirm: Confirm) {
  const calls = new Map<string, number>();
  const counted: Confirm = (event, context) => {
    calls.set(event.entity_identity, (calls.get(event.entity_identity) ?? 0) + 1);
    return confirm(event, context);
  };
  return { counted, callsFor: (identity: string) => calls.get(identity) ?? 0 };
}

async function start() {
  const service = await startAnsweringService();
  const client = clientAt(service.url, { timeoutMs: 10_000 });
  const { counted, callsFor } = countCalls(confirmWith(client));
  return { service, callsFor, rows: createRows(service), options: { confirm: counted } };
}

const settings = { confirmTypes: PUSH_EVENT_TYPES };
const describeRow = ({ type, answer, when }: Row) => `${type}, ${when} ${answer.name}`;

/** Compares the results with the table, and prints it with PUSH_TEST_TABLE. */
function compare(rows: Row[], results: Map<string, string>, service: Service): void {
  const found = rows.map((row) => {
    const isAskedOnce = service.askedFor(row.identity) === 1;
    return [describeRow(row), results.get(row.identity), isAskedOnce];
  });
  if (process.env.PUSH_TEST_TABLE !== undefined) console.table(found);
  expect(found).toEqual(rows.map((row) => [describeRow(row), ...row.expected]));
}

countTime();
afterEach(async () => {
  await closeOpened();
  await stopServers();
});

it("decides by the fewest answers of the service itself", async () => {
  const { service, callsFor, rows, options } = await start();
  const statuses: Record<number, string> = {
    200: HANDLED,
    403: "NOT_CONFIRMED",
    503: "CONFIRM_UNAVAILABLE",
  };
  const { receive, rejected, events } = createReceiver({ ...options, ...settings });
  const results = new Map<string, string>();
  const deliver = async ({ identity, request }: Row) =>
    void results.set(identity, statuses[await receive(request)] ?? "");
  await Promise.all(rows.map(deliver));
  compare(rows, results, service);
  for (const { identity } of rows)
    expect(service.askedFor(identity)).toBeLessThanOrEqual(callsFor(identity));
  const count = (result: string) => rows.filter(({ expected }) => expected[0] === result).length;
  expect(events).toHaveLength(count(HANDLED));
  for (const code of ["NOT_CONFIRMED", "CONFIRM_UNAVAILABLE"])
    expect(rejected.filter((one) => one === code)).toHaveLength(count(code));
});

describeWithRedis("with a queue", () => {
  afterEach(stopRedis);

  it("makes an event that is not confirmed a dead letter", async () => {
    const { service, callsFor, rows, options } = await start();
    const { url: connection } = await startRedis();
    const queue = redisQueue({
      name: "confirm",
      connection,
      attempts: 3,
      backoff: 20,
      logger: silent,
    });
    const { push, deliver } = await receiveInto(queue, { ...options, ...settings });
    const results = new Map<string, string>();
    push.onAny(({ uuid }) => void results.set(uuid, HANDLED));
    await queue.ready();
    queue.work(push.handlers, { concurrency: rows.length });
    for (const { request } of rows) expect(await deliver(request)).toBe(200);
    const handled = rows.filter(({ expected: [result] }) => result === HANDLED).length;
    await until(async () => {
      const { deadLetters } = await queue.stats();
      return results.size === handled && deadLetters === rows.length - handled;
    });
    for (const { uuid, error, attempts } of await collect(queue.deadLetters())) {
      results.set(uuid, error.replace(/:.*/s, ""));
      // A process that stands still for seconds begins one more.
      expect(attempts).toBeGreaterThanOrEqual(service.askedFor(uuid) === 1 ? 1 : 3);
    }
    compare(rows, results, service);
    for (const { identity } of rows)
      expect(service.askedFor(identity)).toBeLessThanOrEqual(callsFor(identity));
  });
});
