/** A real browser whose pages fail a test when they break a rule of every page. */
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";

const executablePath = process.env.PUSH_TEST_CHROMIUM ?? "";

/** Tests that need a browser; skipped, and counted, where there is none. */
export const describeWithBrowser = executablePath === "" ? describe.skip : describe;

let browser: Browser | undefined;
const contexts: BrowserContext[] = [];
const faults: string[] = [];

/** Starts the browser; call it in beforeAll. */
export async function startBrowser(): Promise<void> {
  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

export async function stopBrowser(): Promise<void> {
  await browser?.close();
}

/** Closes every page; call it in afterEach, before the servers stop. */
export async function closePages(): Promise<void> {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  takeFaults();
}

/** Allows messages of the browser that a test provokes: it gets those since, and may check them. */
export function takeFaults(): string[] {
  return faults.splice(0);
}

/** Fails when a page broke a rule: an error in its console, a violation, another origin. */
export function expectNoFaults(): void {
  expect(takeFaults()).toEqual([]);
}

export type PageOptions = Pick<
  BrowserContextOptions,
  "colorScheme" | "viewport" | "reducedMotion" | "permissions" | "timezoneId"
>;

/** Opens a page in a context of its own, and watches what it does. */
export async function openPage(url: string, options: PageOptions = {}): Promise<Page> {
  if (browser === undefined) throw new Error("call startBrowser() in beforeAll");
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    timezoneId: "UTC",
    ...options,
  });
  contexts.push(context);
  // Below the time-out of a test, so that the message names what was waited for.
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const { origin } = new URL(url);
  page.on("console", (message) => {
    // Violations of the Content-Security-Policy are errors of the console, too.
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(`${error.name}: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`other origin: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

/** The folder of the screenshots: PUSH_TEST_SHOTS, or one beside the temporary files. */
const shotsFolder = process.env.PUSH_TEST_SHOTS ?? join(tmpdir(), "push-test-shots");

/** Writes a screenshot of the whole page, for people to look at, once its animations ended. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(shotsFolder, { recursive: true });
  await page.screenshot({
    path: join(shotsFolder, `${name}.png`),
    fullPage: true,
    animations: "disabled",
  });
}

/** Names the folder of the screenshots in the output of the run; call it in afterAll. */
export function reportScreenshots(): void {
  if (executablePath !== "") console.log(`Screenshots: ${shotsFolder}`);
}

const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Returns the violations that axe-core finds on a page, as `rule: element`. */
export async function findViolations(page: Page): Promise<string[]> {
  // Not a script element: the policy of the page forbids it.
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(): Promise<{
          violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
        }>;
      };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}
