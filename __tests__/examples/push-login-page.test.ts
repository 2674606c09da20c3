/** The page of examples/push-login in a real browser. */
import type { Page } from "playwright-core";
import {
  closePages,
  describeWithBrowser,
  expectNoFaults,
  findViolations,
  openPage,
  reportScreenshots,
  startBrowser,
  stopBrowser,
  takeFaults,
  takeScreenshot,
  type PageOptions,
} from "../support/browser";
import { PASSWORD, startLoginApp, type LoginApp } from "../support/login-app";

const PHONE_WIDTH = { width: 390, height: 844 };

describeWithBrowser("the page of the login", () => {
  let app: LoginApp;

  beforeAll(startBrowser, 30_000);
  afterAll(async () => {
    await stopBrowser();
    reportScreenshots();
  });
  beforeEach(async () => {
    app = await startLoginApp();
  });
  afterEach(async () => {
    await closePages();
    await app.stop();
  });

  const visible = (page: Page, id: string) => page.waitForSelector(`#${id}:not([hidden])`);

  async function open(options?: PageOptions): Promise<Page> {
    const page = await openPage(`${app.url}/`, options);
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

  it("turns when the phone approves", async () => {
    const page = await open();
    await beginLogin(page);
    const number = await page.textContent("#number");
    expect(await page.textContent(".question dd:last-child")).toBe(number);
    await page.click(".question .primary");
    await visible(page, "signed-in");
    expect(await page.textContent("#user")).toBe("ada");
    await page.waitForSelector(".question", { state: "detached" });
    await page.reload();
    await visible(page, "signed-in");
    await page.click("#logout");
    await visible(page, "signed-out");
    expectNoFaults();
  }, 30_000);

  it("says that the phone denied, and begins again", async () => {
    const page = await open();
    await beginLogin(page);
    await page.click(".question .deny");
    await visible(page, "denied");
    await page.click("#denied .again");
    await visible(page, "signed-out");
    expectNoFaults();
  }, 30_000);

  it("says that the phone did not respond in time", async () => {
    await app.stop();
    app = await startLoginApp(300);
    const page = await open();
    await enterPassword(page);
    await visible(page, "expired");
    await takeScreenshot(page, "login-expired-light");
    expect(await findViolations(page)).toEqual([]);
    expectNoFaults();
  }, 30_000);

  it("goes on waiting after a reload, and can be cancelled", async () => {
    const page = await open();
    await beginLogin(page);
    await page.reload();
    await visible(page, "waiting");
    await page.click("#cancel");
    await visible(page, "signed-out");
    await page.click(".question .primary");
    await page.waitForSelector(".question", { state: "detached" });
    await page.reload();
    await visible(page, "signed-out");
    expectNoFaults();
  }, 30_000);

  it("turns in a second tab too", async () => {
    const page = await open();
    await beginLogin(page);
    const tab = await page.context().newPage();
    await tab.goto(`${app.url}/`);
    await visible(tab, "waiting");
    await page.click(".question .primary");
    await visible(page, "signed-in");
    await visible(tab, "signed-in");
    expectNoFaults();
  }, 30_000);

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
    app.server.close();
    app.server.closeAllConnections();
    await page.waitForSelector('#waiting-text:text-is("Connection lost, trying again")');
    await takeScreenshot(page, "login-lost-light");
    app.server.listen(Number(new URL(app.url).port), "127.0.0.1");
    await page.waitForSelector('#waiting-text:text-is("Waiting for your response")');
    const sid = app.challengeSids.at(-1) ?? "";
    app.emulator.approveChallenge(sid);
    await visible(page, "signed-in");
    takeFaults();
  }, 30_000);

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
      if ((await page.textContent(":focus")) === "Approve") break;
    }
    await page.keyboard.press("Enter");
    await visible(page, "signed-in");
    expectNoFaults();
  }, 30_000);

  it.each<[string, PageOptions]>([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { viewport: PHONE_WIDTH }],
    ["phone-dark", { viewport: PHONE_WIDTH, colorScheme: "dark" }],
  ])(
    "has no violation of accessibility rules in any state: %s",
    async (look, options) => {
      const page = await open(options);
      const check = async (state: string) => {
        await takeScreenshot(page, `login-${state}-${look}`);
        expect(await findViolations(page)).toEqual([]);
        const overflow = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(overflow).toBe(0);
      };
      await check("signed-out");
      await enterPassword(page, "ada", "wrong");
      await page.waitForSelector("#form-error:not(:empty)");
      await check("wrong-password");
      takeFaults();
      await beginLogin(page);
      // The question fades in: its text has too little contrast meanwhile.
      await page.waitForTimeout(300);
      await check("waiting");
      await page.click(".question .deny");
      await visible(page, "denied");
      await check("denied");
      await page.click("#denied .again");
      await beginLogin(page);
      await page.click(".question .primary");
      await visible(page, "signed-in");
      await check("signed-in");
      expectNoFaults();
    },
    60_000,
  );
});
