/** The list of the receiver's page: it is searched, a selection runs again, and it is exported. */
import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import type { RequestRow } from "../../../lib/admin/console/request-row";
import { describeWithBrowser } from "../../support/browser";
import { createGate, until } from "../../support/waiting";
import { CHALLENGE_SID } from "../../support/webhook-requests";
import { startConsole } from "./console-app";
import { hide, press, readFacts, useConsolePages } from "./console-page";

const { openPage } = useConsolePages();

const JANE = "jane.doe@example.com";
const CHALLENGE = `YC${"a1".repeat(16)}`;
const FACTOR = `YF${"b2".repeat(16)}`;

/** Opens a list of three events, and of a request that was rejected. */
async function openList({ reveal = false } = {}) {
  const app = await startConsole({ router: { console: { reveal } } });
  app.push.onAny(() => {});
  const jane = { entity_identity: JANE };
  await app.deliver("challenge.approved", { uuid: "one-unit", challenge_sid: CHALLENGE, ...jane });
  await app.deliver("challenge.denied", { uuid: "two-unit", factor_sid: FACTOR });
  await app.deliver("factor.created", { uuid: "three", ...jane });
  await app.deliver("challenge.approved", {}, { authToken: "wrong" });
  const page = await openPage(app.url);
  const lines = page.locator(".requests .line");
  await lines.nth(3).waitFor();
  const search = page.getByRole("searchbox", { name: "Find by identity, uuid, SID or path" });
  const results = page.getByRole("combobox", { name: "state" });
  const listTypes = () => page.locator(".requests td.event").allInnerTexts();
  return { app, page, lines, search, results, listTypes };
}

describeWithBrowser("the list of requests", () => {
  it("finds a request by each of its identifiers", async () => {
    const { page, search, listTypes } = await openList({ reveal: true });
    await hide(page);
    for (const [text, ...found] of [
      ["one-unit", "challenge.approved v2"],
      // A part of the identity finds nothing.
      ["jane.doe"],
      ["wo-u", "challenge.denied v2"],
      [CHALLENGE, "challenge.approved v2"],
      [JANE, "factor.created v2", "challenge.approved v2"],
      [` ${FACTOR.replace("b2", "B2")} `, "challenge.denied v2"],
    ] as const) {
      await search.fill(text);
      const count = `${found.length} request${found.length === 1 ? "" : "s"} found.`;
      await page.getByRole("status").getByText(count).waitFor();
      await until(async () => String(await listTypes()) === String(found));
      // The address has a SID, and no identity.
      expect(page.url().includes("q=")).toBe(text === CHALLENGE);
    }
  });

  it.each<[string, (line: Locator) => Promise<void>]>([
    ["open", (line) => line.click()],
    ["focused", (line) => line.getByRole("button").focus()],
  ])("finds what has arrived while a row is %s", async (_state, hold) => {
    const { app, page, lines, search, listTypes } = await openList();
    await hold(lines.first());
    await app.deliver("factor.verified", { uuid: "four-unit" });
    await page.getByRole("button", { name: "Show 1 new" }).waitFor();
    expect(await lines.count()).toBe(4);
    await search.fill("four-unit");
    await page.getByText("1 request found.").waitFor();
    expect(await listTypes()).toEqual(["factor.verified v2"]);
  });

  it("loads what is open, once for all that changes during a load", async () => {
    const { page, lines, search } = await openList();
    await hide(page);
    const details = page.locator(".details");
    await lines.first().click();
    await details.getByText("response").waitFor();
    const { opened, open } = createGate();
    const asked: unknown[] = [];
    await page.route("**/console/view", async (route) => {
      asked.push(route.request().postDataJSON());
      await opened;
      await route.continue();
    });
    await lines.nth(1).click();
    await details.getByText("Loading.").waitFor();
    for (const text of ["one", "one-", "one-unit"]) await search.fill(text);
    open();
    await page.getByText("1 request found.").waitFor();
    const text = "one-unit";
    expect(asked).toMatchObject([{ position: expect.any(String) }, { filter: { text } }]);
  });

  it("tells a click on a row from the selection of a text", async () => {
    const { page, lines } = await openList();
    const select = (selector: string) =>
      page.evaluate(`getSelection().selectAllChildren(document.querySelector("${selector}"))`);
    const details = page.locator(".details");
    await select(".requests td.event");
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

  it("combines its filters with the keyboard", async () => {
    const { page, lines, search, results, listTypes } = await openList();
    const codes = page.getByRole("combobox", { name: "code" });
    await codes.getByText("SIGNATURE_MISMATCH (1)").waitFor({ state: "attached" });
    await codes.selectOption("SIGNATURE_MISMATCH");
    await page.getByText("1 request found.").waitFor();
    await lines.getByText("403 SIGNATURE_MISMATCH").waitFor();
    expect(await listTypes()).toEqual(["not verified"]);
    await codes.selectOption("");
    const states = await results.locator("option").allInnerTexts();
    expect(states.join()).toBe(
      "Any state,rejected or failed,accepted,handled,stored,failing,failed,dead,discarded,rejected,duplicate,conflict",
    );
    await results.focus();
    await page.keyboard.type("rej");
    await page.getByText("1 request found.").waitFor();
    await search.fill("one-unit");
    await page.getByText("No request matches this filter.").waitFor();
    await results.selectOption("");
    await page.getByText("1 request found.").waitFor();
    expect(await listTypes()).toEqual(["challenge.approved v2"]);
  });

  it("runs again all that failed within the filter", async () => {
    const app = await startConsole();
    let down: string[] = ["one-unit", "two-unit", "three"];
    const ran: string[] = [];
    app.push.onAny(({ uuid }) => {
      ran.push(uuid);
      if (down.includes(uuid)) throw new Error("down");
    });
    for (const uuid of down) await app.deliver("challenge.approved", { uuid });
    const page = await openPage(app.url);
    await page.getByRole("button", { name: "Run 3 failed since" }).waitFor();
    await page.getByRole("searchbox").fill("-unit");
    down = ["two-unit", "three"];
    ran.length = 0;
    await press(page, /^Run 2 failed since \d\d:\d\d again$/);
    const dialog = page.locator("dialog", { hasText: "Run the handlers again for 2 events?" });
    const period = expect.stringMatching(/\d to \d/);
    expect(await readFacts(dialog)).toEqual({ Users: "1", Received: period, "2 ×": "down" });
    await hide(page);
    await press(page, "Run again", true);
    await page.getByRole("alert").getByText("1 event run again. 1 not: HANDLER_FAILED").waitFor();
    expect(ran).toEqual(["one-unit", "two-unit"]);
    await press(page, "Cancel");
    const pills = page.locator(".requests .pill", { hasText: "ran again" });
    expect(await pills.and(page.locator(".bad")).count()).toBe(1);
    expect(await pills.and(page.locator(".good")).count()).toBe(1);
    // What failed again is offered again.
    await page.getByRole("button", { name: "Run 1 failed since" }).waitFor();
    expect(app.audits).toMatchObject([{ action: "request.resend", actor: "alice", count: 1 }]);
  });

  it("exports its rows as JSON Lines masked also with reveal", async () => {
    const { page, results } = await openList({ reveal: true });
    await results.selectOption("accepted");
    await page.getByText("3 requests found.").waitFor();
    const downloaded = page.waitForEvent("download");
    await press(page, "Export JSONL", true);
    expect((await downloaded).suggestedFilename()).toBe("requests.jsonl");
    const text = await readFile(await (await downloaded).path(), "utf8");
    const rows = text.split("\n").map((line) => JSON.parse(line) as RequestRow);
    expect(rows[0]).toMatchObject({ at: new Date(rows[0]?.atMs ?? 0).toISOString() });
    expect(rows.map(({ uuid }) => uuid)).toEqual(["three", "two-unit", "one-unit"]);
    expect(rows.filter(({ entity }) => entity === "jan…com")).toHaveLength(2);
    expect(text).not.toContain(JANE);
  });

  it("shows the requests of a chosen time", async () => {
    const { app, page } = await openList();
    const bars = page.locator("svg g");
    expect(await bars.count()).toBe(96);
    await bars.first().click();
    await page.getByText("0 requests found.").waitFor();
    await bars.last().click();
    await page.getByText("4 requests found.").waitFor();
    const drawn = ".good[y='1'][height='3'] + .bad[y='0'][height='1']";
    await bars.last().locator(drawn).waitFor({ state: "attached" });
    const said = page.getByRole("list", { name: "Requests over time" });
    await said.getByText(": 3 accepted, 1 rejected or failed").waitFor({ state: "attached" });
    await page.getByText("the highest bar: 4").waitFor();
    const time = page.getByRole("combobox", { name: "time" });
    expect(await time.locator(":checked").innerText()).toMatch(/ \d\d:.* to .* \d\d:/);
    const past = jest.spyOn(Date, "now").mockReturnValue(Date.now() - 7_200_000);
    await app.deliver();
    past.mockRestore();
    await time.selectOption("1440");
    await page.getByText("5 requests found.").waitFor();
    await time.selectOption("60");
    await page.getByText("4 requests found.").waitFor();
  });

  it("names the builds of requests", async () => {
    process.env.PUSH_BUILD = "7c1";
    const { page } = await openList();
    delete process.env.PUSH_BUILD;
    await page.locator(".notice", { hasText: " in build 7c1." }).waitFor();
    await page.getByText(/^Builds: 7c1 since \d/).waitFor();
    await page.locator(".mark title", { hasText: "7c1" }).waitFor({ state: "attached" });
    await page.getByRole("link", { name: "7c1" }).click();
    await page.getByText("4 requests found.").waitFor();
    expect(await page.getByRole("combobox", { name: "build" }).inputValue()).toBe("7c1");
  });

  it("leads by a pseudonym to the requests of one user", async () => {
    const { page, lines, search, listTypes } = await openList();
    await lines.last().click();
    await page.locator(".details dd a").click();
    await page.getByText("2 requests found.").waitFor();
    expect(await listTypes()).toEqual(["factor.created v2", "challenge.approved v2"]);
    expect(new URL(page.url()).hash).toMatch(/^#\/requests\?q=[0-9a-f]{8}$/);
    await page.getByText(/^none in process \d+ on/).waitFor();
    await lines.last().click();
    await page.locator(".details").waitFor();
    expect(await search.inputValue()).toMatch(/^[0-9a-f]{8}$/);
    expect(await page.content()).not.toContain(JANE);
  });

  it("finds and mends a publicUrl that is not the webhook_url", async () => {
    const app = await startConsole();
    app.push.onAny(() => {});
    const wrong = app.publicUrl.replace("http:", "https:");
    app.upstream.createWebhook({ friendly_name: "logins", webhook_url: wrong, event_types: ["*"] });
    const login = app.push.waitForChallenge({ challengeSid: CHALLENGE_SID, entityIdentity: JANE });
    const approve = (signedUrl: string) =>
      app.deliver("challenge.approved", { entity_identity: JANE }, { signedUrl });
    expect(await approve(wrong)).toBe(403);

    const page = await openPage(app.url);
    const waits = page.locator("dt", { hasText: "Waits" }).locator("+ dd");
    await page.getByRole("searchbox").fill(JANE);
    await page.keyboard.press("Enter");
    await waits.filter({ hasText: ", for " }).waitFor();
    const arrived = "1 webhook request of it arrived, 1 rejected or failed";
    await page
      .getByText(`knows no such challenge of this user of ${CHALLENGE_SID}; ${arrived}`)
      .waitFor();
    const unsent = app.upstream.createChallenge(JANE);
    await page.keyboard.press("Enter");
    await page.getByText(`says pending of ${unsent}; no webhook request of it arrived`).waitFor();
    // The link empties the filters that hide its request.
    const filters = [page.getByRole("searchbox"), page.getByRole("combobox", { name: "state" })];
    await filters[0]?.fill("another");
    await filters[1]?.selectOption("accepted");
    await page.getByText("No request matches this filter.").waitFor();
    expect(await waits.count()).toBe(0);
    await page.getByRole("link", { name: "Show the request" }).click();
    const details = page.locator(".details");
    await details.getByText("Its sender may have invented the names below.").waitFor();
    expect(await details.locator(".cause").innerText()).toMatch(/ proven$/);
    for (const filter of filters) expect(await filter.inputValue()).toBe("");
    expect(await details.locator("mark").allInnerTexts()).toEqual(["s"]);
    await details.getByRole("button", { name: "Set webhook_url to publicUrl" }).click();
    await page.locator(".toast", { hasText: "Done: Set webhook_url" }).waitFor();

    expect(app.audits).toMatchObject([{ action: "webhook.update", actor: "alice" }]);
    // The service sends the event again, as it is configured now.
    const [webhook] = await app.upstream.listWebhooks();
    expect(await approve(webhook?.webhook_url ?? "")).toBe(200);
    expect((await login).type).toBe("challenge.approved");
  });
});
