/** Questions of an on-call engineer (docs/admin.md) whose answers no test of admin/console reads. */
import type { NewEntry } from "../../lib/core/journal/journal";
import { startConsole, stopClock } from "../admin/console/console-app";
import { press, useConsolePages } from "../admin/console/console-page";
import { createMemoryQueue } from "../admin/console/memory-queue";
import { describeWithBrowser } from "../support/browser";
import { ACCOUNT_SID } from "../support/webhook-requests";

const { openPage } = useConsolePages();
const entity_identity = "jane-doe-1985";
const ATTACKER = { "User-Agent": "sqlmap/1.8", "X-Forwarded-For": "203.0.113.9" };

/** Opens a console after a second build, which made the signature of a login wrong; an event is dead. */
async function open() {
  const queue = createMemoryQueue(["down", "down"]);
  const store = { ...queue, store: async () => "new", outcomes: {} };
  const app = await startConsole({ router: { queue }, receiver: { queue: store as never } });
  const append = (entry: object) =>
    queue.journal?.append({ atMs: Date.now() + 1, share: "", ...entry } as NewEntry);
  process.env.PUSH_BUILD = "release-7";
  append({ kind: "start" });
  await app.deliver(undefined, { uuid: "uuid-1", entity_identity });
  const step = { kind: "step", uuid: "uuid-1", accountSid: ACCOUNT_SID, attempt: 8 };
  append({ ...step, what: "dead", error: "down" });
  append({ ...step, what: "retried", by: "grace" });
  append({ ...step, what: "dead", error: "down" });
  process.env.PUSH_BUILD = "release-8";
  append({ kind: "start" });
  const challenge_sid = app.upstream.createChallenge(entity_identity);
  const sending = { signedUrl: `${app.publicUrl}/`, headers: ATTACKER };
  await stopClock(() => app.deliver(undefined, { challenge_sid, entity_identity }, sending));
  delete process.env.PUSH_BUILD;
  const page = await openPage(app.url);
  await page.getByText("Up to date").waitFor();
  return { app, page, queue, challenge_sid };
}

describeWithBrowser("the console answers", () => {
  it("which build made signatures fail", async () => {
    const { page } = await open();
    const notice = page.locator("summary", { hasText: "had a wrong signature, the first at" });
    expect(await notice.innerText()).toContain(" in build release-8.");
    const builds = page.locator(".chart small", { hasText: "Builds" });
    expect(await builds.innerText()).toMatch(/release-7 since .*release-8 since /);
  });

  it("who sends what is rejected", async () => {
    const { page } = await open();
    await page.getByText("1 rejected request by sender, 1 in the last 5 minutes").click();
    const sender = page.locator("dd", { hasText: "sqlmap/1.8" }).first();
    expect(await sender.innerText()).toMatch(/^1 request, the last .*, 203\.0\.113\.9, sqlmap/);
  });

  it("what the service says of a login", async () => {
    const { page, challenge_sid } = await open();
    await page.getByRole("searchbox").fill(entity_identity);
    await page.keyboard.press("Enter");
    const said = `says pending of ${challenge_sid}; 1 webhook request of it arrived, 1 rejected or failed`;
    await page.locator("dd", { hasText: said }).waitFor();
  });

  it("who ran an event again", async () => {
    const { page } = await open();
    await page.locator(".requests .line", { hasText: "200 dead" }).click();
    await page.locator(".details dt", { hasText: "retried" }).waitFor();
    await page.locator(".details dd", { hasText: "by grace" }).waitFor();
  });

  it("whose dead letter it is", async () => {
    const { page } = await open();
    await page.getByRole("link", { name: /^Queue/ }).click();
    await page.locator("article summary").first().click();
    await page.locator(".dead-letter p:first-child a").first().click();
    await page.waitForURL(/q=[0-9a-f]{8}$/);
  });

  it("what a worker would run again", async () => {
    const { page, queue } = await open();
    await press(page, /^Run 1 failed since/);
    const dialog = page.locator("dialog", { hasText: "discarded meanwhile is left out" });
    const facts = await dialog.locator(".facts").innerText();
    expect(facts).toMatch(/Users\s+1\s+Received\s+.* to .*\s+1 ×\s+.*down/s);
    await press(page, "Run again", true);
    await page.locator(".toast", { hasText: "1 event given to a worker." }).waitFor();
    expect(queue.changes).toEqual(["retry uuid-1"]);
  });
});
