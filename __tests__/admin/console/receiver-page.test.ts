import type { Page } from "playwright-core";
import { describeWithBrowser } from "../../support/browser";
import { ACCOUNT_SID, CHALLENGE_SID, FACTOR_SID } from "../../support/webhook-requests";
import { startServer } from "../../support/servers";
import { until } from "../../support/waiting";
import { readRows, startConsole, stopClock } from "./console-app";
import { hide, OLD_TOKEN, press, readFacts, ROTATING, said, useConsolePages } from "./console-page";

const { openConsole, openPage, allowFaults } = useConsolePages();
const JANE = { uuid: "a", entity_identity: "jane.doe@example.com" };

/** Lasts as long as five polls. */
const PASS_POLLS = `new Promise((resolve) => {
  let count = 0;
  const timer = setInterval(() => ++count === 5 && resolve(clearInterval(timer)), 3_000);
})`;

async function expectNoPolls(page: Page): Promise<void> {
  let asked = 0;
  page.on("request", (request) => void (asked += Number(request.url().endsWith("/view"))));
  await page.evaluate(PASS_POLLS);
  expect(asked).toBe(0);
}

describeWithBrowser("the receiver's page", () => {
  it("shows each request with its type, version, attempt and token", async () => {
    const { app, page } = await openConsole("", ROTATING);
    await page.locator("h1", { hasText: "shop" }).waitFor();
    await page.getByText(`The receiver expects them at ${app.publicUrl}.`).waitFor();
    await app.deliver("challenge.approved", JANE);
    const lines = page.locator(".requests .line");
    const line = lines.first();
    const shows = (tone: string, text: string) =>
      line
        .and(page.locator(`.${tone}`))
        .getByText(text)
        .waitFor();
    await shows("good", "200 handled");
    expect(await line.innerText()).toMatch(
      /^\s*\d\d:\d\d:\d\d\.\d{3}\s+challenge\.approved v2 · token 1 of 2\s+jan…com [0-9a-f]{8}\s+200 handled\s+[\d.,]+ ms/,
    );
    await app.deliver("challenge.approved", JANE);
    await shows("warn", "200 duplicate");
    await line.getByText("attempt 2").waitFor();
    await app.deliver("challenge.approved", { ...JANE, entity_identity: "another" });
    await shows("warn", "200 conflict");
    await page.locator(".card", { hasText: "Duplicates" }).getByText("1 conflict").waitFor();
    await page.getByText("token 1: 3 requests, the last at").waitFor();
    const account_sid = `AC${"7".repeat(32)}`;
    await app.deliver("factor.verified", { account_sid }, { version: "v1", authToken: OLD_TOKEN });
    await line.getByText("factor.verified v1 · token 2 of 2").waitFor();
    const rotation = `${account_sid}: token 1: 0 requests; token 2: 1 request, the last at`;
    await page.getByText(rotation).waitFor();
    await app.deliver(undefined, { challenge_hidden_details: "AccountSid=" });
    await shows("bad", "not readable");
    await line.click();
    expect(await readFacts(page.locator(".details"))).toMatchObject({
      uuid: expect.stringMatching(/ Copy$/),
      Account: `${ACCOUNT_SID} Copy`,
      Factor: `${FACTOR_SID} Copy`,
      Challenge: `${CHALLENGE_SID} Copy`,
      User: expect.stringMatching(/^[0-9a-f]{8}$/),
      Sender: "127.0.0.1, node",
      Receiver: "shop",
      Process: expect.stringMatching(" on "),
      response: expect.stringMatching(", 400 PAYLOAD_AMBIGUOUS, after .* ms"),
    });
    await page.locator(".cards", { hasText: /^Received5in.*Handled2Dup/ }).waitFor();
    await page.locator(".card:has(.bad)", { hasText: "1 × PAYLOAD_AMBIGUOUS" }).waitFor();
    await page.locator(".bar", { hasText: /Up to date\s*read \d s ago/ }).waitFor();
    await page.getByText(/^of process \d+ on .*, since /).waitFor();
  });

  it("has no receiver's page without a receiver", async () => {
    const { url } = await startConsole({ router: { receiver: undefined } });
    const page = await openPage(url);
    await page.getByText("The service has no webhook yet.").waitFor();
    expect(await page.locator("nav a").allInnerTexts()).toEqual(["Webhooks", "Keys"]);
    expect(await page.locator(".bar p, main .notice").count()).toBe(0);
  });

  it("has one notice for each cause of a wrong signature", async () => {
    const { app, page } = await openConsole();
    const notice = (cause: string, title: string) =>
      page.locator(".notice", { hasText: cause }).getByText(title).waitFor();
    const forwarded = { "x-forwarded-for": "10.0.0.1" };
    // One of a sender is explained in a minute.
    const deliver = (sending: object, agent: string) =>
      stopClock(() =>
        app.deliver(undefined, {}, { ...sending, headers: { ...forwarded, "user-agent": agent } }),
      );
    await deliver({ signedUrl: `${app.publicUrl}/` }, "a");
    await notice("/, and publicUrl is", "1 request had a wrong signature, the first at");
    for (const agent of ["b", "b", "b"]) await deliver({ authToken: "f".repeat(32) }, agent);
    await page.getByText("2 problems").click();
    await notice("Nothing is proven", "1 request and 2 alike had a wrong signature, the first at");
    await notice("/, and publicUrl is", "1 request had a wrong signature, the first at");
    const rejected = page.locator("details", { hasText: "rejected requests by sender" });
    expect(await rejected.textContent()).toMatch(
      /^4 rejected .* 4 in the last 5 minutesSIGNATURE_MISMATCH4, 4 in .*127\.0\.0\.13 requests, .*, 10\.0\.0\.1, b 127\.0\.0\.11 request, .* a $/,
    );
    // What is proven comes first.
    const [first] = await page.locator("details .notice").allInnerTexts();
    expect(first).toContain("/, and publicUrl is");
    await page.getByRole("link", { name: "Nothing is proven" }).click();
    await page.locator(".cause", { hasText: "likely" }).waitFor();
    for (const text of ["Fingerprint of the token", "Less likely causes"]) {
      await page.locator(".details").getByText(text).waitFor();
    }
  });

  it("recovers from a lost connection", async () => {
    const { app, page } = await openConsole();
    allowFaults(/ERR_/);
    await app.stop();
    const lost = page.getByText("Connection lost, trying again");
    await lost.waitFor();
    await page.getByText(/read [1-9]\d* s ago/).waitFor();
    app.server.listen(Number(new URL(app.url).port), "127.0.0.1");
    await app.deliver();
    await page.getByText("Up to date").waitFor();
    await page.getByText("200 handled").waitFor();
    // A response that never ends.
    const expire = "(ms) => (ms === 60_000 ? AbortSignal.abort() : undefined)";
    await page.evaluate(`AbortSignal.timeout = ${expire}`);
    await lost.waitFor();
  });

  it("shows each failed poll until one succeeds", async () => {
    const { page } = await openConsole();
    allowFaults(/status of/);
    for (const [response, text] of [
      [{ status: 404, json: { code: "X", message: "Down" } }, "Down (X)"],
      [{ status: 403, headers: { "Push-Console": "1" }, json: { code: "Y" } }, "403. (Y)"],
      [{ status: 429, body: "" }, "The server receives too many requests."],
      [{ status: 404, body: "" }, "The console is not at this address any more."],
      [{ status: 502, body: "<html>" }, "The server responded 502. (502)"],
    ] as const) {
      await page.route("**/console/view", (route) => route.fulfill(response));
      await page.locator(".bar .pill.bad").getByText(text).waitFor();
      await page.unroute("**/console/view");
      await page.getByText("Up to date").waitFor();
    }
    await page.evaluate("void Promise.reject(Error('status of the page'))");
    await said(page, "The page itself failed. Reload it.");
    await page.route("**/console/view", (route) => route.fulfill({ status: 401 }), { times: 1 });
    await hide(page);
    await page.evaluate("location.hash = '#/requests/1'");
    await page.locator(".bar").getByText("Signed out", { exact: true }).waitFor();
    await press(page, "Sign in again");
    await page.getByText("Up to date").waitFor();
  });

  it("asks no earlier than Retry-After says", async () => {
    const { page } = await openConsole();
    allowFaults(/status of 429/);
    const headers = { "Retry-After": "1000" };
    await page.route("**/console/view", (route) => route.fulfill({ status: 429, headers }));
    await page.getByText("The server receives too many requests.").waitFor();
    await expectNoPolls(page);
    // It counts on by itself.
    await page.getByText(/read ([3-9]|\d\d) s ago/).waitFor();
  });

  it("asks nothing while it is hidden", async () => {
    const { page } = await openConsole();
    await hide(page);
    await expectNoPolls(page);
    const poll = page.waitForRequest("**/console/view");
    await page.evaluate("for (let id = 0; id < 999; id++) clearInterval(id)");
    await page.evaluate(
      "document.hidden = false; document.dispatchEvent(new Event('visibilitychange'))",
    );
    await poll;
  });

  it("is used with the keyboard", async () => {
    const app = await startConsole();
    await app.deliver("challenge.denied");
    await app.deliver();
    const page = await openPage(app.url);
    await page.getByText("200 handled").first().waitFor();
    // A page that moved by the link would lose the next click.
    const header = page.locator("header");
    const before = await header.boundingBox();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.id")).toBe("skip");
    expect(await header.boundingBox()).toEqual(before);
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
    const focused = page.locator(".toggle:focus");
    for (let count = 0; count < 24 && (await focused.count()) === 0; count++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    expect(await focused.getAttribute("aria-expanded")).toBe("true");
    await page.locator(".details").getByText("uuid", { exact: true }).first().waitFor();
    await page.keyboard.press("Enter");
    expect(await focused.getAttribute("aria-expanded")).toBe("false");
    await page.locator(".details").waitFor({ state: "detached" });
    // The button of a row is its only stop.
    await page.keyboard.press("Tab");
    await page
      .getByRole("button", { name: /^Details of .*challenge.denied/ })
      .and(focused)
      .waitFor();
    await page.getByRole("link", { name: "Keys" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("h2:focus", { hasText: "Keys" }).waitFor({ state: "attached" });
    expect(await page.title()).toBe("Keys · Push webhooks");
    expect(await page.locator("nav [aria-current=page]").innerText()).toBe("Keys");
  });

  it.each([
    ["%", CHALLENGE_SID, "was not asked: enter <challenge SID> <identity>"],
    ["7", "nobody-here", "knows no such challenge of this user"],
  ])("has an address that may name a request that is gone: %s", async (id, text, untold) => {
    const { page } = await openConsole(`#/requests/${id}?q=${text}`);
    await page.getByText("The request of the link is not in the history.").waitFor();
    await page.getByText(`The service ${untold}`).waitFor();
  });

  it("has an address that leads to a request far below", async () => {
    const app = await startConsole();
    const endOfYesterday = new Date().setUTCHours(0, 0, 0, 0) - 1;
    const yesterday = jest.spyOn(Date, "now").mockReturnValue(endOfYesterday);
    await app.deliver();
    await until(async () => (await readRows(app)).length === 1);
    yesterday.mockRestore();
    const signedUrl = `${app.publicUrl}/`;
    await app.deliver(undefined, {}, { signedUrl });
    for (let count = 0; count < 40; count++) await app.deliver();
    const page = await openPage(app.url);
    const lines = page.locator(".requests .line");
    const time = lines.last().locator("td.time");
    await time.getByText(/^\d+ [A-Z][a-z]+, \d\d:\d\d:\d\d\.\d{3}$/).waitFor();
    await lines.nth(40).scrollIntoViewIfNeeded();
    const look = () => Promise.all([lines.nth(40).boundingBox(), page.evaluate("history.length")]);
    const place = await look();
    await lines.nth(40).click();
    await page.locator(".details").getByText("proven").waitFor();
    expect(await look()).toEqual(place);
    await page.evaluate("scrollTo(0, 0)");
    await page.reload();
    await until(() => page.evaluate("scrollY > 1000"));
    await page.locator(".toggle:focus[aria-expanded=true]").waitFor();

    // It grows until its details are loaded.
    await page.locator(".details dt", { hasText: "response" }).waitFor();
    const open = page.locator(".requests .line.open");
    const before = await open.boundingBox();
    for (let count = 0; count < 200; count++) await app.deliver("factor.verified");
    await page.getByRole("button", { name: "Show 200 new" }).waitFor();
    expect(await open.boundingBox()).toEqual(before);
    // It is not among the newest any more, and is shown above them.
    await press(page, "Show 200 new");
    await lines.nth(1).getByText("factor.verified").waitFor();
    await page.getByText("The newest 200 of 242.").waitFor();
    expect(await lines.first().getAttribute("class")).toContain("open");
    await page.locator(".details").getByText("proven").waitFor();
    await lines.first().click();
    await lines.first().getByText("factor.verified").waitFor();
  });

  it("works behind a proxy that rewrites its address", async () => {
    const app = await startConsole({ mount: "/a/:tenant/b" });
    const port = await startServer((req, res) => {
      req.url = req.url?.replace("/tools/of/staff/b", "/a/blue/b");
      app.server.emit("request", req, res);
    });
    const page = await openPage(`http://127.0.0.1:${port}/tools/of/staff/b`);
    await page.getByText("Up to date").waitFor();
    await app.deliver();
    await page.getByText("200 handled").waitFor();
    for (let index = 0; index < 125; index++) app.upstream.createKey(`deploy ${index}`);
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("deploy 124").waitFor();
    await page.getByText("deploy 0", { exact: true }).waitFor();
  });

  it("shows a row for each link of a rehearsal", async () => {
    const { app, page } = await openConsole("", { receiver: { confirm: () => true } });
    app.push.on("challenge.approved", () => {});
    await press(page, "Rehearse a login");
    const dialog = page.getByRole("dialog");
    const start = dialog.getByRole("button", { name: "Start the rehearsal" });
    allowFaults(/status of 503/);
    await page.route("**/rehearsal", (route) => route.fulfill({ status: 503 }), { times: 1 });
    await start.click();
    await dialog.getByRole("alert").waitFor();
    await start.click();
    await dialog.getByText("Create one with webhooks.ensure()").waitFor();
    await said(page, "The login failed.");
    expect(await dialog.locator(".pill.bad").allInnerTexts()).toEqual(["failed"]);
    expect(await dialog.locator(".pill.off").count()).toBeGreaterThan(9);

    app.upstream.createWebhook({ webhook_url: app.publicUrl, event_types: ["challenge.approved"] });
    await start.click();
    await page.locator(".toast", { hasText: "The login succeeded." }).waitFor();
    expect(await dialog.locator(".pill.good").count()).toBe(16);
  });
});
