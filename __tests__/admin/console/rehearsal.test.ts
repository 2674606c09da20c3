/** The button of the console that rehearses a login, in Chromium. */
import { itInBrowser } from "../../support/browser";
import { startConsole } from "./console-app";
import { useConsolePages } from "./console-page";

const { openPage } = useConsolePages();

itInBrowser("a rehearsal shows a row for each link", async () => {
  const app = await startConsole({ receiver: { confirm: () => true } });
  app.push.on("challenge.approved", () => {});
  const page = await openPage(app.url);
  await page.getByRole("button", { name: "Rehearse a login" }).click();
  const dialog = page.getByRole("dialog");
  const start = dialog.getByRole("button", { name: "Start the rehearsal" });
  await start.click();
  await dialog.getByText("Create one with webhooks.ensure()").waitFor();
  expect(await dialog.locator(".pill.bad").count()).toBe(1);

  app.upstream.createWebhook({ webhook_url: app.publicUrl, event_types: ["challenge.approved"] });
  await start.click();
  await page.locator(".toast", { hasText: "The login succeeded." }).waitFor();
  expect(await dialog.locator(".pill.good").count()).toBe(16);
  const entry = { action: "rehearsal.run", actor: "alice", status: 200 };
  expect(app.audits).toMatchObject([{ ...entry, code: "REHEARSAL_FAILED" }, entry]);
});
