import type { Locator, Page } from "playwright-core";
import { useBrowser } from "../../support/browser";
import { AUTH_TOKEN } from "../../support/webhook-requests";
import { startConsole, useConsoles, type ConsoleOptions } from "./console-app";

/** Registers the browser of a test file, and the consoles that it shows. */
export function useConsolePages() {
  const browser = useBrowser();
  useConsoles();

  async function openConsole(at = "", options: ConsoleOptions = {}) {
    const app = await startConsole(options);
    const page = await browser.openPage(app.url + at);
    await page.getByText("Up to date").waitFor();
    return { app, page };
  }
  return { ...browser, openConsole };
}

export const press = (page: Page, name: string | RegExp, exact = false) =>
  page.getByRole("button", { name, exact }).first().click();

/** Waits for a text that a screen reader says. */
export const said = (page: Page, text: string) =>
  page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });

export const submit = (page: Page) => page.locator("dialog:modal button.primary").click();

/** Lets a page ask nothing by itself. */
export const hide = (page: Page) =>
  page.evaluate('Object.defineProperty(document, "hidden", { value: true, writable: true })');

/** Reads names and their values. */
export async function readFacts(within: Locator) {
  const names = await within.locator("dt").allInnerTexts();
  const texts = await within.locator("dd").allInnerTexts();
  return Object.fromEntries(names.map((name, index) => [name, texts[index]?.trim()]));
}

export const OLD_TOKEN = "0".repeat(32);

export const ROTATING = { receiver: { name: "shop", authToken: [AUTH_TOKEN, OLD_TOKEN] } };
