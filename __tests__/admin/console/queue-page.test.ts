import { describeWithBrowser, useBrowser } from "../../support/browser";
import { startConsole, useConsoles } from "./console-app";
import { createMemoryQueue } from "./memory-queue";

const { openPage } = useBrowser();
useConsoles();

const ERRORS = ["down", "down", "down", "slow", "slow", "alone"];

describeWithBrowser("the page of the queue", () => {
  it("groups dead letters by error, the largest group first, and retries one, a group and all", async () => {
    const queue = createMemoryQueue(ERRORS);
    const app = await startConsole({ router: { queue } });
    const page = await openPage(app.url);
    await page.getByRole("link", { name: "Queue 6 dead letters" }).click();
    await page.locator("h4").first().waitFor();
    expect(await page.locator("h4").allInnerTexts()).toEqual(["down", "slow", "alone"]);
    const group = page.locator("article").first();
    await group.locator("summary").first().click();
    expect(await group.locator(".dead-letter .mono").allInnerTexts()).toEqual([
      "uuid-2",
      "uuid-1",
      "uuid-0",
    ]);
    await group.getByRole("button", { name: "Retry", exact: true }).first().click();
    await group.getByText("2 events").waitFor();
    // Open as before, although the list was drawn again.
    expect(await group.locator("details").first().getAttribute("open")).toBe("");
    for (const [name, count] of [
      ["Retry these 2", 2],
      ["Retry all 3", 3],
    ] as const) {
      await page.getByRole("button", { name }).first().click();
      await page.getByRole("button", { name: `Retry ${count} dead letters` }).click();
    }
    await page.getByText("No dead letters.").waitFor();
    await page.getByRole("link", { name: "Queue", exact: true }).waitFor();
    expect(queue.changes).toEqual([2, 0, 1, 3, 4, 5].map((number) => `retry uuid-${number}`));
    expect(app.audits.map(({ uuid, error, count }) => [uuid, error, count])).toEqual([
      ["uuid-2", undefined, 1],
      [undefined, "down", 2],
      [undefined, undefined, 3],
    ]);
  });

  it("discards one and all, after it was confirmed", async () => {
    const queue = createMemoryQueue(ERRORS);
    const app = await startConsole({ router: { queue } });
    const page = await openPage(`${app.url}#/queue`);
    const alone = page.locator("article", { hasText: "alone" });
    await alone.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(queue.changes).toEqual([]);
    await alone.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("button", { name: "Discard 1 dead letter" }).click();
    await page.getByRole("button", { name: "Discard all 5" }).click();
    await page.getByRole("button", { name: "Discard 5 dead letters" }).click();
    await page.getByText("No dead letters.").waitFor();
    expect(queue.changes).toHaveLength(6);
  });
});

describeWithBrowser("the event of a dead letter", () => {
  const MASKED = ["Version", "Account", "Factor", "Challenge"];
  const TEXTS = [
    "factor_friendly_name",
    "factor_metadata",
    "challenge_details",
    "challenge_metadata",
  ];

  it.each<[boolean, string[], string]>([
    [false, MASKED, "us…22"],
    [true, [...MASKED, "Error", ...TEXTS], "user-7f3a-22"],
  ])("has its SIDs, and its texts with reveal %s", async (reveal, names, entity) => {
    const queue = createMemoryQueue(["down", "down"]);
    const app = await startConsole({ router: { queue, console: { reveal } } });
    const page = await openPage(`${app.url}#/queue`);
    await page.locator("summary").first().click();
    const deadLetter = page.locator(".dead-letter", { hasText: "uuid-1" });
    await deadLetter.locator("summary").click();
    expect(await deadLetter.locator("dt").allInnerTexts()).toEqual(names);
    await deadLetter.getByText(entity, { exact: true }).waitFor();
    // uuid-0 cannot be read, and has a receiver.
    const unreadable = page.locator(".dead-letter", { hasText: "unreadable event" });
    await unreadable.locator("summary").click();
    const shown = ["Account", "Receiver", ...(reveal ? ["Error"] : [])];
    expect(await unreadable.locator("dt").allInnerTexts()).toEqual(shown);
  });
});
