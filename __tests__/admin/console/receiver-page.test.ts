import { AUTH_TOKEN } from "../../support/webhook-requests";
import { describeWithBrowser } from "../../support/browser";
import { until } from "../../support/waiting";
import { startConsole } from "./console-app";
import { press, submit, useConsolePages } from "./console-page";
import { startProxy } from "./forwarding";

const OLD_TOKEN = "0".repeat(32);

const { openConsole, openPage, allowFaults } = useConsolePages();
const JANE = { uuid: "a", entity_identity: "jane.doe@example.com" };

describeWithBrowser("the receiver's page", () => {
  it("shows each request live, with its type, version, code, attempt and token", async () => {
    const { app, page } = await openConsole();
    await page.getByText("No webhook request has arrived yet.").waitFor();
    await app.deliver("challenge.approved", JANE);
    const line = page.locator(".requests .line").first();
    await line.getByText("200 handled").waitFor();
    expect(await line.innerText()).toMatch(
      /^\s*\d\d:\d\d:\d\d\.\d{3}\s+challenge\.approved v2\s+jan…com [0-9a-f]{8}\s+200 handled\s+[\d.,]+ ms/,
    );
    await app.deliver("challenge.approved", JANE);
    await line.getByText("200 duplicate").waitFor();
    await line.getByText("attempt 2").waitFor();
    await app.deliver("challenge.approved", { ...JANE, entity_identity: "another" });
    await line.getByText("200 conflict").waitFor();
    await app.deliver("factor.verified", {}, { version: "v1" });
    await line.getByText("factor.verified v1").waitFor();
    await page.getByText("1 request reused a uuid").waitFor();
  });

  it("looks for the cause of an earlier request when it is asked to", async () => {
    const app = await startConsole();
    const signedUrl = `${app.publicUrl}/`;
    for (let index = 0; index < 5; index++) await app.deliver(undefined, {}, { signedUrl });
    const page = await openPage(app.url);
    await page.locator(".requests .line").nth(4).click();
    await press(page, "Find the cause");
    await page.locator(".details").getByText("proven").waitFor();
  });

  it("has one notice for each cause of a wrong signature", async () => {
    const { app, page } = await openConsole();
    await page.getByText("Live", { exact: true }).waitFor();
    const notice = (cause: string, title: string) =>
      page.locator(".notice", { hasText: cause }).getByText(title).waitFor();
    await app.deliver("challenge.approved", {}, { signedUrl: `${app.publicUrl}/` });
    await notice("trailing slash", "1 request of the last 1 had a wrong signature.");
    await app.deliver("challenge.approved", {}, { authToken: "f".repeat(32) });
    await page.getByText("2 problems").click();
    await notice("Nothing is proven", "1 request of the last 2 had a wrong signature.");
    await notice("trailing slash", "1 request of the last 2 had a wrong signature.");
  });

  it("shows dates once a request is not of today", async () => {
    const app = await startConsole();
    jest.spyOn(performance, "now").mockReturnValue(performance.now() - 86_400_000);
    await app.deliver();
    jest.restoreAllMocks();
    const page = await openPage(app.url);
    const time = page.locator(".requests td.time");
    await time.getByText(/^\d+ [A-Z][a-z]+, \d\d:\d\d:\d\d\.\d{3}$/).waitFor();
  });

  it("counts the requests of each token during a rotation", async () => {
    const receiver = { authToken: [AUTH_TOKEN, OLD_TOKEN] };
    const { app, page } = await openConsole("", { receiver });
    await app.deliver("challenge.approved");
    await page.getByText("token 1: 1 request, the last at").waitFor();
    await app.deliver("challenge.approved", {}, { authToken: OLD_TOKEN });
    await page.getByText("; token 2: 1 request, the last at").waitFor();
    await page.getByText("2 of 2").waitFor();
    expect(await page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
  });

  it("counts codes, and shows the requests of a code or of a result", async () => {
    const { app, page } = await openConsole();
    await app.deliver();
    await app.deliver("challenge.approved", {}, { authToken: OLD_TOKEN });
    const codes = page.getByRole("combobox", { name: "code" });
    await codes.getByText("SIGNATURE_MISMATCH (1)").waitFor({ state: "attached" });
    await codes.selectOption("SIGNATURE_MISMATCH");
    expect(await page.locator(".requests .line:visible").count()).toBe(1);
    await codes.selectOption("");
    await page.getByRole("combobox", { name: "result" }).selectOption("accepted");
    expect(await page.locator(".requests .line:visible").innerText()).toContain("200 handled");
  });

  it("holds new requests back while it is paused", async () => {
    const { app, page } = await openConsole();
    await page.getByText("Live", { exact: true }).waitFor();
    await press(page, "Pause");
    await app.deliver();
    const resume = page.getByRole("button", { name: "Resume, 1 new" });
    await resume.waitFor();
    expect(await page.locator(".requests .line").count()).toBe(0);
    await resume.click();
    expect(await page.locator(".requests .line").count()).toBe(1);
  });

  it("sends a test event over the network, signed on the server", async () => {
    const { app, page } = await openConsole();
    const handled: string[] = [];
    app.push.on("factor.created", ({ entity_identity }) => void handled.push(entity_identity));
    await press(page, "Send test event");
    await page.getByLabel("factor.created").check();
    await page.locator("input[value=network]").check();
    await submit(page);
    await page.locator("dialog .notice", { hasText: "The receiver responded 200" }).waitFor();
    await press(page, "Close");
    await page.locator(".requests .line", { hasText: /factor\.created v2\s*test/ }).waitFor();
    expect(handled).toEqual(["console-test-event"]);
  });

  it("says that the connection is lost, and shows the missed requests after it reconnects", async () => {
    const { app, page } = await openConsole();
    await page.getByText("Live", { exact: true }).waitFor();
    allowFaults(/ERR_/);
    await app.stop();
    await page.getByText("Connection lost, trying again").waitFor();
    await app.start();
    await app.deliver();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("200 handled").waitFor();
  });

  it.each([
    [503, "Too many pages are open"],
    [403, "Signed out or not allowed"],
  ])("says why it is not live, and is live again: %i", async (status, text) => {
    const { page } = await openConsole();
    const json = { code: "X", message: text };
    await page.route("**/console/live*", (route) => route.fulfill({ status, json }));
    allowFaults(new RegExp(String(status)));
    await page.reload();
    await page.getByText(text).waitFor();
    expect(await page.getByText("Connection lost").count()).toBe(0);
    const signIn = page.getByRole("button", { name: "Sign in again" });
    expect(await signIn.count()).toBe(status === 403 ? 1 : 0);
    await page.unroute("**/console/live*");
    await page.getByText("Live", { exact: true }).waitFor();
  });

  it("is used with the keyboard: skip link, pages, rows", async () => {
    const app = await startConsole();
    await app.deliver();
    const page = await openPage(app.url);
    await page.getByText("200 handled").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.id")).toBe("skip");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
    const toggles = page.getByRole("button", { name: /^Details of/ });
    const focused = page.locator(".toggle:focus");
    for (let count = 0; count < 24 && (await focused.count()) === 0; count++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    expect(await focused.getAttribute("aria-expanded")).toBe("true");
    await page.locator(".details").getByText("uuid", { exact: true }).first().waitFor();
    await page.keyboard.press("Escape");
    expect(await focused.getAttribute("aria-expanded")).toBe("false");
    await app.deliver("challenge.denied");
    await press(page, "Show 1 new");
    await toggles.nth(1).waitFor();
    for (const [turn, index] of [0, 1, 1].entries()) {
      await page.keyboard.press(turn === 0 ? "ArrowUp" : "ArrowDown");
      expect(await toggles.nth(index).evaluate((one) => one.matches(":focus"))).toBe(true);
    }
    await page.getByRole("link", { name: "Keys" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("h2:focus", { hasText: "Keys" }).waitFor({ state: "attached" });
    expect(await page.title()).toBe("Keys · Push webhooks");
    // Where there are no rows, the keys scroll.
    await page.setViewportSize({ width: 1280, height: 200 });
    await page.keyboard.press("ArrowDown");
    await until(() => page.evaluate("scrollY > 0"));
  });

  it("says why the details of a request cannot be read", async () => {
    const app = await startConsole();
    await app.deliver();
    const page = await openPage(app.url);
    const json = { code: "NOT_FOUND", message: "The request is gone." };
    await page.route("**/console/requests/*", (route) => route.fulfill({ status: 404, json }));
    allowFaults(/404/);
    await page.locator(".requests .line").click();
    await page.locator(".details").getByText("The request is gone. (NOT_FOUND)").waitFor();
    await page.unroute("**/console/requests/*");
    await press(page, "Try again");
    await page.getByText("Headers and parameters").waitFor();
  });
});

describeWithBrowser("the address of the console", () => {
  it.each(["%", "%zz", "7", "no-id"])("may name a request that is gone: %s", async (id) => {
    const app = await startConsole();
    allowFaults(/40\d/);
    const page = await openPage(`${app.url}#/requests/${id}`);
    await page.locator(".notice").waitFor();
  });

  it("leads to a request far below", async () => {
    const app = await startConsole();
    for (let count = 0; count < 40; count++) await app.deliver();
    const page = await openPage(app.url);
    await page.locator(".requests .line").last().click();
    await page.locator(".details").waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await page.reload();
    await until(() => page.evaluate("scrollY > 1000"));
    await page.locator(".toggle:focus[aria-expanded=true]").waitFor();
  });

  it("may have a parameter, and be rewritten by a proxy", async () => {
    const app = await startConsole({ mount: "/a/:tenant/b" });
    const rewrite = (path: string) => path.replace("/tools/of/staff/b", "/a/blue/b");
    const port = await startProxy([app.port], rewrite);
    const page = await openPage(`http://127.0.0.1:${port}/tools/of/staff/b`);
    await page.getByText("Live", { exact: true }).waitFor();
    await app.deliver();
    await page.getByText("200 handled").waitFor();
    for (let index = 0; index < 125; index++) app.upstream.createKey(`deploy ${index}`);
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("deploy 124").waitFor();
    await page.getByText("deploy 0", { exact: true }).waitFor();
  });
});
