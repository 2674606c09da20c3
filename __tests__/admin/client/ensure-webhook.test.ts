import type { NewWebhook } from "../../../lib/emulator/options";
import type { WebhookInput } from "express-push-verification/admin";
import { useUpstream, WEBHOOK } from "../../support/upstream";

const upstream = useUpstream();
const ensure = (input: Partial<WebhookInput> = {}) =>
  upstream.client.webhooks.ensure({ ...WEBHOOK, ...input });

const of = (...event_types: NonNullable<NewWebhook["event_types"]>) => ({ event_types });
const at = (end: string) => ({ webhook_url: WEBHOOK.webhook_url + end });
const FACTORS = of("factor.created", "factor.verified", "factor.deleted");
const CREATED = of("factor.created");
const DENIED = of("challenge.denied");
const ALL = of(...FACTORS.event_types, ...WEBHOOK.event_types);
const DISABLED = { status: "disabled" } as const;
const LEGACY = { ...DISABLED, version: "v1" } as const;
const toForm = ({ event_types }: { event_types: readonly string[] }) =>
  event_types.map((type) => `EventTypes=${type}`).join("&");

/** The result, the place of the Webhook, and what was changed; then the findings. */
type Outcome = string[];
it.each<[string, Partial<NewWebhook>[], object, ...Outcome]>([
  ["creates a missing one", [], {}, "created 0"],
  ["takes none of another URL", [at("/0")], {}, "created 1", "URL_EXTENDS 0"],
  ["compares sets", [{}], of("challenge.denied", "challenge.approved"), "unchanged 0"],
  ["sets event types", [{}], of("*"), "updated 0 EventTypes=*"],
  ["sets only what differs", [LEGACY], { status: "enabled" }, "updated 0 Status=enabled"],
  ["cannot set a method", [{ webhook_method: "GET" }], {}, "unchanged 0", "METHOD_DIFFERS 0"],
  ["uses the oldest", [{}, {}], {}, "unchanged 0", "DUPLICATE 1"],
  ["uses an enabled one", [DISABLED, of("*"), DENIED], of("*"), "unchanged 1", "DUPLICATE 2"],
  ["uses the second, of the same event types", [FACTORS, {}], {}, "unchanged 1"],
  ["uses the first, of the same event types", [FACTORS, {}], FACTORS, "unchanged 0"],
  ["leaves to another what it sends, for *", [FACTORS, {}], of("*"), "unchanged 0"],
  ["leaves to another what it sends", [CREATED, {}], ALL, `updated 0 ${toForm(FACTORS)}`],
  ["sends less than *", [of("*")], {}, `updated 0 ${toForm(WEBHOOK)}`],
])("%s; a second call changes nothing", async (_what, before, input, ...outcome) => {
  for (const webhook of before) upstream.createWebhook({ ...WEBHOOK, ...webhook });
  const { result, webhook, findings } = await ensure(input);
  const all = await upstream.listWebhooks();
  const place = (sid = "") => all.findIndex((one) => one.sid === sid);
  const changes = upstream.seen.flatMap((line) => /^POST \S+YW\w+ (.*)/.exec(line)?.[1] ?? []);
  expect([
    [result, place(webhook.sid), ...changes].join(" "),
    ...findings.map(({ code, sid }) => `${code} ${place(sid)}`),
  ]).toEqual(outcome);
  expect(await ensure(input)).toMatchObject({ result: "unchanged", webhook });
  expect(await upstream.listWebhooks()).toEqual(all);
});

it("leaves one Webhook, when several deploys run it at the same time", async () => {
  const ensured = await Promise.all(Array.from({ length: 6 }, () => ensure()));
  const [left, ...others] = await upstream.listWebhooks();
  expect(others).toEqual([]);
  expect(new Set(ensured.map(({ webhook }) => webhook.sid))).toEqual(new Set([left?.sid]));
  expect(ensured.filter(({ result }) => result === "created")).toHaveLength(1);
});
