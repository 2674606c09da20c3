/** A real browser whose pages fail a test when they break a rule of every page. */
import { chromium, type Browser, type Page } from "playwright-core";
import { needs } from "./needs";

const executablePath = process.env.PUSH_TEST_CHROMIUM ?? "";

export const { describe: describeWithBrowser, it: itInBrowser } = needs(
  executablePath !== "",
  "chromium on the PATH, or CHROMIUM_PATH (Debian: apt-get install chromium)",
);

const VIEWPORT = { width: 1280, height: 860 };
/** Below the time-out of a test, so that the message names the awaited element. */
const ACTION_TIMEOUT_MS = 240_000;
/** The intervals of a page, so that no test waits for seconds until a page asks again. */
const TIMES_FASTER = 10;
/** What a page shows for some seconds stays for the whole test. */
const SHOWN_FROM_MS = 3_000;

/**
 * Registers the browser of a test file, which starts with the first page. Call it before the
 * `afterEach` that stops the servers: open connections of a page would keep them.
 *
 * After each test it fails the test when its page broke a rule: an error or a warning in the
 * console, a violation of the Content-Security-Policy, a dialog, or a request to another origin.
 */
export function useBrowser() {
  const faults: string[] = [];
  let allowed: RegExp | undefined;
  let origin = "";
  let browser: Browser | undefined;
  let page: Page | undefined;
  let isClosing = false;

  afterEach(() => {
    expect(takeFaults().filter((fault) => allowed?.test(fault) !== true)).toEqual([]);
  });
  afterEach(closePage);
  afterAll(() => browser?.close());

  async function startBrowser(): Promise<Page> {
    const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
    browser = await chromium.launch({ executablePath, args, timeout: ACTION_TIMEOUT_MS });
    const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC" });
    context.setDefaultTimeout(ACTION_TIMEOUT_MS);
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
    });
    context.on("weberror", (error) => faults.push(String(error.error())));
    context.on("request", (request) => {
      if (new URL(request.url()).origin !== origin) faults.push(`other origin: ${request.url()}`);
    });
    context.on("dialog", (dialog) => {
      if (!isClosing) faults.push(`dialog: ${dialog.message()}`);
      void (isClosing ? dialog.accept() : dialog.dismiss());
    });
    await context.addInitScript(
      ([times = 1, shownFromMs = 0]) => {
        const { setInterval: repeat, setTimeout: start } = globalThis;
        Object.assign(globalThis, {
          setInterval: (run: () => void, ms: number) => repeat(run, ms / times),
          setTimeout: (run: () => void, ms = 0) => start(run, ms < shownFromMs ? ms : 100 * ms),
        });
      },
      [TIMES_FASTER, SHOWN_FROM_MS],
    );
    return context.newPage();
  }

  async function openPage(url: string): Promise<Page> {
    // The same for all tests of a file: a fresh process of the browser costs each a second.
    page ??= await startBrowser();
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(VIEWPORT);
    ({ origin } = new URL(url));
    await page.goto(url);
    return page;
  }

  async function closePage(): Promise<void> {
    if (page !== undefined) {
      // A page may ask whether it may be left.
      isClosing = true;
      const context = page.context();
      const tabs = context.pages().filter((tab) => tab !== page);
      await Promise.all(tabs.map((tab) => tab.close()));
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.goto("about:blank");
      await context.clearCookies();
      await context.clearPermissions();
    }
    isClosing = false;
    allowed = undefined;
    takeFaults();
  }

  const takeFaults = () => faults.splice(0);

  /** Allows faults that a test provokes, from now to its end. */
  function allowFaults(pattern: RegExp): void {
    allowed = pattern;
  }

  return { openPage, closePage, takeFaults, allowFaults };
}
