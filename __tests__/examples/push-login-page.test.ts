/** The page of examples/push-login in a real browser; push-login.test.ts tests the app behind it. */
import type { Page } from "playwright-core";
import { describeWithBrowser, useBrowser } from "../support/browser";
import { expectGoodLooks } from "../support/page-looks";
import { countTime } from "../support/waiting";
import { PASSWORD, STAFF_KEY, startLoginApp, type LoginApp } from "../support/login-app";

describeWithBrowser("the page of the login", () => {
  let app: LoginApp;

  countTime();
  const { openPage, takeFaults, allowFaults } = useBrowser();
  afterEach(() => app.stop());

  const visible = (page: Page, id: string) => page.waitForSelector(`#${id}:not([hidden])`);
  const approve = (page: Page) => page.click(`.question .primary:text-is("${app.readNumber()}")`);

  async function open(...times: number[]): Promise<Page> {
    app = await startLoginApp(...times);
    const page = await openPage(`${app.url}/`);
    await visible(page, "signed-out");
    await visible(page, "phone");
    return page;
  }

  async function enterPassword(page: Page, user = "ada", password = PASSWORD): Promise<void> {
    await page.fill("[name=user]", user);
    await page.fill("[name=password]", password);
    await page.click("button[type=submit]");
  }

  async function beginLogin(page: Page): Promise<void> {
    await enterPassword(page);
    await visible(page, "waiting");
    await page.waitForSelector(".question");
  }

  it("turns in each tab when the login is cancelled", async () => {
    const page = await open();
    await beginLogin(page);
    await page.reload();
    await visible(page, "waiting");
    const tab = await page.context().newPage();
    await tab.goto(app.url);
    await visible(tab, "waiting");
    await page.click("#cancel");
    for (const one of [page, tab]) await visible(one, "signed-out");
    await page.waitForSelector(".question", { state: "detached" });
    await page.waitForSelector('#phone-status:text-is("No requests")');
  });

  it("turns in each tab when the phone approves", async () => {
    const page = await open();
    await beginLogin(page);
    const tab = await page.context().newPage();
    await tab.goto(app.url);
    await visible(tab, "waiting");
    expect(await page.textContent("#number")).toBe(app.readNumber());
    expect(await page.locator(".question .primary").count()).toBe(3);
    await approve(page);
    for (const one of [page, tab]) await visible(one, "signed-in");
    expect(await page.textContent("#user")).toBe("ada");
    await page.waitForSelector('#phone-status:text-is("You approved the request.")');
    await page.reload();
    await visible(page, "signed-in");
    await page.click("#logout");
    await visible(page, "signed-out");
  });

  it("signs in when it is shown again, after it had no connection while hidden", async () => {
    const page = await open();
    await beginLogin(page);
    const show = (isHidden: boolean) =>
      page.evaluate(`{
        Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"));
      }`);
    const ended = page.waitForEvent("requestfailed", (request) =>
      request.url().endsWith("/login/outcome"),
    );
    await show(true);
    await ended;
    let asked = 0;
    page.on("request", () => void asked++);
    const [sid] = app.challengeSids;
    const path = `${app.url}/phone/challenges/${sid}/${app.readNumber()}`;
    expect((await fetch(path, { method: "POST" })).ok).toBe(true);
    await app.emulator.settled();
    expect(asked).toBe(0);
    await show(false);
    await visible(page, "signed-in");
  });

  it("shows the phone and the login after a proxy had responded with 502", async () => {
    app = await startLoginApp();
    const page = await openPage(`${app.url}/`);
    for (const path of ["/phone/questions", "/login"]) {
      await page.route(app.url + path, (route) => route.fulfill({ status: 502 }), { times: 2 });
    }
    allowFaults(/502/);
    await page.goto(`${app.url}/`);
    await visible(page, "signed-out");
    await visible(page, "phone");
  });

  it("opens the console, which shows the login from waiting to approved", async () => {
    const page = await open();
    const staff = await page.context().newPage();
    await staff.goto(`${app.url}/staff?key=${STAFF_KEY}`);
    await beginLogin(page);
    const opened = page.context().waitForEvent("page");
    await page.click("#console a");
    const console = await opened;
    await console.getByText("Service").first().waitFor();
    await console.getByText(/says pending of YC/).waitFor();
    // A request of the console that is on its way has the session from before the login.
    allowFaults(/403/);
    await approve(page);
    await visible(page, "signed-in");
    await console.locator(".requests .line", { hasText: "challenge.approved" }).waitFor();
  });

  it("says that a number may have been mistaken", async () => {
    const page = await open();
    await beginLogin(page);
    await page.click(`.question .primary:not(:text-is("${app.readNumber()}")) >> nth=0`);
    await page.waitForSelector('#denied:has-text("another number was chosen")');
  });

  it("says that the phone did not respond in time", async () => {
    const page = await open(60_000, 60_000);
    await enterPassword(page);
    await app.passAttempt();
    await visible(page, "expired");
    await expectGoodLooks(page, "login-expired");
  });

  it("signs in after a 202 when the webhook request was lost", async () => {
    const page = await open(60_000, 300);
    await app.loseWebhooks();
    await beginLogin(page);
    await page.waitForResponse((response) => response.status() === 202);
    await approve(page);
    await visible(page, "signed-in");
  });

  it("can be used with the keyboard alone", async () => {
    const page = await open();
    await page.keyboard.type("ada");
    await page.keyboard.press("Tab");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await visible(page, "waiting");
    expect(await page.getAttribute(":focus", "id")).toBe("title");
    await page.waitForSelector(".question");
    for (let presses = 0; presses < 10; presses++) {
      await page.keyboard.press("Tab");
      if ((await page.textContent(":focus")) === app.readNumber()) break;
    }
    await page.keyboard.press("Enter");
    await visible(page, "signed-in");
  });

  it("says why a login was rejected", async () => {
    const page = await open();
    await expectGoodLooks(page, "login-signed-out");
    for (const [user, password, message] of [
      ["bob", PASSWORD, "No phone is registered for this user."],
      ["ada", "wrong", "User or password is wrong."],
    ] as const) {
      await enterPassword(page, user, password);
      await page.waitForSelector(`#form-error:text-is("${message}")`);
    }
    await expectGoodLooks(page, "login-wrong-password");
    // The browser logs the status of each response as an error.
    const faults = ["409", "401"].map((status) => expect.stringContaining(`status of ${status}`));
    expect(takeFaults()).toEqual(faults);
  });

  it("comes back when its connection was lost", async () => {
    const page = await open();
    await beginLogin(page);
    await expectGoodLooks(page, "login-waiting");
    allowFaults(/ERR_/);
    app.server.close();
    app.server.closeAllConnections();
    await page.waitForSelector('#waiting-text:text-is("Connection lost, trying again")');
    await expectGoodLooks(page, "login-lost");
    app.server.listen(Number(new URL(app.url).port), "127.0.0.1");
    await page.waitForSelector('#waiting-text:text-is("Waiting for your response")');
    await page.click(".question .deny");
    await visible(page, "denied");
    await expectGoodLooks(page, "login-denied");
    await page.click("#denied .again");
    await beginLogin(page);
    await approve(page);
    await visible(page, "signed-in");
    await expectGoodLooks(page, "login-signed-in");
  });
});
