import type { NewWebhook } from "../../../lib/emulator/options";
import type { WebhookInput } from "express-push-verification/admin";
import { pushWebhooks, type PushEventType } from "express-push-verification";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import { useUpstream, WEBHOOK } from "../../support/upstream";

const CHALLENGES = ["challenge.approved", "challenge.denied"] as const;
const FACTORS = ["factor.created", "factor.verified", "factor.deleted"] as const;
const upstream = useUpstream();

function check(
  options: object = {},
  handled: readonly PushEventType[] = [...FACTORS, ...CHALLENGES],
) {
  const common = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm: () => true };
  const push = pushWebhooks({ ...common, ...options }).on([...handled], () => {});
  return upstream.client.webhooks.check(push);
}

/** The findings of a receiver of challenges, or of others, each with the place of its Webhook. */
async function find(handled: readonly PushEventType[] = CHALLENGES): Promise<string[]> {
  const sids = (await upstream.listWebhooks()).map(({ sid }) => sid);
  return (await check({}, handled)).map(({ code, sid = "", eventType, sharedTypes, ...texts }) => {
    expect(texts.message).not.toBe("");
    expect(texts.fix).not.toBe("");
    const types = [eventType, sharedTypes].flat().filter((one) => one !== undefined);
    return [code, sids.indexOf(sid), ...types].join(" ");
  });
}

function createAll(webhooks: Partial<NewWebhook>[]): void {
  for (const webhook of webhooks) upstream.createWebhook({ ...WEBHOOK, ...webhook });
}

const all = [...FACTORS, ...CHALLENGES];
const disabled = { status: "disabled" } as const;
const of = (...event_types: NonNullable<NewWebhook["event_types"]>) => ({ event_types });
const UNHANDLED = FACTORS.map((type) => `EVENT_NOT_HANDLED 0 ${type}`);
const missing = (type: string) => `EVENT_NOT_SUBSCRIBED 0 ${type}`;
/** The Webhooks of the URL, the types that are handled, the findings, and those that mends leave. */
const rows: [Partial<NewWebhook>[], readonly PushEventType[], string[], string[]?][] = [
  [[disabled], CHALLENGES, ["DISABLED 0"]],
  [[{ version: "v1" }], CHALLENGES, ["VERSION_LEGACY 0"]],
  [[{ webhook_method: "GET" }], CHALLENGES, ["METHOD_DIFFERS 0"]],
  [[of("challenge.approved")], CHALLENGES, [missing("challenge.denied")]],
  [[of("factor.created")], CHALLENGES, [...UNHANDLED.slice(0, 1), ...CHALLENGES.map(missing)]],
  [[of("*")], CHALLENGES, UNHANDLED, UNHANDLED],
  // Several Webhooks of the URL.
  [[of(...FACTORS), {}], all, []],
  [[{}, { ...of(...FACTORS), ...disabled }], all, ["DISABLED 1"]],
  [[disabled, of(...FACTORS)], FACTORS, []],
  [[disabled, {}], CHALLENGES, []],
  // Both enabled, they would send each event twice.
  [[disabled, disabled], CHALLENGES, ["DISABLED 0"]],
  [[disabled, { ...of(...FACTORS), ...disabled }], all, ["DISABLED 0", "DISABLED 1"]],
  [[{}, { ...of(...all), ...disabled }], all, ["DISABLED 1"]],
  [[{}, {}], CHALLENGES, [`DUPLICATE 1 ${CHALLENGES.join(" ")}`]],
  [[of("*"), {}], all, [`DUPLICATE 1 ${CHALLENGES.join(" ")}`]],
  [[{}, of("*")], all, [`DUPLICATE 0 ${CHALLENGES.join(" ")}`]],
  [[of(...FACTORS, "challenge.denied"), {}], all, ["DUPLICATE 1 challenge.denied"]],
  [[{}, of("factor.created")], all, FACTORS.slice(1).map(missing)],
];
it.each(rows)("of %j with handlers of %j finds %j", async (webhooks, handled, found, left = []) => {
  createAll(webhooks);
  expect((await find(handled)).toSorted()).toEqual(found.toSorted());
  // What `mend` says leaves only the findings that have none, and sends no event twice.
  const { webhooks: api } = upstream.client;
  for (let turn = 0; turn < 5; turn++) {
    const { sid = "", mend } = (await check({}, handled)).find((one) => one.mend) ?? {};
    if (mend?.action === "update") await api.update(sid, mend.change);
    if (mend?.action === "replace") await api.create(WEBHOOK);
    if (mend !== undefined && mend.action !== "update") await api.delete(sid);
  }
  expect(await find(handled)).toEqual(left);
});

const ofDisabled = rows.filter(([, , found]) => found.some((one) => one.startsWith("DISABLED")));
it.each(ofDisabled)(
  "the words about %j with handlers of %j name what is missing",
  async (webhooks, handled) => {
    createAll(webhooks);
    const messages = (await check({}, handled)).map(({ message }) => message).join();
    const enabled = (await upstream.listWebhooks()).filter(({ status }) => status === "enabled");
    for (const type of handled) {
      const isSent = enabled.some(({ event_types }) => event_types?.includes(type));
      expect(messages.includes(type)).toBe(!isSent);
    }
  },
);

const DIFFERS = ["URL_DIFFERS 0"];
it.each<[url: string, alone: string[], beside: string[]]>([
  [`${PUBLIC_URL}/`, DIFFERS, DIFFERS],
  [PUBLIC_URL.replace("https", "http"), DIFFERS, DIFFERS],
  [PUBLIC_URL.replace(".test/", ".test:443/"), DIFFERS, DIFFERS],
  ["http://hooks.example.test:80/push/events", DIFFERS, DIFFERS],
  [PUBLIC_URL.replace("push", "Push"), DIFFERS, DIFFERS],
  [`${PUBLIC_URL}#rc=2`, DIFFERS, DIFFERS],
  [`${PUBLIC_URL}?tenant=blue`, DIFFERS, ["URL_EXTENDS 0"]],
  [PUBLIC_URL.replace(".test/", ".test:8443/"), DIFFERS, []],
  ["https://elsewhere.example/push", ["NOT_CONFIGURED -1"], []],
  [`${PUBLIC_URL}/sms`, ["NOT_CONFIGURED -1", "URL_EXTENDS 0"], ["URL_EXTENDS 0"]],
])("of the URL %s finds %j, beside the right one %j", async (webhook_url, alone, beside) => {
  upstream.createWebhook({ ...WEBHOOK, webhook_url });
  expect(await find()).toEqual(alone);
  upstream.createWebhook(WEBHOOK);
  expect(await find()).toEqual(beside);
});

it("finds the method that the receiver rejects", async () => {
  const checkWith = async (...methods: string[]) =>
    (await check({ methods })).map(({ code, mend }) => `${code} ${mend?.action}`);
  upstream.createWebhook({ ...WEBHOOK, ...of("*"), webhook_method: "GET" });
  expect(await checkWith("POST")).toEqual(["METHOD_DIFFERS replace"]);
  expect(await checkWith("GET")).toEqual([]);
  expect(await checkWith("GET", "POST")).toEqual([]);
  upstream.createWebhook({ ...WEBHOOK, ...of("*") });
  expect(await checkWith("GET")).toEqual(["METHOD_DIFFERS undefined", "DUPLICATE delete"]);
});

it("finds other URLs that begin with one of the receiver", async () => {
  const second = PUBLIC_URL.replace("https://", "https://second.");
  const longer = ["/sms", "-sms", "?kind=sms", "account_sidAC"].map((end) => PUBLIC_URL + end);
  longer.push(`${second}/sms`);
  const near = `${second}/`;
  for (const webhook_url of [PUBLIC_URL, second, ...longer, near, PUBLIC_URL.slice(0, -1)]) {
    upstream.createWebhook({ ...WEBHOOK, ...of("*"), webhook_url });
  }
  const findings = await check({ publicUrl: [PUBLIC_URL, second] });
  const codes = longer.map(() => "URL_EXTENDS");
  expect(findings.map(({ code }) => code)).toEqual(["URL_DIFFERS", ...codes]);
});

it("shows no user info of a URL", async () => {
  const publicUrl = "https://svc:hunter2@hooks.example.test/push";
  const findings = await check({ publicUrl });
  const without = publicUrl.replace("svc:hunter2@", "");
  for (const webhook_url of [`${publicUrl}/`, without, `${publicUrl}/sms`])
    upstream.createWebhook({ ...WEBHOOK, webhook_url });
  findings.push(...(await check({ publicUrl })));
  const found = ["NOT_CONFIGURED", "URL_DIFFERS", "URL_DIFFERS", "URL_EXTENDS"];
  expect(findings.map(({ code }) => code)).toEqual(found);
  expect(JSON.stringify(findings)).not.toContain("hunter2");
});

const ensure = (input: Partial<WebhookInput> = {}) =>
  upstream.client.webhooks.ensure({ ...WEBHOOK, ...input });
const at = (end: string) => ({ webhook_url: WEBHOOK.webhook_url + end });
const factors = of(...FACTORS);
const legacy = { ...disabled, version: "v1" } as const;
const toForm = (types: readonly string[]) => types.map((type) => `EventTypes=${type}`).join("&");

const near = at("/");
const { webhook_url } = WEBHOOK;
const enabled = { status: "enabled" } as const;
const unhandled = { ...of("factor.created"), ...disabled };
it.each<[Partial<NewWebhook>[], readonly PushEventType[], [code: string, mend?: unknown][]]>([
  [[near], CHALLENGES, [["URL_DIFFERS", { webhook_url }]]],
  [[near, {}], CHALLENGES, [["URL_DIFFERS"]]],
  [[{ ...near, ...of("*") }, {}], CHALLENGES, [["URL_DIFFERS", { webhook_url }]]],
  [
    [near, legacy],
    CHALLENGES,
    [
      ["DISABLED", enabled],
      ["VERSION_LEGACY", { version: "v2" }],
      ["URL_DIFFERS", { webhook_url }],
    ],
  ],
  [[of(...FACTORS, "challenge.denied"), {}], all, [["DUPLICATE", of("challenge.approved")]]],
  [[of(...all)], FACTORS, [["EVENT_NOT_HANDLED"], ["EVENT_NOT_HANDLED"]]],
  [
    [unhandled],
    CHALLENGES,
    [
      ["DISABLED", enabled],
      ...CHALLENGES.map((type): [string, object] => [
        "EVENT_NOT_SUBSCRIBED",
        of("factor.created", type),
      ]),
    ],
  ],
  [
    [{ ...of("*"), ...disabled }, of(...CHALLENGES, ...FACTORS.slice(1))],
    all,
    [["DISABLED", { ...enabled, ...of("factor.created") }]],
  ],
])("of %j with handlers of %j, the mends are %j", async (webhooks, handled, mends) => {
  createAll(webhooks);
  const found = (await check({}, handled)).map(({ code, mend, fix }) => {
    const { change } = Object(mend) as { change?: Partial<WebhookInput> };
    const types = JSON.stringify(change?.event_types);
    if (code === "DISABLED") expect(/\[.*\]/.exec(fix)?.[0]).toBe(types);
    if (/^(URL|DUP)/.test(code)) expect(fix.startsWith("Delete")).toBe(change === undefined);
    return [code, change];
  });
  expect(found).toEqual(mends.map(([code, mend]) => [code, mend]));
});

/** The result, the place of the Webhook, and what was changed; then the findings. */
it.each<[string, Partial<NewWebhook>[], object, ...outcome: string[]]>([
  ["creates a missing one", [], {}, "created 0"],
  ["takes none of another URL", [at("/0")], {}, "created 1", "URL_EXTENDS 0"],
  ["compares sets", [{}], of("challenge.denied", "challenge.approved"), "unchanged 0"],
  ["sets event types", [{}], of("*"), "updated 0 EventTypes=*"],
  ["sets only what differs", [legacy], { status: "enabled" }, "updated 0 Status=enabled"],
  ["cannot set a method", [{ webhook_method: "GET" }], {}, "unchanged 0", "METHOD_DIFFERS 0"],
  ["takes undefined for the value of the service", [{}], { status: undefined }, "unchanged 0"],
  ["uses the oldest", [{}, {}], {}, "unchanged 0", "DUPLICATE 1"],
  [
    "uses an enabled one",
    [disabled, of("*"), of("challenge.denied")],
    of("*"),
    "unchanged 1",
    "DUPLICATE 2",
  ],
  [
    "uses an enabled one of other types",
    [disabled, of("challenge.denied")],
    {},
    `updated 1 ${toForm(CHALLENGES)}`,
  ],
  [
    "leaves nothing to a disabled one",
    [{ ...factors, ...disabled }, {}],
    of(...all),
    `updated 1 ${toForm(all)}`,
  ],
  ["uses the second, of the same event types", [factors, {}], {}, "unchanged 1"],
  ["uses the first, of the same event types", [factors, {}], factors, "unchanged 0"],
  ["leaves to another what it sends, for *", [factors, {}], of("*"), "unchanged 0"],
  [
    "leaves to another what it sends",
    [of("factor.created"), {}],
    of(...all),
    `updated 0 ${toForm(FACTORS)}`,
  ],
  ["sends less than *", [of("*"), factors], {}, `updated 0 ${toForm(CHALLENGES)}`],
])("ensure %s only once", async (_what, before, input, ...outcome) => {
  createAll(before);
  const { result, webhook, findings } = await ensure(input);
  const stored = await upstream.listWebhooks();
  const place = (sid = "") => stored.findIndex((one) => one.sid === sid);
  const changes = upstream.seen.flatMap((line) => /^POST \S+YW\w+ (.*)/.exec(line)?.[1] ?? []);
  expect([
    [result, place(webhook.sid), ...changes].join(" "),
    ...findings.map(({ code, sid }) => `${code} ${place(sid)}`),
  ]).toEqual(outcome);
  expect(await ensure(input)).toMatchObject({ result: "unchanged", webhook });
  expect(await upstream.listWebhooks()).toEqual(stored);
});

it("ensure gives way to an older Webhook that it has not seen", async () => {
  createAll([{ friendly_name: "older" }]);
  upstream.script.push({ status: 200, body: { webhooks: [], meta: {} } });
  expect(await ensure()).toMatchObject({ result: "updated", findings: [] });
  expect(await upstream.listWebhooks()).toMatchObject([WEBHOOK]);
});

it("ensure leaves one Webhook, when several deploys run it at the same time", async () => {
  const ensured = await Promise.all(Array.from({ length: 6 }, () => ensure()));
  const [left, ...others] = await upstream.listWebhooks();
  expect(others).toEqual([]);
  expect(new Set(ensured.map(({ webhook }) => webhook.sid))).toEqual(new Set([left?.sid]));
  expect(ensured.filter(({ result }) => result === "created")).toHaveLength(1);
});
