/** Two logins that hang; each cause is found, and mended, with the console alone. */
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { CHALLENGE_SID } from "../../support/webhook-requests";
import { silent } from "../../support/durable";
import { itInBrowser } from "../../support/browser";
import { until } from "../../support/waiting";
import { describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { startConsole, type ConsoleApp } from "./console-app";
import { useConsolePages } from "./console-page";

const { openPage, closePage } = useConsolePages();

const JANE = "jane.doe@example.com";

/** Jane logs in, and approves the challenge on her phone. */
const approve = (app: ConsoleApp, signedUrl = app.publicUrl) =>
  app.deliver("challenge.approved", { uuid: "evt-jane-1", entity_identity: JANE }, { signedUrl });

itInBrowser("a login hangs as the publicUrl is not the webhook_url", async () => {
  const app = await startConsole();
  app.push.onAny(() => {});
  const wrong = `${app.publicUrl}/`;
  app.upstream.createWebhook({ friendly_name: "logins", webhook_url: wrong, event_types: ["*"] });
  const login = app.push.waitForChallenge({ challengeSid: CHALLENGE_SID, entityIdentity: JANE });
  expect(await approve(app, wrong)).toBe(403);

  const page = await openPage(app.url);
  const waits = page.locator("dt", { hasText: "Waits" }).locator("+ dd");
  await page.getByRole("searchbox").fill(JANE);
  await page.keyboard.press("Enter");
  await waits.filter({ hasText: ", for " }).waitFor();
  // The link empties the filters that hide its request.
  const filters = [page.getByRole("searchbox"), page.getByRole("combobox", { name: "state" })];
  await filters[0]?.fill("another");
  await filters[1]?.selectOption("accepted");
  await page.getByText("No request matches this filter.").waitFor();
  await page.getByRole("link", { name: "Show the request" }).click();
  const details = page.locator(".details");
  expect(await details.locator(".cause").innerText()).toMatch(/\/, and publicUrl is .* proven$/s);
  for (const filter of filters) expect(await filter.inputValue()).toBe("");
  expect(await details.locator("mark").allInnerTexts()).toEqual(["/"]);
  await details.getByRole("button", { name: "Set webhook_url to publicUrl" }).click();
  await page.locator(".toast", { hasText: "Done: Set webhook_url" }).waitFor();

  expect(app.audits).toMatchObject([{ action: "webhook.update", actor: "alice" }]);
  // The service sends the event again, as it is configured now.
  const [webhook] = await app.upstream.listWebhooks();
  expect(await approve(app, webhook?.webhook_url ?? "")).toBe(200);
  expect((await login).type).toBe("challenge.approved");
  await page.getByRole("searchbox").fill(JANE);
  await page.keyboard.press("Enter");
  await waits.filter({ hasText: "none in process" }).waitFor();
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.locator("article").waitFor();
  expect(await page.locator("nav .pill, article .notice").count()).toBe(0);
});

describeWithRedis("with a queue", () => {
  afterAll(stopRedis);

  itInBrowser("a login hangs as its event became a dead letter", async () => {
    const { url: connection } = await startRedis();
    const retries = { attempts: 2, backoff: 1 };
    const queue = redisQueue({ name: "walkthrough", connection, ...retries, logger: silent });
    await queue.ready();
    const app = await startConsole({ router: { queue }, receiver: { queue } });
    const database: { isUp: boolean; logins: string[] } = { isUp: false, logins: [] };
    const handlers = createHandlers().on("challenge.approved", ({ entity_identity }) => {
      if (!database.isUp) throw new Error(`ECONNREFUSED while writing ${entity_identity}`);
      database.logins.push(entity_identity);
    });
    const worker = queue.work(handlers);
    expect(await approve(app)).toBe(200);

    const page = await openPage(app.url);
    await page.getByRole("searchbox", { name: "Find by identity" }).fill("evt-jane-1");
    await page.locator(".requests .line").click();
    const details = page.locator(".details");
    await details.getByText("dead", { exact: true }).first().waitFor();
    const failed = details.locator("dt", { hasText: /^(failed|dead)$/ }).locator("+ dd");
    const masked = expect.stringContaining("ECONNREFUSED while writing <entity_identity>");
    await until(async () => (await failed.count()) === 2);
    expect(await failed.allInnerTexts()).toEqual([masked, masked]);
    await details.getByRole("link", { name: "Show the dead letter" }).click();
    const deadLetter = page.locator(".dead-letter[aria-current]", { hasText: "evt-jane-1" });
    await deadLetter.waitFor();
    expect(await page.content()).not.toContain(JANE);
    database.isUp = true;
    await deadLetter.getByRole("button", { name: "Retry" }).click();
    await page.getByText("No dead letters.").waitFor();
    await page.goBack();
    await details.getByText("handled", { exact: true }).first().waitFor();
    expect(database.logins).toEqual([JANE]);
    await closePage();
    await worker.close();
    await queue.close();
  });
});
