import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import { describeWithBrowser } from "../../support/browser";
import { createGate, until } from "../../support/waiting";
import { ACCOUNT_SID, CHALLENGE_SID, FACTOR_SID } from "../../support/webhook-requests";
import { hide, press, readFacts, said, useConsolePages } from "./console-page";
import { createMemoryQueue, storeDown, storeIn } from "./memory-queue";

const { openConsole, allowFaults } = useConsolePages();

const ERRORS = ["down", "down", "down", "slow", "slow", "alone"];

describeWithBrowser("the page of the queue", () => {
  it("says on each page that the queue is paused", async () => {
    const queue = createMemoryQueue([], { hold: "paused" });
    const { page } = await openConsole("", { router: { queue } });
    await page.getByText("The queue is paused.").waitFor();
  });

  it("retries one dead letter, a group or all", async () => {
    const queue = createMemoryQueue(ERRORS, { workers: 0 });
    const { app, page } = await openConsole("", { router: { queue } });
    // On each page.
    const idle = page.getByText("3 events in the queue, and no worker.");
    await idle.waitFor();
    await page.getByRole("link", { name: "Queue 6 dead letters" }).click();
    await idle.waitFor();
    await page.locator("h4").first().waitFor();
    await hide(page);
    const errors = await page.locator("h4").allInnerTexts();
    expect(errors.map((text) => text.split(" ", 1)[0])).toEqual(["down", "slow", "alone"]);
    const group = page.locator("article").first();
    await group.locator("summary").first().click();
    const uuids = await group.locator(".dead-letter .mono").allInnerTexts();
    expect(uuids).toEqual(["uuid-2", "uuid-1", "uuid-0"]);
    await group.getByRole("button", { name: "Retry", exact: true }).first().click();
    await group.getByText("2 events").waitFor();
    // Open as before, although the list was drawn again.
    expect(await group.locator("details").first().getAttribute("open")).toBe("");
    await press(page, "Retry these 2");
    await press(page, "Retry 2 dead letters");
    await press(page, "Retry all 3");
    await page.locator("dialog", { hasText: /2 × slow, of 1 user, 5 Mar .*; 1 × alone/ }).waitFor();
    await press(page, "Retry 3 dead letters");
    await page.getByText("No dead letters.").waitFor();
    await page.getByRole("link", { name: "Queue", exact: true }).waitFor();
    await page.locator("summary", { hasText: "alice: dead-letter.retry, 3 events" }).waitFor();
    expect(queue.changes).toEqual([2, 0, 1, 3, 4, 5].map((number) => `retry uuid-${number}`));
    const audits = app.audits.map(({ uuid, error, count }) => ({ uuid, error, count }));
    expect(audits).toEqual([
      { uuid: "uuid-2", count: 1 },
      { error: "down", count: 2 },
      { count: 3 },
    ]);
  });

  it("has an address that leads to an old dead letter", async () => {
    const queue = createMemoryQueue(Array<string>(25).fill("down"));
    const { page } = await openConsole("#/queue/uuid-0", { router: { queue } });
    const linked = page.locator(".dead-letter[aria-current]", { hasText: "uuid-0" });
    await page.getByText("The newest 20 of 25").waitFor();
    await linked.getByRole("button", { name: "Retry" }).click();
    await page.getByText("It is no dead letter.").waitFor();
    expect(queue.changes).toEqual(["retry uuid-0"]);
  });

  it("discards only what was confirmed", async () => {
    const queue = createMemoryQueue(["alone", ...Array<string>(1_001).fill("down")]);
    const { page } = await openConsole("#/queue", { router: { queue } });
    const alone = page.locator("article", { hasText: "alone" });
    await alone.getByRole("button", { name: "Discard" }).click();
    await press(page, "Cancel");
    expect(queue.changes).toEqual([]);
    queue.retry = async () => false;
    // A line in two chunks.
    const cut = "out.enqueue(text.slice(0, -9)); out.enqueue(text.slice(-9))";
    const transform = `transform(bytes, out) { const text = new TextDecoder().decode(bytes); ${cut} }`;
    await page.evaluate(
      `TextDecoderStream = function () { return new TransformStream({ ${transform} }) }`,
    );
    await press(page, "Retry all 1,002");
    await press(page, "Retry 1,002 dead letters");
    const none = "0 events will be handled again. 1,002 not: It is no dead letter any more.";
    await page.getByRole("alert").getByText(none, { exact: true }).waitFor();
    await press(page, "Cancel");
    await alone.getByRole("button", { name: "Discard" }).click();
    await press(page, "Discard 1 dead letter");
    await press(page, "Discard all 1,001");
    await press(page, "Discard 1,001 dead letters");
    await page.getByText("No dead letters.").waitFor();
    expect(queue.changes).toHaveLength(1_002);
  });

  /** Opens a console of an event that is stored, and has failed. */
  async function openFailing(queue: ConsoleQueue) {
    const { app, page } = await openConsole("", storeIn(queue));
    await app.deliver(undefined, { uuid: "uuid-0" });
    const event = { uuid: "uuid-0", accountSid: ACCOUNT_SID, share: ACCOUNT_SID };
    const error = "CONFIRM_UNAVAILABLE: down";
    const step = { ...event, kind: "step", attempt: 1, durationMs: 3_000, error } as const;
    const append = (what: "failed" | "dead") =>
      queue.journal?.append({ ...step, what, atMs: Date.now() });
    append("failed");
    queue.journal?.count("attempt:failed", "dropped");
    return { app, page, append, error };
  }

  it("shows a stored event as failing once an attempt has failed", async () => {
    const { page, error } = await openFailing(createMemoryQueue([], { delayed: 1 }));
    await page.getByText("of all processes, since").waitFor();
    await page.getByText("1 more arrived too fast to be listed.").waitFor();
    await page.locator(".cards", { hasText: "Stored11 failed attempt" }).waitFor();
    const line = page.locator(".requests .line.warn", { hasText: "200 failing" });
    await line.getByText(error).waitFor();
    await line.getByText("+ 3,000 ms").waitFor();
    await page.locator(".notice", { hasText: "1 event failed, and will run again." }).waitFor();
    const states = page.getByRole("combobox", { name: "state" });
    await states.selectOption("bad");
    await page.getByText("1 request found.").waitFor();
    await page.getByRole("link", { name: `Show the request of: ${error}` }).click();
    await until(async () => (await states.inputValue()) === "failing");
  });

  it("leads from a request whose event is dead to its dead letter", async () => {
    const status = { state: "dead", attempts: 1, failures: [], at: new Date(0) } as never;
    const queue = { ...createMemoryQueue(["down", "down"]), find: async () => status };
    const { app, page, append, error } = await openFailing(queue);
    await page.locator(".requests .line", { hasText: "failing" }).click();
    append("dead");
    await page.locator(".requests .line.bad", { hasText: "dead" }).waitFor();
    await page.getByText("Attempt 1 failed: its event is a dead letter.").waitFor();
    const details = page.locator(".details");
    await details.locator("dt", { hasText: "dead" }).waitFor();
    const ran = expect.stringMatching(`, attempt 1, after 3,000 ms in process .* on .*, ${error}$`);
    expect(await readFacts(details)).toMatchObject({
      Handlers: error,
      "Signed URL": app.publicUrl,
      failed: ran,
      dead: ran,
      queue: "dead, 1 attempt, failed last 1 Jan 1970, 00:00:00 Show the dead letter",
    });
    await page.getByRole("link", { name: "Show the dead letter" }).click();
    await page.locator(".dead-letter[aria-current]", { hasText: "uuid-0" }).waitFor();
    await page.goBack();
    await press(page, "Run the handlers again");
    await page.locator("dialog", { hasText: "A worker runs them" }).waitFor();
    await press(page, "Run again", true);
    await said(page, "1 event given to a worker.");
    expect(queue.changes).toEqual(["retry uuid-0"]);
    await page.getByRole("link", { name: "Queue" }).click();
    await page.locator("summary", { hasText: "alice: request.resend, uuid-0, 1 event" }).waitFor();
  });

  /** Opens a console whose discard of 250 dead letters stands still at the hundredth. */
  async function openDiscard() {
    const queue = createMemoryQueue(Array<string>(250).fill("down"));
    const { discard } = queue;
    const gate = createGate();
    let asked = 0;
    queue.discard = async (...one) => {
      if (++asked === 100) await gate.opened;
      return discard(...one);
    };
    const { app, page } = await openConsole("#/queue", { router: { queue } });
    await press(page, "Discard these 250");
    await page.locator("dialog", { hasText: "down, of 1 user" }).waitFor();
    await press(page, "Discard 250 dead letters");
    await page.locator("progress[max='250']:not([value='0'])").waitFor();
    await until(() => asked === 100);
    return { app, page, queue, gate };
  }

  it("says that a discard lost its connection", async () => {
    const { app, page, gate } = await openDiscard();
    allowFaults(/ERR_/);
    app.server.closeAllConnections();
    const text = /not respond\. at least \d+ of 250 events were done\. \(UNREACHABLE\)/;
    await page.getByRole("alert").getByText(text).waitFor();
    gate.open();
    await until(() => app.audits.length === 1);
  });

  it("says that the store went down during a discard", async () => {
    const { page, queue, gate } = await openDiscard();
    queue.discard = () => Promise.reject(storeDown);
    gate.open();
    const text = "at least 100 of 250 events were done. (STORE_UNAVAILABLE)";
    await page.getByRole("alert").getByText(text).waitFor();
  });

  it("says what a stopped discard has done", async () => {
    const { app, page, queue, gate } = await openDiscard();
    await press(page, "Stop");
    await said(page, "events were done.");
    await page.locator("dialog").waitFor({ state: "detached" });
    gate.open();
    await until(() => app.audits.length === 1);
    expect(queue.changes).toHaveLength(100);
    expect(app.audits).toMatchObject([{ count: 100, code: "STOPPED" }]);
    await page
      .locator("summary", { hasText: /alice: dead-letter.discard, down.*, 100 events, STOPPED, / })
      .waitFor();
  });

  it("shows the figures of a group and of the queue", async () => {
    let waiting = 3_000;
    const queue = createMemoryQueue(ERRORS, { workers: undefined, hold: "limited" });
    const { stats, deadGroups } = queue;
    queue.stats = async () => ({ ...(await stats()), waiting: (waiting -= 10) });
    queue.deadGroups = async () => (await deadGroups()).slice(0, 2);
    const startMs = Date.now();
    const now = jest.spyOn(Date, "now");
    now.mockImplementation(() => startMs + 100 * (3_000 - waiting));
    const { page } = await openConsole("#/queue", { router: { queue } });
    await page.setViewportSize({ width: 390, height: 844 });
    const group = page.locator("article", { hasText: "down" }).locator("h4");
    const times = "the first 5 Mar 2026, 09:00:00, the last 5 Mar 2026, 09:00:02";
    await group.getByText(`of 1 user, ${times}`).waitFor();
    await page.getByText("1 more with other errors.").waitFor();
    const card = page.locator(".card", { hasText: "Waiting" });
    await card.getByText("the oldest for 4 s; empty in about 4 min").waitFor();
    await page.locator(".cards", { hasText: "Running2Delayed1Workers–limited" }).waitFor();
    expect(await page.locator(".notice").count()).toBe(0);
    now.mockRestore();
  });

  it("asks as often as each page needs", async () => {
    const queue = createMemoryQueue([], { waiting: 0, delayed: 0, workers: 0 });
    const { page } = await openConsole("", { router: { queue } });
    const record =
      "run = setInterval; asked = []; setInterval = (task, ms) => run(task, ms, asked.push(ms))";
    await page.addInitScript(record);
    await page.reload();
    await page.getByText("Up to date").waitFor();
    await page.evaluate("clearInterval = () => asked.push('cleared')");
    for (const name of ["Queue", "Receiver"]) {
      await page.getByRole("link", { name }).click();
      await page.locator("h2:focus", { hasText: name }).waitFor({ state: "attached" });
    }
    await page.getByText("no event waits").waitFor();
    expect(await page.locator(".notice").allInnerTexts()).toEqual([]);
    const ages = [1_000, 1_000];
    const cleared = ["cleared", "cleared", "cleared"];
    const asked = [3_000, 60_000, 15_000, 5_000, 15_000, ...ages, ...cleared];
    // A page begins to count an age when it is read, which may be before another timer.
    expect(await page.evaluate("asked.sort()")).toEqual(asked.toSorted());
  });

  const SIDS = ["Version", "Account", "Factor", "Challenge"];
  const ofChallenge = ["challenge_details", "challenge_metadata"];
  const TEXTS = ["Error", "factor_friendly_name", "factor_metadata", ...ofChallenge];
  it.each<[boolean, string[], string]>([
    [false, SIDS, "us…22"],
    [true, [...SIDS, ...TEXTS], "user-7f3a-22"],
  ])("shows only the fields of an event that reveal %s allows", async (reveal, names, entity) => {
    const queue = createMemoryQueue(["down", "down"]);
    const { page } = await openConsole("#/queue", { router: { queue, console: { reveal } } });
    await page.locator("summary").first().click();
    const deadLetter = page.locator(".dead-letter", { hasText: "uuid-1" });
    await deadLetter.locator("summary").click();
    const facts = await readFacts(deadLetter);
    expect(Object.keys(facts)).toEqual(names);
    const sids = { Factor: `${FACTOR_SID} Copy`, Challenge: `${CHALLENGE_SID} Copy` };
    expect(facts).toMatchObject({ Version: "v2", Account: `${ACCOUNT_SID} Copy`, ...sids });
    const failedAt = "failed 5 Mar 2026, 09:00:01";
    const text = `${entity} [0-9a-f]{8}uuid-1 Requests8 attempts, the last ${failedAt}`;
    expect(await deadLetter.textContent()).toMatch(new RegExp(text));
    // uuid-0 cannot be read, and has a receiver.
    const unreadable = page.locator(".dead-letter", { hasText: "unreadable event" });
    await unreadable.locator("summary").click();
    const shown = ["Account", "Receiver", ...(reveal ? ["Error"] : [])];
    expect(await unreadable.locator("dt").allInnerTexts()).toEqual(shown);
    await deadLetter.getByRole("link", { name: "Requests" }).click();
    await page.getByText(`uuid-1, ${failedAt}`).waitFor();
  });
});
