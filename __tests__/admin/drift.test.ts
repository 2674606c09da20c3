import { pushWebhooks } from "express-push-verification";
import { createAdminClient } from "express-push-verification/admin";
import { AUTH_TOKEN, PUBLIC_URL } from "../support/calls";
import { stopServers } from "../support/servers";
import { clientOptions, startUpstream, WEBHOOK_FORM, type Upstream } from "../support/upstream";

let upstream: Upstream;
let check: (publicUrl?: string) => Promise<string[]>;

beforeEach(async () => {
  upstream = await startUpstream();
  const client = createAdminClient(clientOptions(upstream.url));
  check = async (publicUrl = PUBLIC_URL) => {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl });
    push.on(["challenge.approved", "challenge.denied"], () => {});
    const findings = await client.webhooks.check(push);
    for (const { message, fix } of findings) expect([message, fix]).not.toContain("");
    return findings.map(
      ({ code, sid }) => `${code} ${upstream.webhooks.findIndex((one) => one.sid === sid)}`,
    );
  };
});
afterEach(stopServers);

const set = (name: string, value: string): [string, string][] => [
  ...WEBHOOK_FORM.filter((pair) => pair[0] !== name),
  [name, value],
];

describe("webhooks.check", () => {
  it("finds nothing when all is well", async () => {
    upstream.createWebhook(WEBHOOK_FORM);
    expect(await check()).toEqual([]);
  });

  it("finds that there is none", async () => {
    upstream.createWebhook(set("WebhookUrl", "https://elsewhere.example/push"));
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
    upstream.createWebhook(set("WebhookUrl", url));
    expect(await check()).toEqual(["URL_DIFFERS 0"]);
    expect(await check(url)).toEqual([]);
  });

  it.each([
    [set("Status", "disabled"), ["DISABLED 0"]],
    [set("Version", "v1"), ["VERSION_LEGACY 0"]],
    [set("WebhookMethod", "GET"), ["METHOD_DIFFERS 0"]],
    [set("EventTypes", "challenge.approved"), ["EVENT_NOT_SUBSCRIBED 0"]],
    [
      set("EventTypes", "factor.created"),
      ["EVENT_NOT_HANDLED 0", "EVENT_NOT_SUBSCRIBED 0", "EVENT_NOT_SUBSCRIBED 0"],
    ],
    [set("EventTypes", "*"), ["EVENT_NOT_HANDLED 0", "EVENT_NOT_HANDLED 0", "EVENT_NOT_HANDLED 0"]],
  ])("of %j finds %j", async (form, findings) => {
    upstream.createWebhook(form);
    expect(await check()).toEqual(findings);
  });

  it("finds that two have the URL", async () => {
    upstream.createWebhook(WEBHOOK_FORM);
    upstream.createWebhook(WEBHOOK_FORM);
    expect(await check()).toEqual(["DUPLICATE 1"]);
  });
});
