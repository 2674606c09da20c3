/** What becomes of an event for each answer of the service to `confirmWith`. */
import { PUSH_EVENT_TYPES, type Confirm, type PushEventType } from "express-push-verification";
import { confirmWith } from "express-push-verification/admin";
import { sidOf } from "../../support/durable";
import { createReceiver } from "../../support/receivers";
import { stopServers } from "../../support/servers";
import { ANSWERS, startAnsweringService, type Answer } from "../../support/service-answers";
import { clientAt } from "../../support/upstream";
import { countTime } from "../../support/waiting";
import { eventRequest, FACTOR_SID, type TestRequest } from "../../support/webhook-requests";

const [TRUTH, EARLIER, OTHER_USER, UNKNOWN] = ANSWERS as [Answer, Answer, Answer, Answer];
const HANDLED = "handled";

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

function countCalls(confirm: Confirm) {
  const calls = new Map<string, number>();
  const counted: Confirm = (event, context) => {
    calls.set(event.entity_identity, (calls.get(event.entity_identity) ?? 0) + 1);
    return confirm(event, context);
  };
  return { counted, callsFor: (identity: string) => calls.get(identity) ?? 0 };
}

countTime();
afterEach(stopServers);

it("decides by the fewest answers of the service itself", async () => {
  const service = await startAnsweringService();
  const { counted, callsFor } = countCalls(
    confirmWith(clientAt(service.url, { timeoutMs: 10_000 })),
  );
  const rows = createRows(service);
  const options = { confirm: counted, confirmTypes: PUSH_EVENT_TYPES };
  const { receive, rejected, events } = createReceiver(options);
  const statuses: Record<number, string> = {
    200: HANDLED,
    403: "NOT_CONFIRMED",
    503: "CONFIRM_UNAVAILABLE",
  };
  const nameOf = ({ type, answer, when }: Row) => `${type}, ${when} ${answer.name}`;
  const deliver = async (row: Row) => {
    const result = statuses[await receive(row.request)] ?? "";
    return [nameOf(row), result, service.askedFor(row.identity) === 1];
  };
  const found = await Promise.all(rows.map(deliver));
  expect(found).toEqual(rows.map((row) => [nameOf(row), ...row.expected]));
  for (const { identity } of rows)
    expect(service.askedFor(identity)).toBeLessThanOrEqual(callsFor(identity));
  const count = (result: string) => rows.filter(({ expected: [one] }) => one === result).length;
  expect(events).toHaveLength(count(HANDLED));
  for (const code of ["NOT_CONFIRMED", "CONFIRM_UNAVAILABLE"])
    expect(rejected.filter((one) => one === code)).toHaveLength(count(code));
});
