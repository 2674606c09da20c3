/** Every state of every page: accessible, without a fault, and with a screenshot to look at. */
import type { Page } from "playwright-core";
import type { EventStatus } from "express-push-verification/durable";
import { CHALLENGE_SID } from "../support/webhook-requests";
import { describeWithBrowser } from "../support/browser";
import { expectGoodLooks } from "../support/page-looks";
import {
  HOSTILE,
  startConsole,
  stopClock,
  type ConsoleApp,
  type ConsoleOptions,
} from "../admin/console/console-app";
import { OLD_TOKEN, ROTATING, useConsolePages } from "../admin/console/console-page";
import { createMemoryQueue } from "../admin/console/memory-queue";

const { openPage, allowFaults } = useConsolePages();

interface State {
  options?: ConsoleOptions;
  fill?: (app: ConsoleApp) => unknown;
  /** The address within the console, where the name does not begin with its page. */
  hash?: string;
  clicks?: string[];
  arrange?: (page: Page, app: ConsoleApp) => Promise<unknown>;
  /** What is waited for before and after that. */
  shows?: string;
  awaits?: string;
  /** Errors of the console that belong to the state. */
  allows?: RegExp;
}

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
  // Of one sender, only one request a minute is explained.
  const headers = { "user-agent": "another" };
  await deliver("challenge.approved", {}, { signedUrl: `${publicUrl}/`, headers });
  await deliver("challenge.denied");
  const challengeSid = CHALLENGE_SID.replace("b", "c");
  push.waitForChallenge({ challengeSid, entityIdentity: "u" }).catch(() => {});
}

const BUSY = { options: ROTATING, fill: fillReceiver };

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
const failures = [{ at: new Date(0), error: "HANDLER_FAILED: the database is away" }];
const DEAD = { state: "dead", attempts: 8, failures, at: new Date(0) } as unknown as EventStatus;
const queueOf = (errors: readonly string[], stats = {}, found?: EventStatus) => ({
  queue: { ...createMemoryQueue(errors, stats), find: async () => found },
});
const DIALOG = "dialog[open]";
const SUBMIT = "dialog button.primary";
const LAST_HOSTILE = `article >> nth=${HOSTILE.length - 1}`;
const button = (name: string) => `button:has-text("${name}") >> nth=0`;

const STATES: Record<string, State> = {
  "receiver-empty": { shows: "text=No webhook request has" },
  "receiver-busy": { ...BUSY, shows: "text=200 conflict" },
  "receiver-mismatch": {
    fill: async (app) => (createWebhooks(app), fillReceiver(app)),
    clicks: ["text=problems", "text=Show the request >> nth=0"],
    awaits: button("Set webhook_url"),
  },
  "receiver-details": {
    options: { ...ROTATING, router: queueOf(ERRORS, {}, DEAD) },
    fill: fillReceiver,
    clicks: ["text=500 HANDLER_FAILED"],
    awaits: "text=Show the dead letter",
  },
  "receiver-resend": {
    fill: fillReceiver,
    clicks: ["text=500 HANDLER_FAILED", button("Run the handlers again"), SUBMIT],
    awaits: "role=alert",
  },
  "not-allowed": {
    options: { router: { authorize: () => false } },
    shows: "text=load this page again",
    // A browser also asks for an icon.
    allows: /403|404/,
  },
  "receiver-rehearsal": {
    clicks: [button("Rehearse a login"), SUBMIT],
    awaits: "dialog .pill.bad",
  },
  "receiver-lost": {
    ...BUSY,
    shows: "text=200 conflict",
    arrange: (_page, app) => app.stop(),
    awaits: "text=Connection lost",
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
    clicks: HOSTILE.map((_text, index) => `.requests .line >> nth=${index}`),
  },
  "webhooks-findings": {
    fill({ push, upstream, publicUrl: webhook_url }) {
      push.on(["challenge.approved", "factor.deleted"], () => {});
      const event_types = ["challenge.approved", "challenge.denied"] as const;
      const old = { status: "disabled", version: "v1", webhook_method: "GET" } as const;
      for (const [index, others] of [{}, {}, old].entries())
        upstream.createWebhook({ friendly_name: `${index}`, webhook_url, event_types, ...others });
    },
    shows: "article .notice >> nth=0",
  },
  "webhooks-url-differs": { fill: createWebhooks, shows: button("Set webhook_url") },
  "webhooks-empty": { shows: "text=has no webhook yet" },
  "webhooks-hostile": {
    fill({ upstream, publicUrl }) {
      for (const text of HOSTILE) {
        const webhook_url = `${publicUrl}/${encodeURIComponent(text).slice(0, 1_500)}`;
        upstream.createWebhook({ friendly_name: text, webhook_url });
      }
    },
    shows: LAST_HOSTILE,
  },
  "webhooks-form": { clicks: [button("Create webhook")], awaits: DIALOG },
  "webhooks-delete": { fill: createWebhooks, clicks: [button("Delete")], awaits: DIALOG },
  "webhooks-error": {
    fill: (app) => app.upstream.script.push(...Array<never>(9).fill({ status: 500 } as never)),
    shows: "text=could not be read",
    allows: /502/,
  },
  "keys-created": {
    options: { router: { as: "main" } },
    fill({ upstream }) {
      for (let index = 0; index < 25; index++) upstream.createKey(`deploy ${index}`);
    },
    shows: "text=deploy 24",
    clicks: [button("Create key"), SUBMIT],
    awaits: "text=it will never be shown again",
  },
  "keys-revoke": { clicks: [button("Revoke")], awaits: DIALOG },
  "queue-linked": {
    options: { router: queueOf(ERRORS) },
    hash: "queue/uuid-4",
    shows: ".dead-letter[aria-current]",
    clicks: ["summary >> nth=0", ".dead-letter summary >> nth=0"],
    awaits: button("Retry all 6"),
  },
  "queue-empty": {
    options: { router: queueOf([], { waiting: 0, oldestWaitingMs: 0, workers: 0 }) },
    shows: "text=No dead letters.",
  },
  "queue-hostile": {
    options: { router: { ...queueOf(HOSTILE), console: { reveal: true } } },
    shows: LAST_HOSTILE,
    clicks: [".dead-letter summary >> nth=-1"],
  },
};

describeWithBrowser("the console, light and dark, wide and narrow", () => {
  const states = Object.entries(STATES);
  it.each(states)("has no fault, no violation of axe-core and no overflow: %s", async (...row) => {
    const [name, { options, fill, hash, clicks = [], arrange, shows, awaits, allows }] = row;
    if (allows !== undefined) allowFaults(allows);
    const app = await startConsole(options);
    await stopClock(async () => fill?.(app));
    const [at = ""] = /^(webhooks|keys|queue)/.exec(name) ?? [];
    const page = await openPage(`${app.url}#/${hash ?? at}`);
    if (shows !== undefined) await page.waitForSelector(shows);
    for (const selector of clicks) await page.click(selector);
    await arrange?.(page, app);
    if (awaits !== undefined) await page.waitForSelector(awaits);
    await expectGoodLooks(page, `console-${name}`);
  });
});
