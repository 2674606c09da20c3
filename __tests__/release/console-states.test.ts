/** Every state of every page: accessible, without a fault, and with a screenshot to look at. */
import type { Page } from "playwright-core";
import type { EventStatus } from "express-push-verification/durable";
import { AUTH_TOKEN, CHALLENGE_SID } from "../support/webhook-requests";
import { describeWithBrowser } from "../support/browser";
import { expectGoodLooks } from "../support/page-looks";
import { CREDENTIALS } from "../support/upstream";
import { HOSTILE, startConsole, type ConsoleApp } from "../admin/console/console-app";
import type { ConsoleOptions } from "../admin/console/console-app";
import { press, submit, useConsolePages } from "../admin/console/console-page";
import { createMemoryQueue } from "../admin/console/memory-queue";

const { openPage, allowFaults } = useConsolePages();

interface State {
  options?: ConsoleOptions;
  /** Fills the console before its page opens. */
  fill?: (app: ConsoleApp) => unknown;
  /** The address within the console, where the name does not begin with its page. */
  hash?: string;
  /** A text that is waited for. */
  shows?: string;
  /** The button that opens a dialog. */
  opens?: string;
  arrange?: (page: Page, app: ConsoleApp) => Promise<unknown>;
  /** Errors of the console that belong to the state. */
  allows?: RegExp;
}

const OLD_TOKEN = "0".repeat(32);

/** Lets a receiver see everything. */
async function fillReceiver({ push, deliver, publicUrl }: ConsoleApp): Promise<void> {
  push.on("challenge.denied", ({ uuid }) => {
    if (uuid === "fails") throw new Error("the database is away");
  });
  push.onAny(() => {});
  const old = { authToken: OLD_TOKEN };
  await deliver("factor.created", { entity_identity: "jane.doe@example.com" });
  await deliver("factor.verified", {}, { version: "v1" });
  await deliver("challenge.approved", { uuid: "a" }, old);
  await deliver("challenge.approved", { uuid: "a" }, old);
  await deliver("challenge.approved", { uuid: "a", entity_identity: "other-user-11" });
  await deliver("challenge.denied", { uuid: "fails" });
  for (let count = 0; count < 5; count++) await deliver();
  await deliver("challenge.approved", {}, { authToken: "f".repeat(32) });
  await deliver("challenge.approved", {}, { signedUrl: `${publicUrl}/` });
  await deliver("challenge.denied");
  const challengeSid = CHALLENGE_SID.replace("b", "c");
  push.waitForChallenge({ challengeSid, entityIdentity: "u" }).catch(() => {});
}

/** A receiver that has seen everything, during a rotation of its token. */
const BUSY = { options: { receiver: { authToken: [AUTH_TOKEN, OLD_TOKEN] } }, fill: fillReceiver };

function createWebhooks({ upstream, publicUrl }: ConsoleApp): void {
  upstream.createWebhook({
    friendly_name: "login events",
    webhook_url: `${publicUrl}/`,
    event_types: ["challenge.approved", "challenge.denied"],
  });
  const old = { friendly_name: "factors of the staging shop", status: "disabled", version: "v1" };
  upstream.createWebhook({ ...(old as object), webhook_url: "https://staging.example.com/hooks" });
}

const ERRORS = [
  ...Array<string>(3).fill("HANDLER_FAILED: connect ECONNREFUSED 10.0.3.11:5432"),
  ...Array<string>(2).fill("HANDLER_TIMEOUT: the handlers ran longer than 10000 ms"),
  "HANDLER_FAILED: user not found",
];
const QUEUE = { router: { queue: createMemoryQueue(ERRORS) } };
const DEAD = {
  state: "dead",
  attempts: 8,
  failures: [{ at: new Date(0), error: "HANDLER_FAILED: the database is away" }],
  at: new Date(Date.UTC(2026, 2, 5, 9)),
} as unknown as EventStatus;
const waitForHostile = (page: Page) =>
  page
    .locator("article")
    .nth(HOSTILE.length - 1)
    .waitFor();
const waitForButton = (page: Page, name: string) => page.getByRole("button", { name }).waitFor();

const STATES: Record<string, State> = {
  "receiver-empty": { shows: "No webhook request has" },
  "receiver-busy": { ...BUSY, shows: "200 conflict" },
  "receiver-mismatch": {
    async fill(app) {
      await fillReceiver(app);
      createWebhooks(app);
    },
    async arrange(page) {
      await page.getByText("problems").click();
      await page.getByText("Show the request").first().click();
      await page.getByText("proven").waitFor();
      await waitForButton(page, "Set webhook_url");
    },
  },
  "receiver-details": {
    options: {
      ...BUSY.options,
      router: { queue: { ...createMemoryQueue(ERRORS), find: async () => DEAD } },
    },
    fill: fillReceiver,
    async arrange(page) {
      await page.getByText("500 HANDLER_FAILED").click();
      await page.getByRole("link", { name: "Show the dead letter" }).waitFor();
      await page.getByText("Headers and parameters").click();
    },
  },
  "receiver-resend": {
    fill: fillReceiver,
    async arrange(page) {
      await page.getByText("500 HANDLER_FAILED").click();
      await press(page, "Run the handlers again");
      await submit(page);
      await page.getByRole("alert").waitFor();
    },
  },
  "receiver-keys": {
    ...BUSY,
    shows: "200 conflict",
    async arrange(page) {
      await page.keyboard.press("?");
      await page.locator("dialog[open]").waitFor();
    },
  },
  "not-allowed": {
    options: { router: { authorize: () => false } },
    shows: "load this page again",
    // A browser also asks for an icon.
    allows: /403|404/,
  },
  "receiver-filter-nothing": {
    fill: (app) => app.deliver(),
    shows: "200 handled",
    async arrange(page) {
      await page.getByRole("combobox", { name: "result" }).selectOption("bad");
      await page.getByText("No request matches this filter.").waitFor();
    },
  },
  "receiver-test-event": {
    opens: "Send test event",
    async arrange(page) {
      await submit(page);
      await page.locator("dialog .notice.good").waitFor();
    },
  },
  "receiver-lost": {
    ...BUSY,
    shows: "200 conflict",
    async arrange(page, app) {
      await app.stop();
      await page.getByText("Connection lost").waitFor();
    },
    allows: /ERR_|Failed to load/,
  },
  "receiver-hostile": {
    options: { router: { console: { reveal: true } } },
    async fill({ deliver }) {
      for (const text of HOSTILE) {
        const factor = { factor_friendly_name: text, factor_metadata: JSON.stringify({ text }) };
        await deliver("challenge.approved", { entity_identity: text.slice(0, 200), ...factor });
      }
    },
    async arrange(page) {
      for (const line of await page.locator(".requests .line").all()) await line.click();
    },
  },
  "webhooks-findings": {
    fill(app) {
      createWebhooks(app);
      app.push.on(["challenge.approved", "factor.deleted"], () => {});
      app.upstream.createWebhook({
        friendly_name: "all events, legacy",
        webhook_url: app.publicUrl,
        event_types: ["challenge.approved", "challenge.denied"],
        version: "v1",
        status: "disabled",
        webhook_method: "GET",
      });
      app.upstream.createWebhook({
        friendly_name: "the same again",
        webhook_url: app.publicUrl,
        event_types: ["challenge.approved", "factor.deleted"],
      });
    },
    arrange: (page) => page.locator("article .notice").first().waitFor(),
  },
  "webhooks-url-differs": {
    fill: createWebhooks,
    arrange: (page) => waitForButton(page, "Set webhook_url"),
  },
  "webhooks-empty": { shows: "has no webhook yet" },
  "webhooks-hostile": {
    fill({ upstream, publicUrl }) {
      for (const text of HOSTILE) {
        const webhook_url = `${publicUrl}/${encodeURIComponent(text).slice(0, 1_500)}`;
        upstream.createWebhook({ friendly_name: text, webhook_url });
      }
    },
    arrange: waitForHostile,
  },
  "webhooks-form": { opens: "Create webhook" },
  "webhooks-delete": { fill: createWebhooks, opens: "Delete" },
  "webhooks-error": {
    fill: (app) => app.upstream.script.push(...Array<never>(9).fill({ status: 500 } as never)),
    shows: "could not be read",
    allows: /502/,
  },
  "webhooks-read-only": {
    options: { router: { readOnly: true } },
    fill: createWebhooks,
    shows: "login events",
  },
  "keys-list": {
    options: { client: CREDENTIALS.main },
    fill({ upstream }) {
      for (let index = 0; index < 25; index++) upstream.createKey(`deploy ${index}`);
    },
    shows: "deploy 24",
  },
  "keys-created": {
    opens: "Create key",
    async arrange(page) {
      await page.getByLabel("Name", { exact: true }).fill("ci-deploy");
      await submit(page);
      await page.getByText("it will never be shown again").waitFor();
    },
  },
  "keys-revoke": { opens: "Revoke" },
  "keys-not-allowed": {
    options: { client: CREDENTIALS.standard },
    shows: "(MAIN_KEY_REQUIRED)",
    allows: /403/,
  },
  "queue-dead-letters": {
    options: QUEUE,
    async arrange(page) {
      await page.locator("summary").first().click();
      await page.locator(".dead-letter summary").first().click();
    },
  },
  "queue-selected": {
    options: QUEUE,
    hash: "queue/uuid-4",
    async arrange(page) {
      await page.locator(".dead-letter[aria-current]").waitFor();
      await page.getByLabel("Select uuid-4").check();
      await waitForButton(page, "Retry selected 1");
    },
  },
  "queue-revealed": {
    options: { router: { ...QUEUE.router, console: { reveal: true } } },
    arrange: (page) => page.locator(".dead-letter summary").last().click(),
  },
  "queue-empty": {
    options: {
      router: { queue: createMemoryQueue([], { waiting: 0, oldestWaitingMs: 0, workers: 0 }) },
    },
    shows: "No dead letters.",
  },
  "queue-hostile": {
    options: { router: { queue: createMemoryQueue(HOSTILE) } },
    arrange: waitForHostile,
  },
  "queue-error": {
    options: {
      router: {
        queue: { ...createMemoryQueue([]), stats: () => Promise.reject(new Error("no Redis")) },
      },
    },
    shows: "could not be read",
    allows: /500/,
  },
};

describeWithBrowser("the console, light and dark, wide and narrow", () => {
  it.each(Object.keys(STATES))(
    "has no fault, no violation of axe-core and no overflow: %s",
    async (name) => {
      const { options, fill, hash, shows, opens, arrange, allows } = STATES[name] ?? {};
      if (allows !== undefined) allowFaults(allows);
      const app = await startConsole(options);
      await fill?.(app);
      const [at = ""] = /^(webhooks|keys|queue)/.exec(name) ?? [];
      const page = await openPage(`${app.url}#/${hash ?? at}`);
      if (shows !== undefined) await page.getByText(shows).waitFor();
      if (opens !== undefined) {
        await press(page, opens);
        await page.locator("dialog[open]").waitFor();
      }
      await arrange?.(page, app);
      await expectGoodLooks(page, `console-${name}`);
    },
  );
});
