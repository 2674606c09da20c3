import { pushWebhooks } from "express-push-verification";
import { createAdminClient } from "express-push-verification/admin";
import type { NewWebhook } from "express-push-verification/emulator";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import {
  clientOptions,
  startUpstream,
  stopUpstreams,
  WEBHOOK,
  type Upstream,
} from "../../support/upstream";

const TRUSTED = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, confirm: () => true };
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
    const sids = (await upstream.listWebhooks()).map(({ sid }) => sid);
    return findings.map(({ code, sid = "" }) => `${code} ${sids.indexOf(sid)}`);
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

  it.each<[Partial<NewWebhook>, string[]]>([
    [{ status: "disabled" }, ["DISABLED 0"]],
    [{ version: "v1" }, ["VERSION_LEGACY 0"]],
    [{ webhook_method: "GET" }, ["METHOD_DIFFERS 0"]],
    [{ event_types: ["challenge.approved"] }, ["EVENT_NOT_SUBSCRIBED 0"]],
    [
      { event_types: ["factor.created"] },
      ["EVENT_NOT_HANDLED 0", "EVENT_NOT_SUBSCRIBED 0", "EVENT_NOT_SUBSCRIBED 0"],
    ],
    [{ event_types: ["*"] }, ["EVENT_NOT_HANDLED 0", "EVENT_NOT_HANDLED 0", "EVENT_NOT_HANDLED 0"]],
  ])("of %j finds %j", async (difference, findings) => {
    upstream.createWebhook({ ...WEBHOOK, ...difference });
    expect(await check()).toEqual(findings);
  });

  it("finds the method that the receiver rejects", async () => {
    const client = createAdminClient(clientOptions(upstream.url));
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
    const client = createAdminClient(clientOptions(upstream.url));
    const push = pushWebhooks({ ...TRUSTED, publicUrl: [PUBLIC_URL, second] }).onAny(() => {});
    const findings = await client.webhooks.check(push);
    expect(findings.map(({ code }) => code)).toEqual(longer.map(() => "URL_EXTENDS"));
    const { findings: ensured } = await client.webhooks.ensure({
      friendly_name: "login events",
      event_types: ["*"],
      webhook_url: PUBLIC_URL,
    });
    expect(ensured.map(({ code }) => code)).toEqual(longer.map(() => "URL_EXTENDS"));
  });

  it("shows no user info of a URL", async () => {
    const client = createAdminClient(clientOptions(upstream.url));
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

  it("finds that two have the URL", async () => {
    upstream.createWebhook(WEBHOOK);
    upstream.createWebhook(WEBHOOK);
    expect(await check()).toEqual(["DUPLICATE 1"]);
  });
});
