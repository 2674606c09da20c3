/** Parts of an app that throw, or return what no type allows: each request still gets its response. */
import type { PushWebhooksOptions } from "express-push-verification";
import { createReceiver, loggerOf } from "../../support/receivers";
import { HOSTILE_VALUES } from "../../support/thrown-values";
import { useWarnings } from "../../support/warnings";
import { eventRequest } from "../../support/webhook-requests";

useWarnings();

const fail = () => {
  throw new Error("hush");
};

const defineThen = (then: PropertyDescriptor) =>
  // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
  Object.defineProperty({}, "then", then);

/** What a function of an app may do, beside what its type says. */
type Behaviour = [what: string, run: () => unknown];
const RETURNS: Behaviour[] = [
  ["returns undefined", () => undefined],
  ["returns null", () => null],
  ["returns 0", () => 0],
  ["returns a text", () => "yes"],
  ["returns a list", () => [undefined]],
  ["returns a then that is no function", () => defineThen({ value: 1 })],
];
const BEHAVIOURS: Behaviour[] = [
  ...RETURNS,
  ["returns a then that throws", () => defineThen({ value: fail })],
  ["returns a getter of then", () => defineThen({ get: fail })],
  ["throws", fail],
  ["rejects with undefined", () => Promise.reject(undefined)],
  ...HOSTILE_VALUES.map(([what, thrown]): Behaviour => [
    `throws ${what}`,
    () => {
      throw thrown;
    },
  ]),
];

type Run = () => unknown;
const storeOf = (methods: object) =>
  ({ claim: () => "new", complete() {}, release() {}, ...methods }) as never;
const queueOf = (run: Run) =>
  ({ store: run, outcomes: { record: run, find: run, wait: run } }) as never;
const create = (options: Partial<PushWebhooksOptions>) =>
  createReceiver({ deadlineMs: 100, methods: ["POST"], ...options });
const good = () => eventRequest("factor.created");

/** The options with a part that behaves so, and the statuses that a genuine event may get. */
const PARTS: Record<string, [optionsOf: (run: Run) => object, statuses: number[]]> = {
  "a logger": [(run) => ({ logger: loggerOf(run) }), [200]],
  "claim of a dedupe store": [(run) => ({ dedupe: storeOf({ claim: run }) }), [500, 503]],
  "store of a queue": [(run) => ({ queue: queueOf(run) }), [200, 500]],
};

describe.each(Object.entries(PARTS))("%s", (_part, [optionsOf, statuses]) => {
  it.each(BEHAVIOURS)("that %s", async (_behaviour, run) => {
    const { receive } = create(optionsOf(run));
    expect(statuses).toContain(await receive(good()));
    expect(await receive({ ...good(), headers: {} })).toBe(403);
  });
});

it.each(BEHAVIOURS)("listeners and a handler that %s", async (_behaviour, run) => {
  const { push, receive } = create({});
  push.on("factor.created", run).onError(run).onRejected(run);
  expect([200, 500]).toContain(await receive(good()));
  expect(await receive({ ...good(), headers: {} })).toBe(403);
});

it.each(RETURNS)("complete of a dedupe store that %s", async (_behaviour, run) => {
  expect(await create({ dedupe: storeOf({ complete: run }) }).receive(good())).toBe(200);
});
