/** The requests that the receiver's page shows: chosen by result or code, and searched. */
import type { Page } from "playwright-core";
import { describeWithBrowser, useBrowser } from "../../support/browser";
import { startConsole, useConsoles } from "./console-app";
import { HOSTILE } from "./hostile-texts";

const { openPage } = useBrowser();
useConsoles();

const CHALLENGE = `YC${"a1".repeat(16)}`;
const FACTOR = `YF${"b2".repeat(16)}`;

const search = (page: Page) => page.getByRole("searchbox", { name: "Find by uuid, SID or path" });
const shownTypes = (page: Page) => page.locator(".requests td.event").allInnerTexts();

async function openWithThree({ reveal = false } = {}) {
  const app = await startConsole({ router: { console: { reveal } } });
  await app.deliver("challenge.approved", { uuid: "one-unit", challenge_sid: CHALLENGE });
  await app.deliver("challenge.denied", { uuid: "two-unit", factor_sid: FACTOR });
  await app.deliver("factor.created", {}, { authToken: "wrong" });
  const page = await openPage(app.url);
  await page.getByText("403 SIGNATURE_MISMATCH").waitFor();
  return { app, page };
}

describeWithBrowser("the search of requests", () => {
  it.each([
    ["a uuid", "one-unit", "challenge.approved v2"],
    ["a part of a uuid", "wo-u", "challenge.denied v2"],
    ["the SID of a challenge", CHALLENGE, "challenge.approved v2"],
    ["the SID of a factor, pasted with spaces, in capitals", ` ${FACTOR} `, "challenge.denied v2"],
  ])("finds by %s", async (_what, text, found) => {
    const { page } = await openWithThree();
    await search(page).fill(text.replace("b2", "B2"));
    expect(await shownTypes(page)).toEqual([found]);
    await page.getByRole("status").getByText("1 request found.").waitFor();
  });

  it("keeps what it shows when requests arrive, and shows all when it is emptied", async () => {
    const { app, page } = await openWithThree();
    await search(page).fill(CHALLENGE);
    await app.deliver("challenge.denied", { uuid: "three", challenge_sid: CHALLENGE });
    await app.deliver("factor.verified", { uuid: "four" });
    await page.locator(".card", { hasText: "Received" }).getByText("5").waitFor();
    expect(await shownTypes(page)).toEqual(["challenge.denied v2", "challenge.approved v2"]);
    await search(page).press("Escape");
    expect(await shownTypes(page)).toHaveLength(5);
  });

  it("is used with the keyboard, within the chosen results", async () => {
    const { page } = await openWithThree();
    await page.getByRole("combobox", { name: "result" }).focus();
    await page.keyboard.type("rej");
    await page.getByText("1 request found.").waitFor();
    await page.getByRole("button", { name: "Pause" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("one-unit");
    await page.getByText("No request matches this filter.").waitFor();
    await page.getByRole("combobox", { name: "result" }).selectOption("");
    expect(await shownTypes(page)).toEqual(["challenge.approved v2"]);
  });

  it("searches the entity when it is revealed", async () => {
    const { page } = await openWithThree({ reveal: true });
    await page.getByLabel("Find by uuid, SID, path or entity").fill("user-7f3a");
    expect(await shownTypes(page)).toHaveLength(2);
  });

  it("does not search a masked entity", async () => {
    const { page } = await openWithThree();
    expect(await page.getByText("us…22").count()).toBe(2);
    await search(page).fill("us…22");
    expect(await shownTypes(page)).toEqual([]);
  });

  it("takes hostile texts as texts", async () => {
    const { page } = await openWithThree();
    for (const text of HOSTILE) {
      await search(page).fill(text);
      await page.getByText("No request matches this filter.").waitFor();
    }
    expect(await page.title()).toBe("Receiver · Push webhooks");
    expect(await page.locator("main script, main img").count()).toBe(0);
  });

  it("is emptied when a notice shows its request", async () => {
    const { page } = await openWithThree();
    await page.getByRole("combobox", { name: "result" }).selectOption("accepted");
    await search(page).fill("one-unit");
    await page.getByRole("button", { name: "Show the request" }).click();
    await page.locator(".details .cause").waitFor();
    await page.reload();
    await page.locator(".details .cause").waitFor();
    expect(await shownTypes(page)).toHaveLength(3);
    expect(await search(page).inputValue()).toBe("");
    expect(await page.getByRole("combobox", { name: "result" }).inputValue()).toBe("");
  });
});
