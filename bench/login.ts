/**
 * The login of examples/push-login in Chromium: from the click on Approve to the frame that shows
 * the signed-in page.
 *
 * npx tsx bench/login.ts [runs]
 */
import { chromium, type Page } from "playwright-core";
import { PASSWORD, startLoginApp } from "../__tests__/support/login-app";
import { percentile } from "./durable/processes";

// Finds Chromium and builds the page of the console, as before the tests.
const prepare = require("../__tests__/support/prepare") as () => void;

const [, , runs = "50"] = process.argv;
const WARM_UP_RUNS = 5;

/** A script of the page: a promise of the time from the next click until the page has turned. */
const MEASURE = `globalThis.turned = new Promise((resolve) => {
  const signedIn = document.getElementById("signed-in");
  let clickedAtMs;
  addEventListener("click", ({ timeStamp }) => (clickedAtMs = timeStamp), { capture: true, once: true });
  const observer = new MutationObserver(() => {
    if (signedIn.hidden) return;
    observer.disconnect();
    // A task after the animation frame: the browser has drawn the page by then.
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - clickedAtMs)));
  });
  observer.observe(signedIn, { attributeFilter: ["hidden"] });
}); undefined`;

async function main(): Promise<void> {
  prepare();
  const executablePath = process.env.PUSH_TEST_CHROMIUM ?? "";
  if (executablePath === "") {
    throw new Error("There is no Chromium: put it on the PATH, or set CHROMIUM_PATH.");
  }
  const app = await startLoginApp();
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
  const page = await browser.newPage();
  await page.goto(app.url);

  const timesMs: number[] = [];
  for (let run = 0; run < WARM_UP_RUNS + Number(runs); run++) {
    const timeMs = await signIn(page);
    if (run >= WARM_UP_RUNS) timesMs.push(timeMs);
  }
  const [p50, p99] = [percentile(timesMs, 0.5), percentile(timesMs, 0.99)];
  console.log(`${timesMs.length} logins, Approve to page turned: p50 ${p50} ms, p99 ${p99} ms`);
  await browser.close();
  await app.stop();
}

/** Signs in and out; returns the time from Approve to the signed-in page, in milliseconds. */
async function signIn(page: Page): Promise<number> {
  await page.fill("[name=user]", "ada");
  await page.fill("[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForSelector("#waiting:not([hidden])");
  await page.waitForSelector(".question .primary");
  await page.evaluate(MEASURE);
  await page.click(`.question .primary:text-is("${await page.textContent("#number")}")`);
  const timeMs = Number(await page.evaluate("turned"));
  await page.waitForSelector(".question", { state: "detached" });
  await page.click("#logout");
  await page.waitForSelector("#signed-out:not([hidden])");
  return timeMs;
}

void main();
