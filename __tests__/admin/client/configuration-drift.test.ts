import type { NewWebhook } from "../../../lib/emulator/options";
import { pushWebhooks, type PushEventType } from "express-push-verification";
import {
  createAdminClient,
  type AdminClient,
  type WebhookInput,
} from "express-push-verification/admin";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import {
  clientOptions,
  startUpstream,
  stopUpstreams,
  WEBHOOK,
  type Upstream,
} from "../../support/upstream";

const TRUSTED = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm: () => true };
const CHALLENGES = ["challenge.approved", "challenge.denied"] as const;
const FACTORS = ["factor.created", "factor.verified", "factor.deleted"] as const;
let upstream: Upstream;
let client: AdminClient;
let check: (publicUrl?: string, handled?: readonly PushEventType[]) => Promise<string[]>;

beforeEach(async () => {
  upstream = await startUpstream();
  client = createAdminClient(clientOptions(upstream.url));
  check = async (publicUrl = PUBLIC_URL, handled = CHALLENGES) => {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl });
    push.on([...handled], () => {});
    const findings = await client.webhooks.check(push);
    for (const { message, fix } of findings) expect([message, fix]).not.toContain("");
    const sids = (await upstream.listWebhooks()).map(({ sid }) => sid);
    return findings.map(({ code, sid = "", eventType, sharedTypes }) =>
      [code, sids.indexOf(sid), eventType, sharedTypes]
        .flat()
        .filter((one) => one !== undefined)
        .join(" "),
    );
  };
});
afterEach(stopUpstreams);

describe("webhooks.check", () => {
  it("finds nothing when all is well", async () => {
    upstream.createWebhook(WEBHOOK);
    expect(await check()).toEqual([]);
  });

  it("finds that there is none", async () => {
    upstream.createWebhook({ ...WEBHOOK, webhook_url: "https://elsewhere.example/push" });
    expect(await check()).toEqual(["NOT_CONFIGURED -1"]);
  });

  it.each([
    `${PUBLIC_URL}/`,
    PUBLIC_URL.replace("https", "http"),
    PUBLIC_URL.replace(".test/", ".test:443/"),
    PUBLIC_URL.replace("push", "Push"),
    `${PUBLIC_URL}?tenant=blue`,
    `${PUBLIC_URL}#rc=2`,
  ])("finds that %s is not the same URL", async (url) => {
    upstream.createWebhook({ ...WEBHOOK, webhook_url: url });
    expect(await check()).toEqual(["URL_DIFFERS 0"]);
    expect(await check(url)).toEqual([]);
  });

  const all = [...FACTORS, ...CHALLENGES];
  const disabled = { status: "disabled" } as const;
  const of = (...event_types: NonNullable<NewWebhook["event_types"]>[number][]) => ({
    event_types,
  });
  const UNHANDLED = FACTORS.map((type) => `EVENT_NOT_HANDLED 0 ${type}`);
  /** The Webhooks of the URL, the types that are handled, the findings, and those that mends leave. */
  const rows: [Partial<NewWebhook>[], readonly PushEventType[], string[], string[]?][] = [
    [[disabled], CHALLENGES, ["DISABLED 0"]],
    [[{ version: "v1" }], CHALLENGES, ["VERSION_LEGACY 0"]],
    [[{ webhook_method: "GET" }], CHALLENGES, ["METHOD_DIFFERS 0"]],
    [[of("challenge.approved")], CHALLENGES, ["EVENT_NOT_SUBSCRIBED 0 challenge.denied"]],
    [
      [of("factor.created")],
      CHALLENGES,
      [
        "EVENT_NOT_HANDLED 0 factor.created",
        "EVENT_NOT_SUBSCRIBED 0 challenge.approved",
        "EVENT_NOT_SUBSCRIBED 0 challenge.denied",
      ],
    ],
    [[of("*")], CHALLENGES, UNHANDLED, UNHANDLED],
    // Several Webhooks of the URL.
    [[of(...FACTORS), of(...CHALLENGES)], all, []],
    [[of(...CHALLENGES), { event_types: FACTORS, ...disabled }], all, ["DISABLED 1"]],
    [[{ event_types: CHALLENGES, ...disabled }, of(...FACTORS)], FACTORS, []],
    [[of("*"), { ...disabled }], all, []],
    [[{ ...disabled }, of("*")], all, []],
    [[{ ...disabled }, {}], CHALLENGES, []],
    [[disabled, disabled], CHALLENGES, ["DISABLED 0", "DISABLED 1"]],
    [[{}, { event_types: all, ...disabled }], all, ["DISABLED 1"]],
    [[{}, {}], CHALLENGES, [`DUPLICATE 1 ${CHALLENGES.join(" ")}`]],
    [[of("*"), {}], all, [`DUPLICATE 1 ${CHALLENGES.join(" ")}`]],
    [[{}, of("*")], all, [`DUPLICATE 0 ${CHALLENGES.join(" ")}`]],
    [[of(...FACTORS, "challenge.denied"), {}], all, ["DUPLICATE 1 challenge.denied"]],
    [
      [{}, of("factor.created")],
      all,
      ["EVENT_NOT_SUBSCRIBED 0 factor.verified", "EVENT_NOT_SUBSCRIBED 0 factor.deleted"],
    ],
  ];
  it.each(rows)(
    "of %j with handlers of %j finds %j",
    async (webhooks, handled, found, left = []) => {
      for (const webhook of webhooks) upstream.createWebhook({ ...WEBHOOK, ...webhook });
      const expected = expect.arrayContaining(found) as string[];
      expect(await check(PUBLIC_URL, handled)).toEqual(expected);
      expect(await check(PUBLIC_URL, handled)).toHaveLength(found.length);
      // What `mend` says leaves only the findings that have none, and sends no event twice.
      for (let turn = 0; turn < 5; turn++) {
        const push = pushWebhooks({ ...TRUSTED }).on([...handled], () => {});
        const { sid = "", mend } =
          (await client.webhooks.check(push)).find((one) => one.mend !== undefined) ?? {};
        if (mend?.action === "update") await client.webhooks.update(sid, mend.change);
        if (mend?.action === "replace") await client.webhooks.create(WEBHOOK);
        if (mend !== undefined && mend.action !== "update") await client.webhooks.delete(sid);
      }
      expect(await check(PUBLIC_URL, handled)).toEqual(left);
    },
  );

  it("finds the method that the receiver rejects", async () => {
    const checkWith = async (methods: ("GET" | "POST")[]) => {
      const push = pushWebhooks({ ...TRUSTED, methods }).onAny(() => {});
      return (await client.webhooks.check(push)).map(({ code }) => code);
    };
    upstream.createWebhook({ ...WEBHOOK, event_types: ["*"], webhook_method: "GET" });
    expect(await checkWith(["POST"])).toEqual(["METHOD_DIFFERS"]);
    expect(await checkWith(["GET"])).toEqual([]);
    expect(await checkWith(["GET", "POST"])).toEqual([]);
    upstream.createWebhook({ ...WEBHOOK, event_types: ["*"] });
    expect(await checkWith(["GET"])).toEqual(["METHOD_DIFFERS", "DUPLICATE"]);
  });

  it("finds other URLs that begin with that of the receiver", async () => {
    const second = PUBLIC_URL.replace("https://", "https://second.");
    const longer = ["/sms", "-sms", "?kind=sms", "account_sidAC"].map((end) => PUBLIC_URL + end);
    for (const webhook_url of [PUBLIC_URL, second, ...longer, PUBLIC_URL.slice(0, -1)]) {
      upstream.createWebhook({ ...WEBHOOK, event_types: ["*"], webhook_url });
    }
    const push = pushWebhooks({ ...TRUSTED, publicUrl: [PUBLIC_URL, second] }).onAny(() => {});
    const findings = await client.webhooks.check(push);
    expect(findings.map(({ code }) => code)).toEqual(longer.map(() => "URL_EXTENDS"));
    const ensuring = { ...WEBHOOK, event_types: ["*" as const], webhook_url: PUBLIC_URL };
    const { findings: ensured } = await client.webhooks.ensure(ensuring);
    expect(ensured.map(({ code }) => code)).toEqual(longer.map(() => "URL_EXTENDS"));
  });

  it("shows no user info of a URL", async () => {
    const publicUrl = "https://svc:hunter2@hooks.example.test/push";
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl });
    const findings = [await client.webhooks.check(push)];
    upstream.createWebhook({ ...WEBHOOK, webhook_url: `${publicUrl}/` });
    findings.push(await client.webhooks.check(push));
    expect(findings.flat().map(({ code }) => code)).toEqual(["NOT_CONFIGURED", "URL_DIFFERS"]);
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });

  it.each([
    [`${PUBLIC_URL}/`, ["URL_DIFFERS 0"]],
    [PUBLIC_URL.replace("https", "http"), ["URL_DIFFERS 0"]],
    [PUBLIC_URL.replace(".test/", ".test:443/"), ["URL_DIFFERS 0"]],
    [`${PUBLIC_URL}?tenant=blue`, ["URL_EXTENDS 0"]],
    [PUBLIC_URL.replace(".test/", ".test:8443/"), []],
  ])("beside the right URL, of %s finds %j", async (url, findings) => {
    upstream.createWebhook({ ...WEBHOOK, webhook_url: url });
    upstream.createWebhook(WEBHOOK);
    expect(await check()).toEqual(findings);
  });

  it.each<[WebhookInput["event_types"][], WebhookInput["event_types"], string, string[][]]>([
    [[FACTORS, CHALLENGES], CHALLENGES, "unchanged", [[...FACTORS], [...CHALLENGES]]],
    [[FACTORS, CHALLENGES], FACTORS, "unchanged", [[...FACTORS], [...CHALLENGES]]],
    [[FACTORS, CHALLENGES], ["*"], "unchanged", [[...FACTORS], [...CHALLENGES]]],
    [
      [["factor.created"], CHALLENGES],
      [...FACTORS, ...CHALLENGES],
      "updated",
      [[...FACTORS], [...CHALLENGES]],
    ],
    [[["*"]], CHALLENGES, "updated", [[...CHALLENGES]]],
  ])("ensure beside Webhooks of %j, of %j: %s, then %j", async (before, input, result, after) => {
    for (const event_types of before) upstream.createWebhook({ ...WEBHOOK, event_types });
    const ensured = await client.webhooks.ensure({ ...WEBHOOK, event_types: [...input] });
    expect(ensured).toMatchObject({ result, findings: [] });
    expect((await upstream.listWebhooks()).map(({ event_types }) => event_types)).toEqual(after);
  });

  it("ensure uses the enabled one, and finds those that send an event twice", async () => {
    upstream.createWebhook({ ...WEBHOOK, status: "disabled" });
    const second = upstream.createWebhook({ ...WEBHOOK, event_types: ["*"] });
    const third = upstream.createWebhook({ ...WEBHOOK, event_types: ["challenge.denied"] });
    expect(await client.webhooks.ensure({ ...WEBHOOK, event_types: ["*"] })).toMatchObject({
      result: "unchanged",
      webhook: { sid: second.sid },
      findings: [{ code: "DUPLICATE", sid: third.sid, mend: { action: "delete" } }],
    });
  });
});
