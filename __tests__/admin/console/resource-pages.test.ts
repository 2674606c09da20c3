import { describeWithBrowser } from "../../support/browser";
import { createGate, until } from "../../support/waiting";
import { HOSTILE, startConsole } from "./console-app";
import { hide, press, readFacts, said, submit, useConsolePages } from "./console-page";

const { openConsole, openPage, takeFaults } = useConsolePages();

describeWithBrowser("the page of the webhooks", () => {
  it("creates, changes and deletes a webhook", async () => {
    const { app, page } = await openConsole("#/webhooks");
    app.push.on(["challenge.approved", "challenge.denied"], () => {});
    await page.reload();
    await page.getByText("The service has no webhook yet.").waitFor();
    await page.locator(".notice.bad", { hasText: "No Webhook has the URL" }).waitFor();
    await press(page, "Create webhook");
    await page.getByLabel("Name", { exact: true }).fill("login events");
    expect(await page.getByLabel("URL").inputValue()).toBe(app.publicUrl);
    const body = { code: 60200, message: "Invalid <b>parameter" };
    app.upstream.script.push({ status: 400, body });
    await submit(page);
    await page.getByRole("alert").getByText("Invalid <b>parameter (60200)").waitFor();
    expect(takeFaults()).toEqual([expect.stringContaining("400")]);
    await submit(page);
    await said(page, "The webhook was created.");
    const list = () => app.upstream.listWebhooks();
    const event_types = ["challenge.approved", "challenge.denied"];
    const created = { friendly_name: "login events", event_types, status: "enabled" };
    expect(await list()).toMatchObject([{ ...created, version: "v2" }]);
    await page.locator("nav .pill").waitFor({ state: "hidden" });

    await press(page, "Edit");
    await page.getByLabel("* all events").check();
    await page.getByLabel("v1, legacy").check();
    await submit(page);
    await said(page, "The changes were saved.");
    expect(await list()).toMatchObject([{ event_types: ["*"], version: "v1" }]);
    await page.locator("summary", { hasText: "Last change: alice: webhook.update, YW" }).waitFor();
    await page.locator("summary", { hasText: '"version":"v2"' }).waitFor();

    await press(page, "Edit");
    await page.getByLabel("disabled").check();
    await submit(page);
    await page.locator("article").getByText("disabled", { exact: true }).waitFor();
    await press(page, "Edit");
    await submit(page);
    await said(page, "Nothing was changed.");
    await page.evaluate(
      "shown = []; setTimeout = (run, ms) => ms > 999 && (shown.push(ms), (hide = run), 77); clearTimeout = (id) => id === 77 && shown.push(id)",
    );
    await press(page, "Enable the webhook");
    await said(page, "Done: Enable the webhook.");
    expect(await list()).toMatchObject([{ status: "enabled", event_types: ["*"], version: "v1" }]);
    await page
      .locator("details p:nth-of-type(4)", { hasText: "webhook.create, 400 60200" })
      .waitFor({ state: "attached" });

    await press(page, /^Delete$/);
    await press(page, "Delete webhook");
    await said(page, "The webhook was deleted.");
    expect(await page.evaluate("shown")).toEqual([10_000, 77, 10_000]);
    await page.evaluate("hide()");
    await page.locator(".toast").waitFor({ state: "hidden" });
    await page.locator("h2:focus", { hasText: "Webhooks" }).waitFor();
    expect(await list()).toEqual([]);
    const actions = app.audits.map(({ action }) => action?.replace("webhook.", ""));
    expect(actions).toEqual(["create", "create", "update", "update", "update", "delete"]);
  });

  it("mends each finding with its button", async () => {
    const app = await startConsole();
    app.push.on(["challenge.approved", "factor.created", "factor.deleted"], () => {});
    const { publicUrl: webhook_url, upstream } = app;
    upstream.createWebhook({
      friendly_name: "first",
      webhook_url,
      event_types: ["challenge.approved", "factor.verified"],
      version: "v1",
      status: "disabled",
      webhook_method: "GET",
    });
    for (const friendly_name of ["second", "third"]) {
      upstream.createWebhook({ friendly_name, webhook_url, event_types: ["factor.deleted"] });
    }
    const page = await openPage(`${app.url}#/webhooks`);
    await page.locator(".notice.bad", { hasText: "Its status is disabled" }).waitFor();
    expect(await page.locator(".notice.bad").count()).toBe(1);
    expect(await readFacts(page.locator("article").first())).toMatchObject({
      URL: webhook_url,
      Events: "challenge.approved factor.verified",
      Method: "GET",
    });
    // Enabled, the first one has a finding more: it sends an event without a handler.
    for (const [left, label] of [
      ["5 findings", "Delete this webhook"],
      ["4 findings", "Enable the webhook"],
      ["4 findings", "Set version to v2"],
      ["3 findings", "Subscribe to factor.created"],
      ["2 findings", "Unsubscribe from factor.verified"],
    ] as const) {
      await page.locator("nav .pill").getByText(left).waitFor();
      await press(page, label);
      if (!label.startsWith("Delete")) await said(page, `Done: ${label}.`);
      else await press(page, "Delete webhook");
    }
    // The API changes the method of no webhook.
    await page.locator("nav .pill").getByText("1 finding").waitFor();
    const event_types = ["challenge.approved", "factor.created"];
    expect(await upstream.listWebhooks()).toMatchObject([
      { friendly_name: "first", status: "enabled", version: "v2", event_types },
      { friendly_name: "second", event_types: ["factor.deleted"] },
    ]);
  });

  it("overwrites nothing that was not edited", async () => {
    const app = await startConsole();
    const { sid } = app.upstream.createWebhook({
      webhook_url: app.publicUrl,
      // Not in the order of the form.
      event_types: ["challenge.approved", "factor.created"],
    });
    const page = await openPage(`${app.url}#/webhooks`);
    const rename = async (name: string) => {
      await press(page, "Edit");
      await page.getByLabel("Name", { exact: true }).fill(name);
    };
    await rename("first");
    const patched = page.waitForRequest((request) => request.method() === "PATCH");
    await submit(page);
    expect((await patched).postDataJSON()).toEqual({ friendly_name: "first" });
    await said(page, "The changes were saved.");
    const event_types = ["challenge.denied" as const];
    for (const theirs of [{ friendly_name: "theirs" }, { event_types }]) {
      await rename("second");
      await app.upstream.client.webhooks.update(sid, theirs);
      await submit(page);
      await page.getByRole("alert").getByText("The webhook has changed meanwhile.").waitFor();
      await press(page, "Cancel");
    }
    const left = { friendly_name: "theirs", event_types };
    expect(await app.upstream.listWebhooks()).toMatchObject([left]);
    await press(page, "Edit");
    for (const box of await page.locator("[name=event_types]:checked").all()) await box.uncheck();
    await submit(page);
    const alert = page.getByRole("alert");
    await alert.getByText("Tick at least one event type.", { exact: true }).waitFor();
    await page.getByLabel("challenge.approved").check();
    await submit(page);
    // The list was loaded again.
    await said(page, "The changes were saved.");
  });

  it("mends nothing that changes meanwhile", async () => {
    const app = await startConsole();
    app.push.on(["challenge.approved", "factor.created"], () => {});
    const event_types = ["challenge.approved" as const];
    const { sid } = app.upstream.createWebhook({ webhook_url: app.publicUrl, event_types });
    const page = await openPage(`${app.url}#/webhooks`);
    const theirs = { event_types: [...event_types, "factor.deleted" as const] };
    let asked = 0;
    await page.route(`**/webhooks/${sid}`, async (route) => {
      asked++;
      // Pressed twice.
      await page.locator("[aria-disabled=true]").dispatchEvent("click");
      await app.upstream.client.webhooks.update(sid, theirs);
      await route.continue();
    });
    await press(page, "Subscribe to factor.created");
    await page.getByRole("alert").getByText("The webhook has changed meanwhile.").waitFor();
    expect(asked).toBe(1);
    expect(await app.upstream.listWebhooks()).toMatchObject([theirs]);
  });

  it("shows no list from before a change", async () => {
    const { app, page } = await openConsole("#/webhooks");
    app.upstream.createWebhook({ webhook_url: app.publicUrl, event_types: ["*"] });
    await page.reload();
    await page.locator("article").waitFor();
    const { opened, open } = createGate();
    let [asked, read] = [0, 0];
    await page.route("**/console/webhooks", async (route) => {
      asked++;
      const response = await route.fetch();
      read++;
      await opened;
      await route.fulfill({ response });
    });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await until(() => read === 1);
    await press(page, /^Delete$/);
    const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
    await press(page, "Delete webhook");
    await deleted;
    await page.evaluate("fetch('console').then((response) => response.text())");
    // It waits for the list that may be older.
    expect(asked).toBe(1);
    open();
    await said(page, "The webhook was deleted.");
    expect(await page.locator("article").count()).toBe(0);
  });

  it("mends a URL before what follows from it", async () => {
    const publicUrl = ["https://old.example.test/push", "https://new.example.test/push/"];
    const app = await startConsole({ receiver: { publicUrl } });
    app.push.on(["challenge.approved", "factor.created"], () => {});
    const webhook_url = `${publicUrl[1]}/`;
    app.upstream.createWebhook({ webhook_url, event_types: ["challenge.denied"], version: "v1" });
    const page = await openPage(`${app.url}#/webhooks`);
    await page.locator("article .notice").waitFor();
    expect(await page.locator(".notice.bad mark").allInnerTexts()).toEqual(["/"]);
    expect(await page.locator(".notice button").allInnerTexts()).toEqual([
      "Set webhook_url to publicUrl",
    ]);
    await press(page, "Set webhook_url to publicUrl");
    await page.getByRole("button", { name: "Subscribe to factor.created" }).waitFor();
    expect(await app.upstream.listWebhooks()).toMatchObject([{ webhook_url: publicUrl[1] }]);
  });

  it("notices on each page that a webhook now differs", async () => {
    const app = await startConsole();
    app.push.onAny(() => {});
    const { publicUrl: webhook_url, upstream } = app;
    upstream.createWebhook({ webhook_url, event_types: ["*"] });
    const page = await openPage(`${app.url}#/webhooks`);
    await page.getByText("The webhooks match the receiver.").waitFor();
    await page.getByRole("link", { name: "Receiver" }).click();
    upstream.createWebhook({ webhook_url, event_types: ["*"] });
    await page.getByRole("link", { name: "Webhooks 1 finding" }).waitFor();
  });

  it("keeps the user info of a URL", async () => {
    const app = await startConsole();
    const webhook_url = app.publicUrl.replace("//", "//svc:hush-hush@");
    const { sid } = app.upstream.createWebhook({ friendly_name: "first", webhook_url });
    const page = await openPage(`${app.url}#/webhooks/${sid}`);
    await page.locator("article[aria-current]", { hasText: "first" }).waitFor();
    await page.setViewportSize({ width: 1_280, height: 200 });
    await page.reload();
    await until(() => page.evaluate("scrollY > 0"));
    await page.evaluate("location.hash = '#/keys'");
    await until(() => page.evaluate("scrollY === 0"));
    await page.goBack();
    await press(page, "Edit");
    await page.getByLabel("Name", { exact: true }).fill("second");
    expect(await page.content()).not.toContain("hush-hush");
    await submit(page);
    await said(page, "The changes were saved.");
    const changed = { friendly_name: "second", webhook_url };
    expect(await app.upstream.listWebhooks()).toMatchObject([changed]);
    app.upstream.script.push(...Array<{ status: number }>(9).fill({ status: 500 }));
    await page.reload();
    await page.getByRole("link", { name: "Webhooks ? findings unknown" }).waitFor();
    const unread = page.getByText("The webhooks could not be read.");
    await unread.waitFor();
    await hide(page);
    app.upstream.script.length = 0;
    await press(page, "Try again");
    await unread.waitFor({ state: "detached" });
    expect(takeFaults().every((fault) => fault.includes("502"))).toBe(true);
  });

  it("hides the actions that a read-only router rejects", async () => {
    const { app, page } = await openConsole("", { router: { readOnly: true } });
    app.upstream.createWebhook({ webhook_url: `${app.publicUrl}/` });
    const listButtons = () => page.locator("main button:visible").allInnerTexts();
    await page.getByText("read-only").waitFor();
    expect(await listButtons()).toEqual(["Find"]);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.locator("article").waitFor();
    expect(await listButtons()).toEqual(["Copy"]);
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("standard").waitFor();
    expect((await listButtons()).join()).not.toMatch(/Create|Revoke/);
  });
});

describeWithBrowser("the page of the keys", () => {
  async function openKeys() {
    const app = await startConsole({ router: { as: "main" } });
    for (let index = 0; index < 20; index++) app.upstream.createKey(`deploy ${index}`);
    return { app, page: await openPage(`${app.url}#/keys`) };
  }

  it("keeps a secret on each page until it is dismissed", async () => {
    const { app, page } = await openKeys();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const secrets = page.locator("main > .notice.warn dd:last-child bdi");
    for (const count of [1, 2]) {
      await press(page, "Create key");
      await page.getByLabel("Name", { exact: true }).fill(`ci-deploy ${count}`);
      await submit(page);
      await secrets.nth(count - 1).waitFor();
    }
    await page.getByText("it will never be shown again").first().waitFor();
    await page.locator(".keys", { hasText: "ci-deploy 2" }).waitFor();
    const shown = await secrets.allInnerTexts();
    expect(new Set(shown.filter((secret) => /^\w{32}$/.test(secret))).size).toBe(2);
    await press(page, "Copy Secret");
    await said(page, "Copied: Secret.");
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Copy Secret");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shown[0]);
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject()");
    await press(page, "Copy Secret");
    await said(page, "Select and copy it yourself: Secret.");
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.locator("h2:focus", { hasText: "Webhooks" }).waitFor();
    expect(await secrets.allInnerTexts()).toEqual(shown);
    for (const left of [1, 0]) {
      const asked = page.waitForEvent("dialog");
      void page.reload().catch(() => {});
      expect((await asked).type()).toBe("beforeunload");
      await press(page, "I have stored it");
      expect(await secrets.count()).toBe(left);
    }
    const everything = `${await page.content()} ${JSON.stringify(app.audits)}`;
    for (const secret of shown) expect(everything).not.toContain(secret);
    expect(takeFaults()).toEqual(Array(2).fill(expect.stringContaining("dialog")));
    await page.reload();
  });

  it("revokes a key only after it was confirmed", async () => {
    const { app, page } = await openKeys();
    const lines = page.locator(".keys .line");
    const own = lines.filter({ hasText: "in use here" });
    await own.waitFor();
    expect(await own.getByRole("button", { name: "Revoke" }).count()).toBe(0);
    const line = lines.filter({ hasText: "deploy 19" });
    await line.getByRole("button", { name: "Revoke" }).click();
    await page.locator("dialog", { hasText: "deploy 19 stops working at once" }).waitFor();
    for (const word of ["", "deploy 1"]) {
      await page.getByLabel(/^Type/).fill(word);
      await press(page, "Revoke key");
    }
    expect(app.audits).toEqual([]);
    await page.getByLabel(/^Type/).fill("deploy 19");
    await press(page, "Revoke key");
    await said(page, "The key was revoked.");
    await line.waitFor({ state: "detached" });
    expect(app.audits).toMatchObject([{ action: "key.delete", status: 204 }]);
    await page.locator("summary", { hasText: "Last change: alice: key.delete, SK" }).waitFor();
    // A name that is no pattern of itself.
    const { sid } = app.upstream.createKey("a+b (blue)");
    await page.reload();
    await lines.filter({ hasText: sid }).getByRole("button", { name: "Revoke" }).click();
    await page.getByLabel(`Type "${sid}"`).fill(sid);
    await press(page, "Revoke key");
    await said(page, "The key was revoked.");
  });

  it("shows hostile names as text", async () => {
    const { app, page } = await openKeys();
    for (const text of [...HOSTILE, "👩‍💻"]) app.upstream.createKey(text.slice(0, 64));
    await page.getByText(HOSTILE[0]?.slice(0, 64) ?? "", { exact: true }).waitFor();
    await page.getByText("line one line two\\u0000\\u001b[31m").waitFor();
    await page.getByText("👩‍💻", { exact: true }).waitFor();
    await page.getByText("user\\u202egpj.exe\\u202c and \\u2066isolated").waitFor();
  });
});
