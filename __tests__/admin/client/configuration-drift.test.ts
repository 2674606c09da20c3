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

  it("finds that two have the URL", async () => {
    upstream.createWebhook(WEBHOOK);
    upstream.createWebhook(WEBHOOK);
    expect(await check()).toEqual(["DUPLICATE 1"]);
  });
});
