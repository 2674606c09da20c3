/** The console in use: at each width, after each change of page, in a quiet minute and in a busy one; of two processes, and with a queue. */
import type { Page } from "playwright-core";
import { AUTH_TOKEN } from "../support/webhook-requests";
import { until } from "../support/waiting";
import { describeWithBrowser } from "../support/browser";
import { MOUNT, openLive, PATH, startConsole } from "../admin/console/console-app";
import { press, useConsolePages } from "../admin/console/console-page";
import { startProxy } from "../admin/console/forwarding";
import { createMemoryQueue } from "../admin/console/memory-queue";

const { openConsole, openPage, allowFaults } = useConsolePages();

const TABS = ["Receiver", "Webhooks", "Keys", "Queue"];
const OLD_TOKEN = "0".repeat(32);
const openTab = (page: Page, tab: string) =>
  page.getByRole("link", { name: new RegExp(`^${tab}`) }).click();

/** All columns, five problems, a Key and a dead letter. */
async function startFull() {
  const app = await startConsole({
    router: { queue: createMemoryQueue(["down", "slow"]) },
    receiver: { authToken: [AUTH_TOKEN, OLD_TOKEN] },
  });
  for (const suffix of ["/", "?a=1", "#b", "/c"]) {
    await app.deliver("challenge.approved", {}, { signedUrl: app.publicUrl + suffix });
  }
  for (const identity of ["jane.doe@example.com", "jane.doe@example.com", "another-user-of-all"]) {
    await app.deliver("challenge.approved", { uuid: "a", entity_identity: identity });
  }
  await app.deliver("challenge.denied", {}, { authToken: OLD_TOKEN });
  app.upstream.createWebhook({ webhook_url: app.publicUrl, event_types: ["*"] });
  return app;
}

/** Finds cells that have a letter or two per line, or that are wider than their column. */
const FIND_BROKEN = `[...document.querySelectorAll("main td, main dd, main .pill, main .text")]
  .filter((cell) => {
    const { width, height } = cell.getBoundingClientRect();
    const isNarrow = height > 60 && width < 60 && cell.innerText.length > 3;
    const isCut =
      cell.matches(".line td:not(.select, .toggle-cell)") && cell.scrollWidth > cell.clientWidth + 1;
    return isNarrow || isCut;
  })
  .map(({ className, innerText }) => className + ": " + innerText)`;
/** Records each text that is announced. */
const RECORD_ANNOUNCEMENTS = `{
  globalThis.texts = [];
  const announcer = document.getElementById("announcer");
  const record = () => announcer.textContent && texts.push(announcer.textContent);
  const observed = { childList: true, characterData: true, subtree: true };
  new MutationObserver(record).observe(announcer, observed);
}`;

describeWithBrowser("the console in use", () => {
  it("fits each width: no column is cut, and nothing scrolls sideways", async () => {
    const page = await openPage((await startFull()).url);
    await page.locator(".requests .line").last().click();
    for (const tab of TABS) {
      await openTab(page, tab);
      await page.locator(`nav [aria-current]:has-text("${tab}")`).waitFor();
      for (let width = 320; width <= 1_920; width += 80) {
        await page.setViewportSize({ width, height: 900 });
        const broken = await page.evaluate<string[]>(FIND_BROKEN);
        const scrollWidth = await page.evaluate("document.documentElement.scrollWidth");
        expect({ tab, width, broken, scrollWidth }).toEqual({
          tab,
          width,
          broken: [],
          scrollWidth: width,
        });
      }
    }
  });

  it("begins its list in the first screen of a desk and of a phone", async () => {
    const page = await openPage((await startFull()).url);
    await page.locator("svg").waitFor();
    for (const [width, height] of [
      [1_440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      const line = await page.locator(".requests .line").first().boundingBox();
      expect(line?.y).toBeLessThan(height - 50);
    }
  });

  it.each([
    ["Receiver", ".requests .line", ".details"],
    ["Webhooks", "text=Edit", "dialog"],
    ["Keys", "text=Rename", "dialog"],
    ["Queue", "text=Retry all 2", "dialog"],
  ])("takes the first click after a change to %s", async (tab, target, opened) => {
    const app = await startFull();
    const page = await openPage(`${app.url}#/${tab === "Keys" ? "webhooks" : "keys"}`);
    await openTab(page, tab);
    await page.locator(target).first().click();
    await page.locator(opened).first().waitFor({ timeout: 5_000 });
  });

  it("holds an open row while 50 events a second arrive, until they are asked for", async () => {
    const app = await startFull();
    // Its details are gone when 200 others have arrived.
    allowFaults(/404/);
    const page = await openPage(app.url);
    const open = page.locator(".requests .line", { hasText: "challenge.denied" });
    await open.click();
    await page.getByText("Headers and parameters").waitFor();
    const before = await open.boundingBox();
    for (let second = 0; second < 5; second++) {
      await Promise.all(Array.from({ length: 50 }, () => app.deliver("factor.verified")));
    }
    await page.getByRole("button", { name: "Show 250 new" }).waitFor();
    expect(await open.boundingBox()).toEqual(before);
    expect(await page.getByText("Headers and parameters").isVisible()).toBe(true);
    await press(page, "Show 250 new");
    await page.locator(".requests .line", { hasText: "factor.verified" }).first().waitFor();
    // It is older than the list, and stays until it is closed.
    expect(await page.locator(".details").count()).toBe(1);
  });

  it("announces nothing in a quiet minute", async () => {
    const app = await startFull();
    const { next, close } = await openLive(app);
    const update = { ...(await next()), rows: [], isComplete: false };
    await close();
    const page = await openPage(app.url);
    await page.clock.install();
    let streams = 0;
    await page.route("**/console/live*", (route) => {
      // The streams of a minute, which end at once; the last stays open.
      if (streams++ < 15) void route.fulfill({ body: `data: ${JSON.stringify(update)}\n\n` });
    });
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.evaluate(RECORD_ANNOUNCEMENTS);
    await until(() => streams === 16);
    await page.clock.runFor(60_000);
    expect(await page.evaluate("texts")).toEqual([]);
  });
});

describeWithBrowser("two consoles behind a balancer that takes turns, as of two processes", () => {
  it("have the rows of both; each leads to its own request and runs its own event, also after a restart", async () => {
    const ports: number[] = [];
    const origin = `http://127.0.0.1:${await startProxy(ports)}`;
    const publicUrl = origin + PATH;
    const handled: string[] = [];
    /** Starts one of them, and delivers an event to it. */
    async function start(index: number, uuid: string, entity_identity: string) {
      const app = await startConsole({ receiver: { publicUrl } });
      ports[index] = app.port;
      app.push.onAny((event) => void handled.push(`${index} ${event.uuid}`));
      const event = { uuid, entity_identity };
      expect(await app.deliver(undefined, event, { signedUrl: publicUrl })).toBe(200);
      return app;
    }
    const first = await start(0, "of-ada", "ada.lovelace@example.com");
    await start(1, "of-grace", "grace.hopper@example.com");
    // Another process responds first; it does nothing.
    allowFaults(/409|ERR_/);
    const page = await openPage(`${origin}${MOUNT}/`);
    const lines = page.locator(".requests .line");
    await lines.nth(1).waitFor();
    const entities = await page.locator(".requests td.entity").allInnerTexts();
    expect(entities.map((text) => text.slice(0, 7))).toEqual(["gra…com", "ada…com"]);
    for (const [index, uuid] of ["of-grace", "of-ada"].entries()) {
      await lines.nth(index).click();
      const details = page.locator(".details");
      await details.getByText("Headers and parameters").click();
      expect(await details.locator("dd", { hasText: uuid }).count()).toBe(2);
      await press(page, "Run the handlers again");
      await press(page, "Run again", true);
      await lines.nth(index).getByText("ran again").waitFor();
    }
    expect(handled).toEqual(["0 of-ada", "1 of-grace", "1 of-grace", "0 of-ada"]);

    const link = page.url();
    await first.stop();
    await start(0, "of-eve", "eve@example.com");
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator(".notice", { hasText: "ANOTHER_PROCESS" }).waitFor();
    await lines.nth(1).waitFor();
    expect(await page.locator(".details").count()).toBe(0);
  }, 120_000);
});

describeWithBrowser("the console of a queue", () => {
  it("discards and retries as many dead letters as its buttons say, of 2,000", async () => {
    const errors = Array.from({ length: 2_000 }, (_, index) => (index % 3 === 0 ? "down" : "slow"));
    const queue = createMemoryQueue(errors);
    const { app, page } = await openConsole("#/queue", { router: { queue } });
    await page.getByText("There are more dead letters than are listed here.").waitFor();
    await press(page, "Discard these 334");
    await press(page, "Discard 334 dead letters");
    await press(page, "Retry all 1,666");
    await press(page, "Retry 1,666 dead letters");
    await page.getByText("No dead letters.").waitFor();
    expect(app.audits).toMatchObject([
      { action: "dead-letter.discard", error: "down", count: 334 },
      { action: "dead-letter.retry", count: 1_666 },
    ]);
    expect(queue.changes).toHaveLength(2_000);
  });

  it("says on each page that no worker handles the events that wait", async () => {
    const queue = createMemoryQueue([], { waiting: 60, workers: 0 });
    const { page } = await openConsole("", { router: { queue } });
    for (const tab of TABS) {
      await openTab(page, tab);
      await page.locator("h2", { hasText: tab }).waitFor({ state: "attached" });
      await page.getByText("60 events in the queue, and no worker.").waitFor();
    }
  });
});
