/** The page of a console whose session has ended: it never claims that something has succeeded. */
import type { RequestHandler, Response } from "express";
import { describeWithBrowser } from "../../support/browser";
import { startConsole } from "./console-app";
import { press, submit, useConsolePages } from "./console-page";
import { createMemoryQueue } from "./memory-queue";

const { openPage, allowFaults } = useConsolePages();

const SIGNED_OUT = "You are signed out, or may not see this.";

const RESPONSES: [name: string, respond: (res: Response) => unknown][] = [
  ["a redirect to its login", (res) => res.redirect("/login")],
  ["the page of its login", (res) => res.send("<!doctype html><title>Sign in</title>")],
  ["200 and JSON of its own", (res) => res.json({ isSignedIn: false })],
  ["401", (res) => res.status(401).json({ error: "unauthorized" })],
  ["403", (res) => res.status(403).send("Forbidden")],
  ["FORBIDDEN", (res) => res.status(403).set("Push-Console", "1").json({ code: "FORBIDDEN" })],
];

describeWithBrowser("a console whose app responds to a session that has ended with", () => {
  it.each(RESPONSES)("%s", async (_name, respond) => {
    let isOver = false;
    // The browser itself asks for the icon again.
    const guard: RequestHandler = ({ path }, res, next) =>
      void (isOver && !path.endsWith(".svg") ? respond(res) : next());
    const router = { before: [guard], queue: createMemoryQueue(["down"]) };
    const app = await startConsole({ router });
    const page = await openPage(`${app.url}#/webhooks`);
    await press(page, "Create webhook");
    await page.getByLabel("Name", { exact: true }).fill("login events");
    await page.getByLabel("* all events").check();
    // The browser logs the statuses.
    allowFaults(/status of 40[13]/);
    isOver = true;
    await submit(page);
    const refused = page.getByText("You are signed out, or may not do this.", { exact: true });
    await refused.waitFor();
    await page.locator("dialog .notice", { hasText: SIGNED_OUT }).waitFor();
    expect(await page.locator("#announcer").textContent()).not.toContain("created");
    await press(page, "Cancel");
    for (const tab of ["Receiver", "Keys", "Webhooks", "Queue"]) {
      await page.getByRole("link", { name: new RegExp(`^${tab}`) }).click();
      await page.locator("main > .notice", { hasText: SIGNED_OUT }).waitFor();
      expect(await page.getByText("Up to date").count()).toBe(0);
    }
    await press(page, "Retry", true);
    await refused.waitFor();
    isOver = false;
    await page.locator("main > .notice", { hasText: SIGNED_OUT }).waitFor({ state: "detached" });
    await page.getByText("Up to date").waitFor();
    expect(await app.upstream.listWebhooks()).toEqual([]);
  });
});
