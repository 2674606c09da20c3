/** Every state of every page: accessible, without a fault, and with a screenshot to look at. */
import type { Page } from "playwright-core";
import type { AdminRouterOptions } from "express-push-verification/admin";
import type { EventStatus } from "express-push-verification/durable";
import { AUTH_TOKEN, CHALLENGE_SID } from "../support/webhook-requests";
import { describeWithBrowser, useBrowser } from "../support/browser";
import { expectGoodLooks } from "../support/page-looks";
import { MAIN_KEY, MAIN_SECRET, STANDARD_KEY, STANDARD_SECRET } from "../support/upstream";
import { startConsole, useConsoles, type ConsoleApp } from "../admin/console/console-app";
import { HOSTILE } from "../admin/console/hostile-texts";
import { createMemoryQueue } from "../admin/console/memory-queue";

const { openPage, allowFaults } = useBrowser();
useConsoles();

/** A receiver that has seen everything. */
async function startBusy(options: Parameters<typeof startConsole>[0] = {}): Promise<ConsoleApp> {
  const old = "0".repeat(32);
  const app = await startConsole({
    ...options,
    receiver: { authToken: [AUTH_TOKEN, old], ...options.receiver },
  });
  app.push.on("challenge.denied", ({ uuid }) => {
    if (uuid === "fails") throw new Error("the database is away");
  });
  app.push.onAny(() => {});
  await app.deliver("factor.created", { entity_identity: "jane.doe@example.com" });
  await app.deliver("factor.verified", {}, { version: "v1" });
  for (let count = 0; count < 2; count++) {
    await app.deliver("challenge.approved", { uuid: "a" }, { authToken: old });
  }
  await app.deliver("challenge.approved", { uuid: "a", entity_identity: "other-user-11" });
  await app.deliver("challenge.denied", { uuid: "fails" });
  for (let count = 0; count < 5; count++) await app.deliver();
  await app.deliver("challenge.approved", {}, { authToken: "f".repeat(32) });
  await app.deliver("challenge.approved", {}, { signedUrl: `${app.publicUrl}/` });
  await app.deliver("challenge.denied");
  const waiting = app.push.waitForChallenge({
    challengeSid: CHALLENGE_SID.replace("b", "c"),
    entityIdentity: "u",
  });
  waiting.catch(() => {});
  return app;
}

function addWebhooks(app: ConsoleApp): ConsoleApp {
  const { upstream, publicUrl } = app;
  upstream.createWebhook({
    friendly_name: "login events",
    webhook_url: `${publicUrl}/`,
    event_types: ["challenge.approved", "challenge.denied"],
  });
  upstream.createWebhook({
    friendly_name: "factors of the staging shop",
    webhook_url: "https://staging.example.com/hooks",
    event_types: ["*"],
    status: "disabled",
    version: "v1",
  });
  return app;
}

const startQueue = (
  errors: readonly string[],
  stats?: Parameters<typeof createMemoryQueue>[1],
  router?: Partial<AdminRouterOptions>,
) => startConsole({ router: { queue: createMemoryQueue(errors, stats), ...router } });

interface State {
  name: string;
  start?: () => Promise<ConsoleApp>;
  /** The address within the console, where the name does not begin with its page. */
  hash?: string;
  /** A text that is waited for. */
  shows?: string;
  arrange?: (page: Page, app: ConsoleApp) => Promise<unknown>;
  /** Errors of the console that belong to the state. */
  allows?: RegExp;
}

const LAST = HOSTILE.length - 1;
const waitForHostile = (page: Page) => page.locator("article").nth(LAST).waitFor();
const openDialog = async (page: Page, name: string | RegExp) => {
  await page.getByRole("button", { name }).first().click();
  await page.locator("dialog[open]").waitFor();
};

const STATES: State[] = [
  { name: "receiver-empty", shows: "No webhook request has" },
  { name: "receiver-busy", start: startBusy, shows: "200 conflict" },
  {
    name: "receiver-mismatch",
    start: async () => addWebhooks(await startBusy({ receiver: { authToken: AUTH_TOKEN } })),
    async arrange(page) {
      await page.getByText("problems").click();
      await page.getByText("Show the request").first().click();
      await page.getByText("proven").waitFor();
      await page.getByRole("button", { name: "Set webhook_url" }).waitFor();
    },
  },
  {
    name: "receiver-details",
    start: async () => {
      const find = () =>
        Promise.resolve({
          state: "dead",
          event: undefined,
          attempts: 8,
          failures: [{ at: new Date(0), error: "HANDLER_FAILED: the database is away" }],
          at: new Date(Date.UTC(2026, 2, 5, 9)),
        } as unknown as EventStatus);
      return startBusy({ router: { queue: { ...createMemoryQueue(ERRORS), find } } });
    },
    async arrange(page) {
      await page.getByText("500 HANDLER_FAILED").click();
      await page.getByRole("link", { name: "Show the dead letter" }).waitFor();
      await page.getByText("Headers and parameters").click();
    },
  },
  {
    name: "receiver-resend",
    start: () => startBusy({ receiver: { authToken: AUTH_TOKEN } }),
    async arrange(page) {
      await page.getByText("500 HANDLER_FAILED").click();
      await openDialog(page, "Run the handlers again");
      await page.locator("dialog button.primary").click();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "receiver-keys",
    start: startBusy,
    shows: "200 conflict",
    async arrange(page) {
      await page.keyboard.press("?");
      await page.locator("dialog[open]").waitFor();
    },
  },
  {
    name: "not-allowed",
    start: () => startConsole({ router: { authorize: () => false } }),
    arrange: (page) => page.getByRole("link", { name: "load this page again" }).waitFor(),
    // A browser also asks for an icon.
    allows: /403|404/,
  },
  {
    name: "receiver-filter-nothing",
    async start() {
      const app = await startConsole();
      await app.deliver();
      return app;
    },
    shows: "200 handled",
    async arrange(page) {
      await page.getByRole("combobox", { name: "result" }).selectOption("bad");
      await page.getByText("No request matches this filter.").waitFor();
    },
  },
  {
    name: "receiver-test-event",
    start: () => startConsole({ receiver: { authToken: AUTH_TOKEN } }),
    async arrange(page) {
      await openDialog(page, "Send test event");
      await page.locator("dialog button.primary").click();
      await page.locator("dialog .notice.good").waitFor();
    },
  },
  {
    name: "receiver-lost",
    start: startBusy,
    shows: "200 conflict",
    async arrange(page, app) {
      await app.stop();
      await page.getByText("Connection lost").waitFor();
    },
    allows: /ERR_|Failed to load/,
  },
  {
    name: "receiver-hostile",
    async start() {
      const app = await startConsole({ router: { console: { reveal: true } } });
      for (const text of HOSTILE) {
        await app.deliver("challenge.approved", {
          entity_identity: text.slice(0, 200),
          factor_friendly_name: text,
          factor_metadata: JSON.stringify({ text }),
        });
      }
      return app;
    },
    async arrange(page) {
      for (const line of await page.locator(".requests .line").all()) await line.click();
    },
  },
  {
    name: "webhooks-findings",
    async start() {
      const app = addWebhooks(await startConsole());
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
      return app;
    },
    arrange: (page) => page.locator("article .notice").first().waitFor(),
  },
  {
    name: "webhooks-url-differs",
    start: async () => addWebhooks(await startConsole()),
    arrange: (page) => page.getByRole("button", { name: "Set webhook_url" }).waitFor(),
  },
  { name: "webhooks-empty", shows: "has no webhook yet" },
  {
    name: "webhooks-hostile",
    async start() {
      const app = await startConsole();
      for (const text of HOSTILE) {
        app.upstream.createWebhook({
          friendly_name: text,
          webhook_url: `${app.publicUrl}/${encodeURIComponent(text).slice(0, 1_500)}`,
          event_types: ["*"],
        });
      }
      return app;
    },
    arrange: waitForHostile,
  },
  { name: "webhooks-form", arrange: (page) => openDialog(page, "Create webhook") },
  {
    name: "webhooks-delete",
    start: async () => addWebhooks(await startConsole()),
    arrange: (page) => openDialog(page, "Delete"),
  },
  {
    name: "webhooks-error",
    async start() {
      const app = await startConsole();
      app.upstream.script.push(...Array.from({ length: 9 }, () => ({ status: 500 })));
      return app;
    },
    shows: "could not be read",
    allows: /502/,
  },
  {
    name: "keys-list",
    async start() {
      const app = await startConsole({ client: { username: MAIN_KEY, password: MAIN_SECRET } });
      for (let index = 0; index < 25; index++) app.upstream.createKey(`deploy ${index}`);
      return app;
    },
    shows: "deploy 24",
  },
  {
    name: "keys-created",
    async arrange(page) {
      await openDialog(page, "Create key");
      await page.getByLabel("Name", { exact: true }).fill("ci-deploy");
      await page.locator("dialog button.primary").click();
      await page.getByText("it will never be shown again").waitFor();
    },
  },
  { name: "keys-revoke", arrange: (page) => openDialog(page, "Revoke") },
  {
    name: "keys-not-allowed",
    start: () => startConsole({ client: { username: STANDARD_KEY, password: STANDARD_SECRET } }),
    shows: "(MAIN_KEY_REQUIRED)",
    allows: /403/,
  },
  {
    name: "queue-dead-letters",
    start: () => startQueue(ERRORS),
    async arrange(page) {
      await page.locator("summary").first().click();
      await page.locator(".dead-letter summary").first().click();
    },
  },
  {
    name: "queue-selected",
    hash: "queue/uuid-4",
    start: () => startQueue(ERRORS),
    async arrange(page) {
      await page.locator(".dead-letter[aria-current]").waitFor();
      await page.getByLabel("Select uuid-4").check();
      await page.getByRole("button", { name: "Retry selected 1" }).waitFor();
    },
  },
  {
    name: "queue-revealed",
    start: () => startQueue(ERRORS, {}, { console: { reveal: true } }),
    arrange: (page) => page.locator(".dead-letter summary").last().click(),
  },
  {
    name: "queue-empty",
    start: () => startQueue([], { waiting: 0, oldestWaitingMs: 0, workers: 0 }),
    shows: "No dead letters.",
  },
  { name: "queue-hostile", start: () => startQueue(HOSTILE), arrange: waitForHostile },
  {
    name: "queue-error",
    start: () =>
      startConsole({
        router: {
          queue: { ...createMemoryQueue([]), stats: () => Promise.reject(new Error("no Redis")) },
        },
      }),
    shows: "could not be read",
    allows: /500/,
  },
  {
    name: "webhooks-read-only",
    start: async () => addWebhooks(await startConsole({ router: { readOnly: true } })),
    shows: "login events",
  },
];

const ERRORS = [
  ...Array.from({ length: 3 }, () => "HANDLER_FAILED: connect ECONNREFUSED 10.0.3.11:5432"),
  ...Array.from({ length: 2 }, () => "HANDLER_TIMEOUT: the handlers ran longer than 10000 ms"),
  "HANDLER_FAILED: user not found",
];

describeWithBrowser("the console, light and dark, wide and narrow", () => {
  it.each(STATES.map((state) => [state.name, state] as const))(
    "has no fault, no violation of axe-core and no overflow: %s",
    async (name, { start = () => startConsole(), hash, shows, arrange, allows }) => {
      if (allows !== undefined) allowFaults(allows);
      const app = await start();
      const [at = ""] = /^(webhooks|keys|queue)/.exec(name) ?? [];
      const page = await openPage(`${app.url}#/${hash ?? at}`);
      if (shows !== undefined) await page.getByText(shows).waitFor();
      await arrange?.(page, app);
      await expectGoodLooks(page, `console-${name}`);
    },
  );
});
