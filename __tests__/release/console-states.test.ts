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
  hash?: string;
  arrange?: (page: Page, app: ConsoleApp) => Promise<unknown>;
  /** Errors of the console that belong to the state. */
  allows?: RegExp;
}

const waitForHostile = (page: Page) =>
  page
    .locator("article")
    .nth(HOSTILE.length - 1)
    .waitFor();
const openDialog = async (page: Page, name: string | RegExp) => {
  await page.getByRole("button", { name }).first().click();
  await page.locator("dialog[open]").waitFor();
};

const STATES: State[] = [
  { name: "receiver-empty", arrange: (page) => page.getByText("No webhook request has").waitFor() },
  {
    name: "receiver-busy",
    start: startBusy,
    arrange: (page) => page.getByText("200 conflict").waitFor(),
  },
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
    async arrange(page) {
      await page.getByText("200 conflict").waitFor();
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
    async arrange(page) {
      await page.getByText("200 handled").waitFor();
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
    async arrange(page, app) {
      await page.getByText("200 conflict").waitFor();
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
    hash: "webhooks",
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
    hash: "webhooks",
    start: async () => addWebhooks(await startConsole()),
    arrange: (page) => page.getByRole("button", { name: "Set webhook_url" }).waitFor(),
  },
  {
    name: "webhooks-empty",
    hash: "webhooks",
    arrange: (page) => page.getByText("has no webhook yet").waitFor(),
  },
  {
    name: "webhooks-hostile",
    hash: "webhooks",
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
  {
    name: "webhooks-form",
    hash: "webhooks",
    arrange: (page) => openDialog(page, "Create webhook"),
  },
  {
    name: "webhooks-delete",
    hash: "webhooks",
    start: async () => addWebhooks(await startConsole()),
    arrange: (page) => openDialog(page, "Delete"),
  },
  {
    name: "webhooks-error",
    hash: "webhooks",
    async start() {
      const app = await startConsole();
      app.upstream.script.push(...Array.from({ length: 9 }, () => ({ status: 500 })));
      return app;
    },
    arrange: (page) => page.getByText("could not be read").waitFor(),
    allows: /502/,
  },
  {
    name: "keys-list",
    hash: "keys",
    async start() {
      const app = await startConsole({ client: { username: MAIN_KEY, password: MAIN_SECRET } });
      for (let index = 0; index < 25; index++) app.upstream.createKey(`deploy ${index}`);
      return app;
    },
    arrange: (page) => page.getByText("deploy 24").waitFor(),
  },
  {
    name: "keys-created",
    hash: "keys",
    async arrange(page) {
      await openDialog(page, "Create key");
      await page.getByLabel("Name", { exact: true }).fill("ci-deploy");
      await page.locator("dialog button.primary").click();
      await page.getByText("it will never be shown again").waitFor();
    },
  },
  {
    name: "keys-revoke",
    hash: "keys",
    arrange: (page) => openDialog(page, "Revoke"),
  },
  {
    name: "keys-not-allowed",
    hash: "keys",
    start: () => startConsole({ client: { username: STANDARD_KEY, password: STANDARD_SECRET } }),
    arrange: (page) => page.getByText("(MAIN_KEY_REQUIRED)").waitFor(),
    allows: /403/,
  },
  {
    name: "queue-dead-letters",
    hash: "queue",
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
    hash: "queue",
    start: () => startQueue(ERRORS, {}, { console: { reveal: true } }),
    arrange: (page) => page.locator(".dead-letter summary").last().click(),
  },
  {
    name: "queue-empty",
    hash: "queue",
    start: () => startQueue([], { waiting: 0, oldestWaitingMs: 0, workers: 0 }),
    arrange: (page) => page.getByText("No dead letters.").waitFor(),
  },
  {
    name: "queue-hostile",
    hash: "queue",
    start: () => startQueue(HOSTILE),
    arrange: waitForHostile,
  },
  {
    name: "queue-error",
    hash: "queue",
    start: () =>
      startConsole({
        router: {
          queue: { ...createMemoryQueue([]), stats: () => Promise.reject(new Error("no Redis")) },
        },
      }),
    arrange: (page) => page.getByText("could not be read").waitFor(),
    allows: /500/,
  },
  {
    name: "read-only",
    hash: "webhooks",
    start: async () => addWebhooks(await startConsole({ router: { readOnly: true } })),
    arrange: (page) => page.getByText("login events").waitFor(),
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
    async (name, { start = () => startConsole(), hash = "", arrange, allows }) => {
      if (allows !== undefined) allowFaults(allows);
      const app = await start();
      const page = await openPage(`${app.url}${hash === "" ? "" : `#/${hash}`}`);
      await arrange?.(page, app);
      await expectGoodLooks(page, `console-${name}`);
    },
  );
});
