/** The page of examples/push-login in a real browser. */
import type { Page } from "playwright-core";
import { describeWithBrowser, useBrowser } from "../support/browser";
import { expectGoodLooks } from "../support/page-looks";
import { PASSWORD, startLoginApp, type LoginApp } from "../support/login-app";

describeWithBrowser("the page of the login", () => {
  let app: LoginApp;

  const { openPage, takeFaults, allowFaults } = useBrowser();
  beforeEach(async () => {
    app = await startLoginApp();
  });
  afterEach(() => app.stop());

  const visible = (page: Page, id: string) => page.waitForSelector(`#${id}:not([hidden])`);

  async function open(): Promise<Page> {
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

  const approve = (page: Page) => page.click(`.question .primary:text-is("${app.readNumber()}")`);

  it("turns when the phone approves", async () => {
    const page = await open();
    await beginLogin(page);
    const number = await page.textContent("#number");
    expect(app.readNumber()).toBe(number);
    expect(await page.locator(".question .primary").count()).toBe(3);
    await approve(page);
    await visible(page, "signed-in");
    expect(await page.textContent("#user")).toBe("ada");
    await page.waitForSelector(".question", { state: "detached" });
    await page.waitForSelector('#phone-status:text-is("You approved the request.")');
    await page.reload();
    await visible(page, "signed-in");
    await page.click("#logout");
    await visible(page, "signed-out");
  });

  it("says that the phone did not respond in time", async () => {
    await app.stop();
    app = await startLoginApp(2_000);
    const page = await open();
    await enterPassword(page);
    await visible(page, "expired");
    await expectGoodLooks(page, "login-expired");
  });

  it("goes on waiting after a reload, and can be cancelled in each tab", async () => {
    const page = await open();
    await beginLogin(page);
    await page.reload();
    await visible(page, "waiting");
    const tab = await page.context().newPage();
    await tab.goto(`${app.url}/`);
    await visible(tab, "waiting");
    await page.click("#cancel");
    await visible(page, "signed-out");
    await visible(tab, "signed-out");
    await page.waitForSelector(".question", { state: "detached" });
    await page.waitForSelector('#phone-status:text-is("No requests")');
  });

  it("turns in a second tab too", async () => {
    const page = await open();
    await beginLogin(page);
    const tab = await page.context().newPage();
    await tab.goto(`${app.url}/`);
    await visible(tab, "waiting");
    await approve(page);
    await visible(page, "signed-in");
    await visible(tab, "signed-in");
  });

  it("goes on waiting after each 202, and signs in when the webhook request was lost", async () => {
    await app.stop();
    app = await startLoginApp(60_000, 300);
    await app.loseWebhooks();
    const page = await open();
    await beginLogin(page);
    await page.waitForResponse((response) => response.status() === 202);
    await approve(page);
    await visible(page, "signed-in");
  });

  it.each([
    ["ada", "wrong", "User or password is wrong."],
    ["bob", PASSWORD, "No phone is registered for this user."],
  ])(
    "shows why the login of %s with %s was rejected",
    async (user, password, message) => {
      const page = await open();
      await enterPassword(page, user, password);
      await page.waitForSelector(`#form-error:text-is("${message}")`);
      // The browser logs the status of the response as an error.
      expect(takeFaults()).toEqual([expect.stringMatching(/status of 40[19]/)]);
    },
    30_000,
  );

  it("says that the connection is lost, and comes back", async () => {
    const page = await open();
    await beginLogin(page);
    allowFaults(/ERR_/);
    app.server.close();
    app.server.closeAllConnections();
    await page.waitForSelector('#waiting-text:text-is("Connection lost, trying again")');
    await expectGoodLooks(page, "login-lost");
    app.server.listen(Number(new URL(app.url).port), "127.0.0.1");
    await page.waitForSelector('#waiting-text:text-is("Waiting for your response")');
    const sid = app.challengeSids.at(-1) ?? "";
    app.emulator.approveChallenge(sid);
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

  it("has no violation of accessibility rules in any state", async () => {
    const page = await open();
    await expectGoodLooks(page, "login-signed-out");
    await enterPassword(page, "ada", "wrong");
    await page.waitForSelector("#form-error:not(:empty)");
    await expectGoodLooks(page, "login-wrong-password");
    expect(takeFaults()).toEqual([expect.stringContaining("status of 401")]);
    await beginLogin(page);
    await expectGoodLooks(page, "login-waiting");
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
