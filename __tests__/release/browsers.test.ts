/** The console and the login in each browser of this machine; the other tests use Chromium alone. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { inflateSync } from "node:zlib";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { WEBHOOK } from "../support/upstream";
import { startConsole, useConsoles } from "../admin/console/console-app";
import { PASSWORD, startLoginApp } from "../support/login-app";
import { needs } from "../support/needs";
import { startServer } from "../support/servers";

const { PUSH_TEST_CHROMIUM: chromium = "", PUSH_TEST_FIREFOX: firefox = "" } = process.env;
const TIMEOUT_MS = 240_000;
const PATIENT = { timeout: TIMEOUT_MS, protocolTimeout: TIMEOUT_MS };

interface Engine {
  name: string;
  path: string;
  launch(): Promise<Browser>;
  forceColours(page: Page): Promise<unknown>;
  /** Undefined where there is no zoom of texts alone. */
  zoomTexts?(page: Page): Promise<unknown>;
}

/** Runs a script in the window of Firefox itself. */
async function runInChrome(page: Page, expression: string): Promise<void> {
  type Send = (method: string, params: object) => Promise<{ result: never }>;
  const { connection } = page.browser() as unknown as { connection: { send: Send } };
  const chrome = { "moz:scope": "chrome", maxDepth: 0 };
  const { contexts } = (await connection.send("browsingContext.getTree", chrome)).result as {
    contexts: { context: string }[];
  };
  const target = { context: contexts[0]?.context };
  await connection.send("script.evaluate", { expression, target, awaitPromise: false });
}

const ENGINES: Engine[] = [
  {
    name: "Chromium",
    path: chromium,
    launch: () =>
      puppeteer.launch({
        ...PATIENT,
        executablePath: chromium,
        args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
      }),
    async forceColours(page) {
      const session = await page.createCDPSession();
      const features = [{ name: "forced-colors", value: "active" }];
      await session.send("Emulation.setEmulatedMedia", { features });
    },
  },
  {
    name: "Firefox",
    path: firefox,
    launch: () =>
      puppeteer.launch({
        ...PATIENT,
        browser: "firefox",
        executablePath: firefox,
        args: ["--remote-allow-system-access"],
        // As in Safari, a click does not focus a control.
        extraPrefsFirefox: { "accessibility.mouse_focuses_formcontrol": 0 },
      }),
    forceColours: (page) =>
      runInChrome(page, 'Services.prefs.setIntPref("browser.display.document_color_use", 2)'),
    zoomTexts: (page) =>
      runInChrome(
        page,
        "for (const { browsingContext } of gBrowser.browsers) browsingContext.textZoom = 2",
      ),
  },
];

/** Counts the texts that a PDF draws; its objects are compressed. */
function countTexts(pdf: Uint8Array): number {
  const bytes = Buffer.from(pdf);
  let count = 0;
  for (let at = bytes.indexOf("stream"); at !== -1; at = bytes.indexOf("stream", at + 6)) {
    const start = bytes.indexOf("\n", at) + 1;
    try {
      const drawn = inflateSync(bytes.subarray(start, bytes.indexOf("endstream", start)));
      count += drawn.toString("latin1").match(/\bT[jJ]\b/g)?.length ?? 0;
    } catch {
      // An image, or the word itself.
    }
  }
  return count;
}

/** How far the cells of the list lie outside its panel; which layout it has. */
const MEASURE = `(() => {
  const table = document.querySelector(".requests");
  const right = table.closest(".panel").getBoundingClientRect().right;
  const cells = [...table.querySelectorAll("td, .pill, button")];
  const outside = Math.max(...cells.map((cell) => cell.getBoundingClientRect().right - right));
  return { outside: Math.max(0, outside), layout: getComputedStyle(table.querySelector("thead")).display };
})()`;

const READ_COLOURS = `(() => {
  const read = (selector, name) =>
    [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one)[name]);
  return {
    current: read("nav a[aria-current]", "borderBottomColor"),
    others: read("nav a:not([aria-current])", "borderBottomColor"),
    buttons: read("main button", "backgroundColor"),
  };
})()`;

/** Responds as another server, but for the newest feature of the minimum, which it renames. */
async function serveToOldBrowser(url: string, req: IncomingMessage, res: ServerResponse) {
  const response = await fetch(new URL(req.url ?? "", url));
  res.setHeader("Content-Type", response.headers.get("Content-Type") ?? "");
  res.end((await response.text()).replaceAll(/light-dark\(#000\b/g, "unknown(#000"));
}

describe.each(ENGINES)("in $name", (engine) => {
  const { path, name, launch, forceColours, zoomTexts } = engine;
  const { it: itInBrowser } = needs(path !== "", `${name.toLowerCase()} on the PATH`);
  let browser: Browser | undefined;
  let page: Page;
  useConsoles();

  async function openPage(url: string): Promise<Page> {
    browser = await launch();
    page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    await page.setViewport({ width: 1_280, height: 860 });
    await page.goto(url);
    return page;
  }
  const seen = (text: string) => page.waitForSelector(`::-p-text(${text})`);
  const press = (text: string) => page.locator(`::-p-aria(${text}[role="button"])`).click();

  afterEach(async () => {
    await browser?.close();
    browser = undefined;
  });

  itInBrowser("the console works from a new request to a new webhook", async () => {
    const app = await startConsole();
    app.push.onAny(() => {});
    await app.deliver("challenge.denied", { uuid: "first" });
    await openPage(app.url);
    await page.waitForSelector(".requests .line");
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))");
    await page.locator(".requests .toggle").click();
    await page.waitForSelector(".details ::-p-text(response)");
    await page.evaluate("document.activeElement.blur()");
    await app.deliver("factor.created", { uuid: "second" });
    await press("Show 1 new");
    await page.waitForSelector(".requests .line ::-p-text(factor.created)");
    await page.locator(".search").fill("second");
    await press("Find");
    await seen("1 request found.");
    await page.locator("nav a ::-p-text(Webhooks)").click();
    await press("Create webhook");
    await page.locator("[name=friendly_name]").fill("login events");
    await page.locator("dialog .primary").click();
    await page.waitForSelector(".toast ::-p-text(The webhook was created.)");
    expect(await app.upstream.listWebhooks()).toMatchObject([{ friendly_name: "login events" }]);
  });

  itInBrowser("the console fits every request on paper or in texts of twice the size", async () => {
    const app = await startConsole();
    for (let count = 0; count < 44; count++) await app.deliver();
    await openPage(app.url);
    await page.waitForSelector(".requests .line:nth-child(44)");
    // Each row has six texts; all that is around them is fewer than 50.
    const print = async () => countTexts(await page.pdf({ format: "A4" }));
    const rows = await print();
    expect(rows).toBeGreaterThan(3 * 44);
    const toggle = page.locator(".requests .toggle");
    await toggle.click();
    await page.waitForSelector(".details ::-p-text(response)");
    expect(await print()).toBeGreaterThan(rows + 10);
    await toggle.click();
    expect(await page.evaluate(MEASURE)).toEqual({ outside: 0, layout: "block" });
    if (zoomTexts === undefined) return;
    await zoomTexts(page);
    await page.waitForFunction(
      "getComputedStyle(document.querySelector('thead')).display === 'none'",
    );
    expect(await page.evaluate(MEASURE)).toMatchObject({ outside: 0 });
  });

  itInBrowser("one tab and the primary buttons stand out in forced colours", async () => {
    const app = await startConsole();
    app.upstream.createWebhook(WEBHOOK);
    await openPage(`${app.url}#/webhooks`);
    await seen("Delete");
    await forceColours(page);
    await page.waitForFunction("matchMedia('(forced-colors: active)').matches");
    const styles = (await page.evaluate(READ_COLOURS)) as Record<string, string[]>;
    expect(styles.current).toHaveLength(1);
    expect(new Set(styles.others).size).toBe(1);
    expect(styles.others).not.toContain(styles.current?.[0]);
    expect(new Set(styles.buttons).size).toBe(2);
  });

  itInBrowser("the login signs in with the number of the page", async () => {
    const app = await startLoginApp();
    await openPage(app.url);
    await page.locator("[name=user]").fill("ada");
    await page.locator("[name=password]").fill(PASSWORD);
    await page.locator("[type=submit]").click();
    await page.waitForSelector(".question");
    await page.locator(`.question .primary ::-p-text(${app.readNumber()})`).click();
    await page.waitForSelector("#signed-in:not([hidden])");
    await browser?.close();
    await app.stop();
  });

  itInBrowser("an older browser reads which one both pages need", async () => {
    const login = await startLoginApp();
    const app = await startConsole();
    for (const url of [app.url, `${login.url}/`]) {
      const port = await startServer((req, res) => void serveToOldBrowser(url, req, res));
      await openPage(`http://127.0.0.1:${port}${new URL(url).pathname}`);
      await page.waitForFunction("document.readyState === 'complete'");
      const text = await page.evaluate("document.body.innerText");
      expect(text).toContain("needs Chrome 123, Firefox 120 or Safari 17.5.");
      expect(text).not.toMatch(/Loading|Password|JavaScript/);
      await browser?.close();
    }
    await login.stop();
  });

  // Without scripts, WebDriver BiDi reads nothing in Firefox.
  if (name !== "Chromium") return;
  itInBrowser("a browser without scripts reads that the console needs them", async () => {
    const app = await startConsole();
    await openPage("about:blank");
    await page.setJavaScriptEnabled(false);
    await page.goto(app.url);
    await page.waitForSelector("noscript ::-p-text(needs JavaScript)");
    expect(await page.$eval("body", ({ innerText }) => innerText.trim())).toBe(
      "The console needs JavaScript.",
    );
  });
});
