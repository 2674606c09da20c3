/** The list of the receiver's page: it is searched, a selection runs again, and it is exported. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import type { RequestRow } from "../../../lib/admin/console/console-view";
import { describeWithBrowser, useBrowser } from "../../support/browser";
import { startConsole, useConsoles } from "./console-app";

const { openPage } = useBrowser();
useConsoles();

const JANE = "jane.doe@example.com";
const CHALLENGE = `YC${"a1".repeat(16)}`;
/** A spreadsheet would run it. */
const FORMULA = "=cmd|' /C calc'!A0";
const FACTOR = `YF${"b2".repeat(16)}`;

const search = (page: Page) =>
  page.getByRole("searchbox", { name: "Find by identity, uuid, SID or path" });
const lines = (page: Page) => page.locator(".requests .line");
const shownTypes = (page: Page) => page.locator(".requests td.event").allInnerTexts();

/** Opens a list of three events, and of a request that was rejected. */
async function openList({ reveal = false } = {}) {
  const app = await startConsole({ router: { console: { reveal } } });
  const handled: string[] = [];
  app.push.onAny(({ uuid }) => void handled.push(uuid));
  for (const [type, overrides] of [
    ["challenge.approved", { uuid: "one-unit", challenge_sid: CHALLENGE, entity_identity: JANE }],
    ["challenge.denied", { uuid: "two-unit", factor_sid: FACTOR, entity_identity: FORMULA }],
    ["factor.created", { uuid: "three", entity_identity: JANE }],
  ] as const) {
    await app.deliver(type, overrides);
  }
  await app.deliver("challenge.approved", {}, { authToken: "wrong" });
  const page = await openPage(app.url);
  await lines(page).nth(3).waitFor();
  return { app, page, handled };
}

describeWithBrowser("the search of requests", () => {
  it("finds by a uuid or a part of it, and by the SID of a challenge or of a factor, pasted", async () => {
    const { page } = await openList();
    for (const [text, found] of [
      ["one-unit", "challenge.approved v2"],
      ["wo-u", "challenge.denied v2"],
      [CHALLENGE, "challenge.approved v2"],
      [` ${FACTOR.replace("b2", "B2")} `, "challenge.denied v2"],
    ] as const) {
      await search(page).fill(text);
      await page.getByRole("status").getByText("1 request found.").waitFor();
      expect(await shownTypes(page)).toEqual([found]);
    }
  });

  it("keeps its rows when requests arrive, and shows all when it is emptied", async () => {
    const { app, page } = await openList();
    await search(page).fill(CHALLENGE);
    await app.deliver("challenge.denied", { uuid: "four", challenge_sid: CHALLENGE });
    await app.deliver("factor.verified", { uuid: "five" });
    await page.locator(".card", { hasText: "Received" }).getByText("6").waitFor();
    expect(await shownTypes(page)).toEqual(["challenge.denied v2", "challenge.approved v2"]);
    await search(page).press("Escape");
    expect(await shownTypes(page)).toHaveLength(6);
  });

  it("is used with the keyboard, within the chosen results", async () => {
    const { page } = await openList();
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

  it.each([
    [true, "jane.doe", 2],
    [false, "jan…com", 0],
  ])("searches the entity only if it is revealed: %s", async (reveal, text, count) => {
    const { page } = await openList({ reveal });
    await page.getByLabel("Find by identity, uuid, SID or path").fill(text);
    expect(await shownTypes(page)).toHaveLength(count);
  });

  it("is emptied when a notice shows its request", async () => {
    const { page } = await openList();
    await page.getByRole("combobox", { name: "result" }).selectOption("accepted");
    await search(page).fill("one-unit");
    await page.getByRole("link", { name: "Show the request" }).click();
    await page.locator(".details .cause").waitFor();
    await page.reload();
    await page.locator(".details .cause").waitFor();
    expect(await shownTypes(page)).toHaveLength(4);
    expect(await search(page).inputValue()).toBe("");
    expect(await page.getByRole("combobox", { name: "result" }).inputValue()).toBe("");
  });
});

describeWithBrowser("a selection of requests", () => {
  it("runs again after it was confirmed, and is audited", async () => {
    const { app, page, handled } = await openList();
    expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
    // A request that was not authenticated has no event.
    expect(await page.getByLabel("Select the request of").count()).toBe(3);
    for (const index of [3, 1]) await lines(page).nth(index).getByRole("checkbox").check();
    expect(await page.locator(".details").count()).toBe(0);
    await page.getByRole("button", { name: "Run again 2 selected" }).click();
    await page.getByText("Run the handlers again for 2 events?").waitFor();
    expect(handled).toEqual(["one-unit", "two-unit", "three"]);
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.locator("#announcer", { hasText: "ran again for 2 events" }).waitFor();
    expect(handled.slice(3).toSorted()).toEqual(["one-unit", "three"]);
    const audit = { action: "request.resend", actor: "alice", status: 200 };
    expect(app.audits).toMatchObject([audit, audit]);
  });

  it("is limited to the rows that the filter shows", async () => {
    const { page, handled } = await openList();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("searchbox").fill("two-unit");
    await page.getByRole("button", { name: "Run again 1 selected" }).click();
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.locator("#announcer", { hasText: "ran again for 1 event" }).waitFor();
    expect(handled.at(-1)).toBe("two-unit");
  });
});

describeWithBrowser("the export", () => {
  async function download(page: Page, name: string): Promise<string> {
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    return readFile(await (await downloaded).path(), "utf8");
  }

  it.each([
    [false, "jan…com"],
    [true, JANE],
  ])("has the rows that are shown, with reveal %s as JSON Lines", async (reveal, shown) => {
    const { page } = await openList({ reveal });
    await page.getByRole("combobox", { name: "result" }).selectOption("accepted");
    const rows = (await download(page, "Export JSONL"))
      .split("\n")
      .map((line) => JSON.parse(line) as RequestRow);
    expect(rows.map(({ uuid }) => uuid)).toEqual(["three", "two-unit", "one-unit"]);
    expect(rows.map(({ entity }) => entity).filter((entity) => entity === shown)).toHaveLength(2);
    expect(JSON.stringify(rows).includes(JANE)).toBe(reveal);
  });
});

describeWithBrowser("a pseudonym", () => {
  it("leads to the requests of one user, whose name is not shown", async () => {
    const { page } = await openList();
    await lines(page).last().click();
    await page.locator(".details dd a").click();
    await page.getByText("2 requests found.").waitFor();
    expect(await page.locator(".requests td.event").allInnerTexts()).toEqual([
      "factor.created v2",
      "challenge.approved v2",
    ]);
    expect(new URL(page.url()).hash).toMatch(/^#\/requests\?q=[0-9a-f]{8}$/);
    expect(await page.content()).not.toContain(JANE);
  });
});
