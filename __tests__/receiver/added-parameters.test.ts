/**
 * Results when the service adds a parameter: for each name of the resources of Twilio Verify Push,
 * in the snake_case of its webhooks, alone and with the prefix of its resource.
 */
import { randomUUID } from "node:crypto";
import {
  verifyPushRequest,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { AUTH_TOKEN, PUBLIC_URL } from "../support/webhook-requests";

const SID = (prefix: string) => prefix + "5f".repeat(16);
const DATE = "2026-03-05T07:00:00Z";
const URL = `https://verify.example.test/v2/Services/${SID("VA")}/Entities/ada/Challenges/${SID("YC")}`;
/** A value of each property of the resources Challenge, Factor, Entity and Notification. */
const PROPERTIES: Record<string, string> = {
  config: '{"app_id":"com.example.app","notification_platform":"fcm","sdk_version":"3"}',
  date_created: DATE,
  date_responded: DATE,
  date_updated: DATE,
  details: '{"message":"Sign in?","fields":[{"label":"type","value":"a"}],"date":"2026-03-05"}',
  entity_sid: SID("YE"),
  expiration_date: DATE,
  friendly_name: "Ada's phone",
  hidden_details: '{"ip":"192.0.2.1"}',
  identity: "ada-7f3a22",
  links: `{"notifications":"${URL}/Notifications"}`,
  metadata: '{"os":"Android"}',
  priority: "high",
  responded_reason: "none",
  sid: SID("YC"),
  status: "approved",
  ttl: "300",
  url: URL,
};
const PREFIXES: Record<string, readonly string[]> = {
  challenge: [
    "date_created",
    "date_responded",
    "date_updated",
    "expiration_date",
    "links",
    "responded_reason",
    "status",
    "url",
  ],
  entity: ["date_created", "date_updated", "links", "url"],
  factor: ["config", "date_created", "date_updated", "status", "url"],
  notification: ["date_created", "priority", "sid", "ttl"],
};
const ADDED: readonly (readonly [name: string, value: string])[] = [
  ...Object.entries(PROPERTIES),
  ...Object.entries(PREFIXES).flatMap(([prefix, names]) =>
    names.map((name) => [`${prefix}_${name}`, PROPERTIES[name] ?? ""] as const),
  ),
  ["event_id", SID("EV")],
  ["timestamp", DATE],
  ["version", "v2"],
  ["webhook_sid", SID("YW")],
];
const REQUESTS = (
  [
    "factor.created",
    "factor.verified",
    "factor.deleted",
    "challenge.approved",
    "challenge.denied",
  ] as const
).flatMap((type) => (["v1", "v2"] as const).map((version) => ({ type, version })));
const OPTIONS: VerifyOptions = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

/** Lists the requests that are rejected if they have a parameter. */
async function listRejected(
  [name, value]: readonly [string, string],
  options: VerifyOptions,
  method: "GET" | "POST" = "POST",
): Promise<string[]> {
  const rejected: string[] = [];
  for (const { type, version } of REQUESTS) {
    const signing = { version, method, extraParams: { [name]: value } };
    const request = signedRequest(OPTIONS, type, {}, signing);
    const error = await verifyPushRequest(request, { ...options, methods: [method] }).then(
      () => undefined,
      (thrown: WebhookError) => thrown,
    );
    if (error === undefined) continue;
    const parameter = name.length <= 40 && !name.includes("@") ? name : undefined;
    expect([error.code, error.parameter]).toEqual(["PAYLOAD_AMBIGUOUS", parameter]);
    const shown = parameter === undefined ? "a parameter" : `the parameter ${parameter}`;
    expect(error.message).toContain(`: ${shown} is not declared`);
    rejected.push(`${type} ${version}`);
  }
  return rejected;
}

const isRejected = new Map<string, boolean>();
beforeAll(async () => {
  for (const added of ADDED) {
    const rejected = await listRejected(added, OPTIONS);
    // The result depends on the name alone.
    expect([0, REQUESTS.length]).toContain(rejected.length);
    isRejected.set(added[0], rejected.length > 0);
  }
});

it("is rejected only for these names, for every type and version", () => {
  const rejected = [...isRejected].filter(([, is]) => is).map(([name]) => name);
  expect(rejected.toSorted()).toEqual([
    "entity_links",
    "entity_sid",
    "entity_url",
    "event_id",
    "expiration_date",
    "factor_config",
    "factor_date_created",
    "factor_date_updated",
    "version",
    "webhook_sid",
  ]);
});

it("is accepted once it is declared, or with confirm", async () => {
  const extraParameters = ADDED.map(([name]) => name);
  for (const added of ADDED) {
    expect(await listRejected(added, { ...OPTIONS, extraParameters: [added[0]] })).toEqual([]);
    expect(await listRejected(added, { ...OPTIONS, extraParameters })).toEqual([]);
    expect(await listRejected(added, { ...OPTIONS, confirm: () => true })).toEqual([]);
  }
});

it("is accepted once it is declared if its name contains type or uuid", async () => {
  const before = ["device_uuid", "entity_type"];
  const after = ["uuid_version", "uuids", "version_type"];
  for (const extraParameters of [
    [...before, "type_id", "types", "user_type", "user_uuid", ...after],
    [...before, ...after, "version_uuid"],
  ]) {
    for (const name of extraParameters) {
      for (const value of ["phone", "7", "challenge.approved", randomUUID()]) {
        expect(await listRejected([name, value], { ...OPTIONS, extraParameters })).toEqual([]);
      }
    }
  }
});

it.each(["z@z", "z".repeat(41)])("is not shown if it may be a text: %s", async (name) => {
  expect(await listRejected([name, "x"], OPTIONS)).toHaveLength(REQUESTS.length);
});

it("is rejected in a GET until it is declared, or with confirm", async () => {
  for (const added of ADDED) {
    expect(await listRejected(added, OPTIONS, "GET")).toHaveLength(REQUESTS.length);
    expect(await listRejected(added, { ...OPTIONS, confirm: () => true }, "GET")).toEqual([]);
    const declared = { ...OPTIONS, extraParameters: [added[0]] };
    expect(await listRejected(added, declared, "GET")).toEqual([]);
  }
});
