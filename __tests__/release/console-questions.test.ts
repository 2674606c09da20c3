/**
 * The questions of an on-call engineer, as docs/admin.md lists them, to the console of three processes
 * behind a random balancer, with a queue, workers apart, several builds and thousands of requests;
 * `PUSH_TEST_REQUESTS=30000` sends as many, in a minute.
 */
import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import type { QueueView } from "../../lib/admin/console/queue-view";
import { startCluster, type Cluster } from "../support/console-cluster";
import { useBrowser, describeWithBrowser } from "../support/browser";
import { stopEmulators } from "../support/emulators";
import { describeWithPostgres } from "../support/postgres";
import { send } from "../support/servers";
import { until } from "../support/waiting";
import { AUTH_TOKEN, eventRequest } from "../support/webhook-requests";

const OLD_TOKEN = "0".repeat(32);
const MANY = Number(process.env.PUSH_TEST_REQUESTS ?? 3_000);
const USERS = ["jane-doe-1985", "omar-khan-77", "zoe-li-2001"] as const;
const [JANE, OMAR] = USERS;
const ATTACKER = { "user-agent": "sqlmap/1.8", "x-forwarded-for": "203.0.113.9" };

const describeQuestions = (title: string, suite: () => void) =>
  describeWithPostgres(title, () => describeWithBrowser("asked in a browser", suite));

describeQuestions("the console of three processes behind a random balancer", () => {
  const { openPage, allowFaults } = useBrowser();
  let cluster: Cluster;
  let worker: Awaited<ReturnType<Cluster["startWorker"]>>;
  let page: Page;
  let clicks = 0;
  const answers: string[] = [];

  /** Asks a question on a page that is opened anew; the answer is what the page says. */
  function ask(question: string, expectedClicks: number, find: () => Promise<unknown>): void {
    it(question, async () => {
      page = await openPage("about:blank");
      page = await openPage(cluster.url);
      clicks = 0;
      await page.getByText("Up to date").waitFor();
      const answer = String(await find())
        .replaceAll(/\s+/g, " ")
        .trim();
      answers.push(`${question} | ${clicks} | ${answer}`);
      expect(clicks).toBe(expectedClicks);
    });
  }

  async function click(target: Locator): Promise<void> {
    clicks++;
    await target.click();
  }
  async function choose(filter: string, value: string): Promise<void> {
    clicks++;
    await page.getByRole("combobox", { name: filter }).selectOption(value);
  }
  async function search(text: string): Promise<void> {
    const box = page.getByRole("searchbox");
    await click(box);
    await box.fill(text);
    clicks++;
    await box.press("Enter");
  }
  const openTab = (name: string) => click(page.getByRole("link", { name: new RegExp(`^${name}`) }));
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const lines = () => page.locator(".requests .line");
  const untilFound = (pattern: RegExp) => page.getByRole("status").getByText(pattern).waitFor();
  async function read(locator: Locator): Promise<string> {
    await locator.first().waitFor();
    return locator.first().innerText();
  }

  async function deliver(
    count: number,
    { authToken = AUTH_TOKEN, headers = {}, ...overrides }: Record<string, unknown> = {},
  ): Promise<void> {
    const numbers = Array.from({ length: count }).keys();
    const publicUrl = cluster.webhookUrl;
    const lane = async () => {
      for (const number of numbers) {
        const names = { entity_identity: `user-of-many-${number % 50}`, ...overrides };
        const settings = { authToken: String(authToken), publicUrl };
        const signed = eventRequest("factor.verified", names, settings);
        const all = { ...signed.headers, ...(headers as object) };
        // As the balancer chooses, in whose process each request would take twice the time.
        const web = cluster.webs[randomInt(cluster.webs.length)];
        const response = await send(web?.port ?? 0, { ...signed, headers: all });
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: 16 }, lane));
  }

  async function approve(user: string): Promise<string> {
    const { emulator } = cluster;
    const factor = emulator.createFactor({ entity_identity: user });
    // A process explains the first of its wrong signatures.
    await emulator.settled();
    emulator.verifyFactor(factor.sid);
    const { sid } = emulator.createChallenge({ factor_sid: factor.sid });
    emulator.approveChallenge(sid);
    await emulator.settled();
    return sid;
  }

  async function write(user: string, method: string, path: string, body: object): Promise<string> {
    cluster.state.user = user;
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(cluster.url + path, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    return response.text();
  }

  beforeAll(async () => {
    const authToken = [AUTH_TOKEN, OLD_TOKEN];
    cluster = await startCluster({ name: "release-7", authToken });
    worker = await cluster.startWorker();
    const { webhookUrl: webhook_url } = cluster;
    const input = { friendly_name: "logins", webhook_url, event_types: ["challenge.approved"] };
    const { sid } = JSON.parse(await write("ada", "POST", "webhooks", input)) as { sid: string };
    await write("grace", "PATCH", `webhooks/${sid}`, { event_types: ["*"] });
    await deliver(5, { authToken: OLD_TOKEN });
    await deliver(MANY / 2);
    await cluster.deploy({ name: "release-8", authToken, suffix: "/" });
    await approve(JANE);
    await approve(OMAR);
    await cluster.deploy({ name: "release-9", authToken });
    await deliver(MANY / 2);
    await deliver(300, { authToken: "wrong", headers: ATTACKER });
    await untilIdle();
    worker.set({ error: "connect ECONNREFUSED 10.0.3.11:5432, user <user>" });
    for (const user of USERS) await approve(user);
    await until(async () => (await readQueue()).deadLetters === 3 * USERS.length);
    // On a loaded machine, 30,000 requests took more than 5 minutes.
  }, 1_200_000);

  afterAll(async () => {
    console.log(["question | clicks | answer", ...answers].join("\n"));
    await cluster.stop();
    await stopEmulators();
  });

  async function readQueue(): Promise<QueueView> {
    const response = await fetch(`${cluster.url}console/queue`);
    return (await response.json()) as QueueView;
  }
  const untilIdle = () =>
    until(async () => {
      const { waiting, active } = await readQueue();
      return waiting + active === 0;
    });

  ask("14. Are we under attack now?", 0, async () => {
    const text = await read(page.locator("summary", { hasText: "by sender" }));
    // Within 5 minutes of the attack, which is why it comes first.
    expect(text).toMatch(/^30\d rejected requests by sender, 30\d in the last 5 minutes/);
    return text;
  });

  ask("1. A login hung: what happened?", 3, async () => {
    await search(JANE);
    const service = page.locator("dt", { hasText: "Service" }).locator("+ dd");
    // Of two logins, the later one became a dead letter.
    await service.nth(1).getByText("1 rejected or failed").waitFor();
    const said = await service.nth(1).innerText();
    expect(said).toContain("says approved");
    await click(lines().filter({ hasText: "SIGNATURE_MISMATCH" }).last());
    const cause = page.locator(".cause");
    await cause.getByText("and publicUrl is").waitFor();
    return `${said} ${await cause.innerText()}`;
  });

  ask("2. Which deploy made signatures fail?", 0, async () => {
    const text = await read(page.locator("summary", { hasText: "2 problems" }));
    expect(text).toMatch(
      /had a wrong signature, the first at .* in build release-8\. The service signed/,
    );
    return text;
  });

  ask("8. Is the old token still used?", 0, () =>
    read(page.getByText(/token 1: .* requests, .*; token 2: 5 requests, the last at/)),
  );

  ask("9. Export without personal data", 1, async () => {
    const downloaded = page.waitForEvent("download");
    await click(button("Export JSONL"));
    const text = await readFile(await (await downloaded).path(), "utf8");
    const rows = text.split("\n");
    expect(rows).toHaveLength(200);
    expect(rows[0]).toMatch(/^\{"at":"20\d\d-/);
    for (const user of USERS) expect(text).not.toContain(user);
    return `${rows.length} rows`;
  });

  ask("4. Who changed this Webhook?", 1, async () => {
    await openTab("Webhooks");
    const text = await read(page.locator("summary", { hasText: "Last change: grace" }));
    expect(text).toMatch(/webhook\.update, YW.*, was \{"event_types":\["challenge.approved"\]\}, /);
    return text;
  });

  ask("17. Is the Webhook right?", 1, async () => {
    await openTab("Webhooks");
    return read(page.getByText("The webhooks match the receiver."));
  });

  ask("7. Is this an attack?", 1, async () => {
    await click(page.locator("summary", { hasText: "by sender" }));
    const sender = page.locator("dd", { hasText: "sqlmap/1.8" });
    const text = await read(sender);
    expect(text).toMatch(/^\d+ requests, the last .*203\.0\.113\.9, sqlmap\/1\.8/);
    return text;
  });

  ask("13. Was it the deploy?", 0, async () => {
    const builds = await read(page.locator(".chart small", { hasText: "Builds" }));
    expect(builds).toMatch(/release-7 since .*release-8 since .*release-9 since /);
    const received = await read(page.locator(".card", { hasText: "Received" }).locator(".figure"));
    expect(Number(received.replaceAll(",", ""))).toBeGreaterThan(MANY);
    return `${builds}, ${received} received`;
  });

  ask("10. Since when do logins fail?", 1, async () => {
    await openTab("Queue");
    const group = page.locator("article", { hasText: "ECONNREFUSED" }).locator("h4");
    const text = await read(group);
    expect(text).toMatch(/user <entity_identity> of 3 users, the first .*, the last /);
    return text;
  });

  ask("12. Which users, and may I tell support?", 3, async () => {
    await openTab("Queue");
    const group = page.locator("article", { hasText: "ECONNREFUSED" });
    await click(group.locator("summary").first());
    const people = await group.locator(".dead-letter p:first-child a").allInnerTexts();
    expect(new Set(people).size).toBe(3);
    expect(await page.content()).not.toContain(JANE);
    await click(group.locator(".dead-letter p:first-child a").first());
    await untilFound(/[1-9]\d* requests? found/);
    const listed = new Set(await page.locator("td.entity small").allInnerTexts());
    expect([...listed]).toEqual([people[0]]);
    return people.join(" ");
  });

  ask("15. Is it safe to run them again?", 1, async () => {
    await click(button(/^Run 9 failed since/));
    const dialog = page.locator("dialog");
    const text = await read(dialog);
    expect(text).toMatch(/handled or discarded meanwhile is left out/);
    expect(text).toMatch(/Users\s+3\s+Received\s+.* to .*\s+9 ×\s+.*ECONNREFUSED/s);
    return text;
  });

  ask("18. Who discarded it?", 1, async () => {
    cluster.state.user = "grace";
    const [group] = (await readQueue()).groups;
    const { uuid = "", accountSid = "" } = group?.deadLetters[0] ?? {};
    const choice = { uuid, accountSid };
    await write("grace", "POST", "console/dead-letters/discard", choice);
    const line = lines().filter({ hasText: "200 discarded" });
    await line.waitFor();
    await click(line);
    const discarded = page.locator(".details dt", { hasText: "discarded" }).locator("+ dd");
    await discarded.getByText("by grace").waitFor();
    return read(discarded);
  });

  ask("5. Run again what failed in the last hour", 3, async () => {
    cluster.state.user = "ada";
    worker.set({});
    await choose("time", "60");
    await click(button(/^Run 8 failed since/));
    await click(page.locator("dialog button.primary"));
    const said = await read(page.locator(".toast", { hasText: "8 events given to a worker." }));
    await button(/^Run/).waitFor({ state: "detached" });
    await until(async () => (await readQueue()).deadLetters === 0);
    return said;
  });

  ask("6. Which handler is slow?", 0, async () => {
    worker.set({ durationMs: 3_000 });
    await deliver(1);
    const slow = lines().filter({ hasText: /\+ ([3-9]|\d\d+),\d{3} ms/ });
    const text = await read(slow);
    worker.set({});
    return text;
  });

  ask("11. Is it us, or the service?", 0, async () => {
    // The page asks for the findings, too, and the service does not respond.
    allowFaults(/502/);
    cluster.state.isServiceUp = false;
    const { emulator } = cluster;
    const factor = emulator.createFactor({ entity_identity: JANE });
    emulator.verifyFactor(factor.sid);
    emulator.approveChallenge(emulator.createChallenge({ factor_sid: factor.sid }).sid);
    const line = lines().filter({ hasText: "CONFIRM_UNAVAILABLE" });
    const text = await read(line);
    expect(text).toMatch(/200 (failing|dead)/);
    cluster.state.isServiceUp = true;
    return text;
  });

  ask("3. Is the queue stuck?", 0, async () => {
    await untilIdle();
    await worker.stop();
    await deliver(600);
    const notice = page.locator(".notice", { hasText: /\d+ events in the queue, and no worker/ });
    await page.getByText(/the oldest for \d+/).waitFor();
    return read(notice);
  });

  ask("16. The queue drains: when is it empty?", 0, async () => {
    // It drains for minutes: a page that stands still sees it, too.
    worker = await cluster.startWorker({ durationMs: 1_000 });
    const card = page.locator(".card", { hasText: "Waiting" });
    await card.getByText(/empty in about \d+ (s|min)/).waitFor();
    return card.innerText();
  });
});
