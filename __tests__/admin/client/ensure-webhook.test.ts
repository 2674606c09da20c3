import { createAdminClient, type WebhookInput } from "express-push-verification/admin";
import {
  clientOptions,
  startUpstream,
  stopUpstreams,
  WEBHOOK,
  type Upstream,
} from "../../support/upstream";

let upstream: Upstream;
let client: ReturnType<typeof createAdminClient>;

beforeEach(async () => {
  upstream = await startUpstream();
  client = createAdminClient(clientOptions(upstream.url));
});
afterEach(stopUpstreams);

const input: WebhookInput = {
  friendly_name: "login events",
  event_types: ["challenge.approved", "challenge.denied"],
  webhook_url: "https://hooks.example.test/push/events",
};
const writes = () => upstream.seen.filter(({ method }) => method !== "GET");

describe("webhooks.ensure", () => {
  it("creates what is not there, once", async () => {
    const first = await client.webhooks.ensure(input);
    const second = await client.webhooks.ensure(input);
    expect([first.result, second.result]).toEqual(["created", "unchanged"]);
    expect(second.webhook).toEqual(first.webhook);
    expect(await upstream.listWebhooks()).toHaveLength(1);
    expect(writes()).toHaveLength(1);
  });

  it("finds it on a later page, by its whole URL", async () => {
    for (let index = 0; index < 3; index++) {
      upstream.createWebhook({ ...WEBHOOK, webhook_url: `${input.webhook_url}/${index}` });
    }
    const { sid } = upstream.createWebhook(WEBHOOK);
    expect(await client.webhooks.ensure(input)).toMatchObject({
      result: "unchanged",
      webhook: { sid },
    });
  });

  it("changes only what differs", async () => {
    upstream.createWebhook({ ...WEBHOOK, status: "disabled", version: "v1" });
    const { result, webhook } = await client.webhooks.ensure({ ...input, status: "enabled" });
    expect([result, webhook.status, webhook.version]).toEqual(["updated", "enabled", "v1"]);
    expect(writes().map(({ form }) => form)).toEqual([[["Status", "enabled"]]]);
  });

  it("compares event types as a set", async () => {
    upstream.createWebhook(WEBHOOK);
    const event_types: WebhookInput["event_types"] = ["challenge.denied", "challenge.approved"];
    expect(await client.webhooks.ensure({ ...input, event_types })).toHaveProperty(
      "result",
      "unchanged",
    );
    expect(await client.webhooks.ensure({ ...input, event_types: ["*"] })).toHaveProperty(
      "result",
      "updated",
    );
  });

  it("leaves one, when several deploys run it at the same time", async () => {
    const ensured = await Promise.all(
      Array.from({ length: 6 }, () => client.webhooks.ensure(input)),
    );
    expect(await upstream.listWebhooks()).toHaveLength(1);
    const [left] = await upstream.listWebhooks();
    expect(new Set(ensured.map(({ webhook }) => webhook.sid))).toEqual(new Set([left?.sid]));
    expect(ensured.filter(({ result }) => result === "created")).toHaveLength(1);
  });

  it("finds a method that receivers reject, which it cannot change", async () => {
    expect(await client.webhooks.ensure(input)).toHaveProperty("findings", []);
    const [created] = await upstream.listWebhooks();
    upstream.createWebhook({
      ...WEBHOOK,
      webhook_url: `${input.webhook_url}/2`,
      webhook_method: "GET",
    });
    const ensured = await client.webhooks.ensure({
      ...input,
      webhook_url: `${input.webhook_url}/2`,
    });
    expect(ensured.findings.map(({ code }) => code)).toEqual(["METHOD_DIFFERS"]);
    expect(await client.webhooks.ensure(input)).toMatchObject({
      webhook: { sid: created?.sid },
      findings: [{ code: "URL_EXTENDS", sid: ensured.webhook.sid }],
    });
  });

  it("uses the oldest and deletes no existing Webhook", async () => {
    const { sid } = upstream.createWebhook(WEBHOOK);
    upstream.createWebhook(WEBHOOK);
    expect(await client.webhooks.ensure(input)).toMatchObject({
      result: "unchanged",
      webhook: { sid },
    });
    expect(await upstream.listWebhooks()).toHaveLength(2);
  });
});
