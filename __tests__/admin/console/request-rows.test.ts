/** The rows of the receiver's page: a selection runs again, and the list is exported. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import type { RequestRow } from "../../../lib/admin/console/console-view";
import { describeWithBrowser, useBrowser } from "../../support/browser";
import { startConsole, useConsoles } from "./console-app";

const { openPage } = useBrowser();
useConsoles();

const JANE = "jane.doe@example.com";

const lines = (page: Page) => page.locator(".requests .line");

async function openWithThree(reveal = false) {
  const app = await startConsole({ router: { console: { reveal } } });
  const handled: string[] = [];
  app.push.onAny(({ uuid }) => void handled.push(uuid));
  await app.deliver("challenge.approved", { uuid: "one", entity_identity: JANE });
  await app.deliver("challenge.denied", { uuid: "two", entity_identity: "=cmd|' /C calc'!A0" });
  await app.deliver("factor.created", { uuid: "three", entity_identity: JANE });
  await app.deliver("challenge.approved", {}, { authToken: "wrong" });
  const page = await openPage(app.url);
  await lines(page).nth(3).waitFor();
  return { app, page, handled };
}

async function download(page: Page, name: string): Promise<string> {
  const downloaded = page.waitForEvent("download");
  await page.getByRole("button", { name, exact: true }).click();
  return readFile(await (await downloaded).path(), "utf8");
}

describeWithBrowser("a selection of requests", () => {
  it("runs again after it was confirmed, and is audited", async () => {
    const { app, page, handled } = await openWithThree();
    expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
    // A request that was not authenticated has no event.
    expect(await page.getByRole("checkbox").count()).toBe(3);
    for (const index of [3, 1]) await lines(page).nth(index).getByRole("checkbox").check();
    expect(await page.locator(".details").count()).toBe(0);
    await page.getByRole("button", { name: "Run again 2 selected" }).click();
    await page.getByText("Run the handlers again for 2 events?").waitFor();
    expect(handled).toEqual(["one", "two", "three"]);
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.locator("#announcer", { hasText: "ran again for 2 events" }).waitFor();
    expect(handled.slice(3).toSorted()).toEqual(["one", "three"]);
    expect(app.audits).toMatchObject([{ action: "request.resend", actor: "alice", status: 200 }]);
  });

  it("is limited to the rows that the filter shows", async () => {
    const { page, handled } = await openWithThree();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("searchbox").fill("two");
    await page.getByRole("button", { name: "Run again 1 selected" }).click();
    await page.getByRole("button", { name: "Run again", exact: true }).click();
    await page.locator("#announcer", { hasText: "ran again for 1 event" }).waitFor();
    expect(handled.at(-1)).toBe("two");
  });
});

describeWithBrowser("the export", () => {
  it.each([
    [false, "jan…com"],
    [true, JANE],
  ])("has the rows that are shown, with reveal %s as JSON Lines and CSV", async (reveal, shown) => {
    const { page } = await openWithThree(reveal);
    await page.getByRole("combobox", { name: "result" }).selectOption("accepted");
    const rows = (await download(page, "Export JSONL"))
      .split("\n")
      .map((line) => JSON.parse(line) as RequestRow);
    expect(rows.map(({ uuid }) => uuid)).toEqual(["three", "two", "one"]);
    expect(rows.map(({ entity }) => entity).filter((entity) => entity === shown)).toHaveLength(2);
    const csv = await download(page, "CSV");
    const [names, ...cells] = csv.split("\r\n");
    expect(names).toContain("uuid");
    expect(cells).toHaveLength(3);
    expect(cells[0]).toContain('"three"');
    expect(csv).toContain(`"${shown}"`);
    // A spreadsheet would run what begins with "=".
    expect(csv).not.toMatch(/,"=/);
    expect(csv.includes(JANE) || JSON.stringify(rows).includes(JANE)).toBe(reveal);
  });
});

describeWithBrowser("a pseudonym", () => {
  it("leads to the requests of one user, whose name is not shown", async () => {
    const { page } = await openWithThree();
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
