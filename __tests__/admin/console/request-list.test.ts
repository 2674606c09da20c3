/** The list of the receiver's page: it is searched, a selection runs again, and it is exported. */
import { readFile } from "node:fs/promises";
import type { RequestRow } from "../../../lib/admin/console/console-view";
import { describeWithBrowser } from "../../support/browser";
import { startServer } from "../../support/servers";
import { MOUNT, startConsole } from "./console-app";
import { press, useConsolePages } from "./console-page";

const { openPage, allowFaults } = useConsolePages();

const JANE = "jane.doe@example.com";
const CHALLENGE = `YC${"a1".repeat(16)}`;
const FACTOR = `YF${"b2".repeat(16)}`;

/** Opens a list of three events, and of a request that was rejected. */
async function openList({ reveal = false } = {}) {
  const app = await startConsole({ router: { console: { reveal } } });
  const handled: string[] = [];
  app.push.onAny(({ uuid }) => void handled.push(uuid));
  const jane = { entity_identity: JANE };
  await app.deliver("challenge.approved", { uuid: "one-unit", challenge_sid: CHALLENGE, ...jane });
  await app.deliver("challenge.denied", { uuid: "two-unit", factor_sid: FACTOR });
  await app.deliver("factor.created", { uuid: "three", ...jane });
  await app.deliver("challenge.approved", {}, { authToken: "wrong" });
  const page = await openPage(app.url);
  const lines = page.locator(".requests .line");
  await lines.nth(3).waitFor();
  const search = page.getByRole("searchbox", { name: "Find by identity, uuid, SID or path" });
  const results = page.getByRole("combobox", { name: "result" });
  const listTypes = () => page.locator(".requests td.event").allInnerTexts();
  return { app, page, handled, lines, search, results, listTypes };
}

describeWithBrowser("the list of requests", () => {
  it("finds by a uuid or a part of it, and by the SID of a challenge or of a factor, pasted", async () => {
    const { page, search, listTypes } = await openList();
    for (const [text, found] of [
      ["one-unit", "challenge.approved v2"],
      ["wo-u", "challenge.denied v2"],
      [CHALLENGE, "challenge.approved v2"],
      [` ${FACTOR.replace("b2", "B2")} `, "challenge.denied v2"],
    ] as const) {
      await search.fill(text);
      await page.getByRole("status").getByText("1 request found.").waitFor();
      expect(await listTypes()).toEqual([found]);
    }
  });

  it("keeps its rows when requests arrive, and shows all when it is emptied", async () => {
    const { app, page, search, listTypes } = await openList();
    await search.fill(CHALLENGE);
    await app.deliver("challenge.denied", { uuid: "four", challenge_sid: CHALLENGE });
    await app.deliver("factor.verified", { uuid: "five" });
    await page.locator(".card", { hasText: "Received" }).getByText("6").waitFor();
    expect(await listTypes()).toEqual(["challenge.denied v2", "challenge.approved v2"]);
    await search.press("Escape");
    expect(await listTypes()).toHaveLength(6);
  });

  it("finds what has arrived while a row is open", async () => {
    const { app, page, lines, search, listTypes } = await openList();
    await lines.first().click();
    await app.deliver("factor.verified", { uuid: "four-unit" });
    await page.getByRole("button", { name: "Show 1 new" }).waitFor();
    expect(await lines.count()).toBe(4);
    await search.fill("four-unit");
    await page.getByText("1 request found.").waitFor();
    expect(await listTypes()).toEqual(["factor.verified v2"]);
  });

  it("stays while rows are ticked, also by a click that does not focus a control", async () => {
    const { app, page, lines } = await openList();
    // Safari focuses no control at a click.
    await page.evaluate("addEventListener('mousedown', (event) => event.preventDefault())");
    await page.getByLabel("Select the request of").first().check();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("BODY");
    await app.deliver("factor.verified");
    await press(page, "Show 1 new");
    await lines.nth(4).waitFor();
    await page.getByLabel("Select the request of").nth(1).uncheck();
    expect(await page.getByRole("button", { name: /^Show/ }).count()).toBe(0);
  });

  it("opens a row by its button whatever is selected, and selects a text in a row without a click", async () => {
    const { page, lines } = await openList();
    const select = (selector: string) =>
      page.evaluate(`getSelection().selectAllChildren(document.querySelector("${selector}"))`);
    const details = page.locator(".details");
    await select(".requests .event");
    await lines.first().dispatchEvent("click");
    expect(await details.count()).toBe(0);
    await lines.nth(1).dispatchEvent("click");
    await details.waitFor();
    await select(".details dd");
    await lines.first().getByRole("button").click();
    await lines.first().locator("[aria-expanded=true]").waitFor();
    await select("h1");
    await page.keyboard.press("Enter");
    await details.waitFor({ state: "detached" });
  });

  it("asks for a process that has ended once, however many of its events had failed", async () => {
    const failing = async (publicUrl?: string) => {
      const app = await startConsole(publicUrl === undefined ? {} : { receiver: { publicUrl } });
      app.push.onAny(() => Promise.reject(new Error("down")));
      return app;
    };
    let app = await failing();
    for (const uuid of ["a", "b", "c"]) await app.deliver("challenge.denied", { uuid });
    const port = await startServer((req, res) => app.server.emit("request", req, res));
    allowFaults(/status of 409/);
    const page = await openPage(`http://127.0.0.1:${port}${MOUNT}/`);
    const run = page.getByRole("button", { name: "Run 3 failed since" });
    await run.waitFor();
    app = await failing();
    let sent = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/resend")) sent++;
    });
    await run.click();
    await press(page, "Run again", true);
    await page.getByRole("alert").getByText("3 of 3 events failed.").waitFor();
    expect(sent).toBe(8);
    expect(app.audits).toEqual([]);
    await press(page, "Close");
    await run.waitFor({ state: "detached" });
  });

  it("is used with the keyboard, within the chosen results and codes, which are counted", async () => {
    const { page, lines, results, listTypes } = await openList();
    const codes = page.getByRole("combobox", { name: "code" });
    await codes.getByText("SIGNATURE_MISMATCH (1)").waitFor({ state: "attached" });
    await codes.selectOption("SIGNATURE_MISMATCH");
    expect(await lines.count()).toBe(1);
    await codes.selectOption("");
    await results.focus();
    await page.keyboard.type("rej");
    await page.getByText("1 request found.").waitFor();
    await page.getByRole("button", { name: "Find" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("one-unit");
    await page.getByText("No request matches this filter.").waitFor();
    await results.selectOption("");
    expect(await listTypes()).toEqual(["challenge.approved v2"]);
  });

  it("runs the selected rows that the filter shows again, after it was confirmed", async () => {
    const { app, page, handled, search } = await openList();
    expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
    const boxes = await page.getByLabel("Select the request of").all();
    for (const box of boxes) await box.check();
    // A request that was not authenticated has no event.
    expect([boxes.length, await page.locator(".details").count()]).toEqual([3, 0]);
    await search.fill("-unit");
    await press(page, "Run again 2 selected");
    await page.getByText("Run the handlers again for 2 events?").waitFor();
    expect(handled).toEqual(["one-unit", "two-unit", "three"]);
    await press(page, "Run again", true);
    await page.locator("#announcer", { hasText: "ran again for 2 events" }).waitFor();
    expect(handled.slice(3)).toEqual(["one-unit", "two-unit"]);
    const audit = { action: "request.resend", actor: "alice", status: 200 };
    expect(app.audits).toMatchObject([audit, audit]);
  });

  it.each([
    [false, "jan…com", 0],
    [true, JANE, 2],
  ])("with reveal %s, has the entity in its JSON Lines, and finds by it", async (...row) => {
    const [reveal, shown, count] = row;
    const { page, search, results, listTypes } = await openList({ reveal });
    await results.selectOption("accepted");
    const downloaded = page.waitForEvent("download");
    await press(page, "Export JSONL", true);
    const text = await readFile(await (await downloaded).path(), "utf8");
    const rows = text.split("\n").map((line) => JSON.parse(line) as RequestRow);
    expect(rows[0]).toMatchObject({ at: new Date(rows[0]?.atMs ?? 0).toISOString() });
    expect(rows.map(({ uuid }) => uuid)).toEqual(["three", "two-unit", "one-unit"]);
    expect(rows.map(({ entity }) => entity).filter((entity) => entity === shown)).toHaveLength(2);
    expect(text.includes(JANE)).toBe(reveal);
    await search.fill(reveal ? "jane.doe" : shown);
    expect(await listTypes()).toHaveLength(count);
  });

  it("leads by a pseudonym to the requests of one user, whose name is not shown", async () => {
    const { page, lines, listTypes } = await openList();
    await lines.last().click();
    await page.locator(".details dd a").click();
    await page.getByText("2 requests found.").waitFor();
    expect(await listTypes()).toEqual(["factor.created v2", "challenge.approved v2"]);
    expect(new URL(page.url()).hash).toMatch(/^#\/requests\?q=[0-9a-f]{8}$/);
    expect(await page.content()).not.toContain(JANE);
  });
});
