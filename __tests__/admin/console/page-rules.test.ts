/** When the page opens a live stream again. */
import type { Page, Route } from "playwright-core";
import { describeWithBrowser } from "../../support/browser";
import { until } from "../../support/waiting";
import { startConsole } from "./console-app";
import { useConsolePages } from "./console-page";

const { openPage, allowFaults } = useConsolePages();

/** Counts the requests of a path, and responds to each as `respond` does. */
async function intercept(page: Page, path: string, respond: (route: Route) => unknown) {
  let count = 0;
  await page.route(path, (route) => {
    count++;
    return respond(route) as Promise<void>;
  });
  return () => count;
}

describeWithBrowser("the page", () => {
  async function open() {
    const app = await startConsole();
    const page = await openPage(app.url);
    await page.getByText("Live", { exact: true }).waitFor();
    return { app, page };
  }

  it("waits for as long as the Retry-After of a live stream that was rejected", async () => {
    const { app, page } = await open();
    allowFaults(/503|ERR_/);
    const headers = { "retry-after": "60" };
    const count = await intercept(page, "**/console/live*", (route) =>
      route.fulfill({ status: 503, headers, json: { code: "OVERLOADED", message: "Too many." } }),
    );
    await page.clock.install();
    app.server.closeAllConnections();
    await page.clock.runFor(1_000);
    await until(() => count() === 1);
    await page.getByText("Too many.").waitFor();
    await page.clock.runFor(58_000);
    expect(count()).toBe(1);
    await page.clock.runFor(3_000);
    await until(() => count() === 2);
  });

  it("ends its stream while it is hidden, and opens another when it is shown", async () => {
    const { page } = await open();
    const count = await intercept(page, "**/console/live*", (route) => route.continue());
    const show = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"))`);
    // The server ends no stream for its age.
    const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const ended = page.waitForEvent("requestfailed");
    await show(true);
    await ended;
    expect(count()).toBe(0);
    await show(false);
    await until(() => count() === 1);
    now.mockRestore();
  });
});
