import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import { agent, type Response } from "supertest";
import { signedRequest } from "express-push-verification/testing";
import type { WebhookRequest } from "../../lib/core/signature/signed-request";
import { npm } from "../support/npm";
import { describeNeeds } from "../support/platform";
import { countTime, until } from "../support/waiting";
import { startGroup } from "./process-group";
import { ADA, PASSWORD, STAFF_KEY, startLoginApp, type LoginApp } from "../support/login-app";

/** A browser: it keeps the cookie of the session. */
function openBrowser(url: string) {
  const browser = agent(url);
  const get = (path: string) => browser.get(path);
  // Async: supertest sends a request when it is awaited.
  const post = async (path: string, body: object = {}) => browser.post(path).send(body);
  const stateOf = async (response: PromiseLike<Response>) =>
    ((await response).body as { state: string }).state;
  return {
    get,
    post,
    signIn: () => post("/login", { user: "ada", password: PASSWORD }),
    outcome: () => stateOf(post("/login/outcome")),
    state: () => stateOf(get("/login")),
  };
}

/** Reads the questions that the simulated phone shows, the newest first. */
async function readQuestions(url: string) {
  const response = await fetch(`${url}/phone/questions`);
  type Shown = { questions: { sid: string }[] };
  return ((await response.json()) as Shown).questions;
}

describe("the login example", () => {
  let app: LoginApp;
  let url: string;

  const start = async (...times: number[]) => void ({ url } = app = await startLoginApp(...times));

  async function signIn() {
    const browser = openBrowser(url);
    await browser.signIn();
    return browser;
  }

  countTime();
  beforeEach(() => start());
  afterEach(() => app.stop());

  function untilRequests(count: number): Promise<void> {
    let received = 0;
    app.server.on("request", () => void received++);
    return until(() => received >= count);
  }

  const respondOnPhone = (response: "approve" | "deny") => {
    const answer = response === "approve" ? app.readNumber() : response;
    const path = `/phone/challenges/${app.challengeSids.at(-1)}/${answer}`;
    return fetch(url + path, { method: "POST" });
  };

  it("signs in under a new session id when the phone approves", async () => {
    const browser = openBrowser(url);
    const begun = await browser.signIn();
    const shown = { state: "waiting", phoneName: "Zoë's phone" };
    expect(begun).toMatchObject({ status: 201, body: shown });
    await respondOnPhone("approve");
    const ended = await browser.post("/login/outcome");
    expect(ended).toHaveProperty("body.state", "signed-in");
    const [before, after] = [begun, ended].map(({ headers }) => String(headers["set-cookie"]));
    const readId = (cookie = "") => /=s%3A([\w-]+)/.exec(cookie)![1];
    expect(readId(after)).not.toBe(readId(before));
    expect(await browser.state()).toBe("signed-in");
  });

  it("is not signed in again by a replay", async () => {
    const browser = await signIn();
    await respondOnPhone("approve");
    expect(await browser.outcome()).toBe("signed-in");
    await app.emulator.settled();
    const { request } = app.emulator.deliveries.at(-1)!;
    expect(await sendAgain(request)).toBe(200);
    await browser.post("/logout");
    expect(await browser.state()).toBe("signed-out");
    await browser.signIn();
    const outcome = browser.outcome();
    expect(await sendAgain(request)).toBe(200);
    await respondOnPhone("deny");
    expect(await outcome).toBe("denied");
  });

  // "approve" and "deny" with a lost webhook request, when the time of the attempt is over, and before.
  it.each<[state: string, response: "approve" | "deny" | undefined, ...times: number[]]>([
    ["signed-in", "approve", 10_000, 20_000],
    ["signed-in", "approve", 60_000, 5_000],
    ["denied", "deny", 10_000, 20_000],
    ["denied", "deny", 60_000, 5_000],
    ["expired", undefined, 60_000, 60_000],
    ["waiting", undefined, 60_000, 100],
    // The service cannot be asked.
    ["unknown", undefined, 1_500, 30_000],
  ])("responds %s after %s without a webhook request, within %i ms", async (...row) => {
    const [state, response, ...times] = row;
    await app.stop();
    await start(...times);
    await app.loseWebhooks();
    const browser = await signIn();
    const logged = jest.spyOn(console, "error").mockImplementation(() => {});
    if (state === "unknown") await app.emulator.close();
    if (response !== undefined) await respondOnPhone(response);
    const ended = browser.post("/login/outcome");
    if (state === "expired") await app.passAttempt();
    const outcome = await ended;
    logged.mockRestore();
    const status = state === "waiting" ? 202 : 200;
    expect(outcome).toMatchObject({ status, body: { state } });
    if (state !== "expired") return;
    expect(await browser.outcome()).toBe("ended");
    expect((await respondOnPhone("approve")).status).toBe(404);
    expect(await sendApproval()).toBe(403);
    expect(await browser.state()).toBe("signed-out");
  });

  it("does not sign in another browser", async () => {
    const browser = await signIn();
    const other = openBrowser(url);
    expect(await other.outcome()).toBe("ended");
    await respondOnPhone("approve");
    expect(await other.outcome()).toBe("ended");
    expect(await browser.outcome()).toBe("signed-in");
  });

  it("signs in once with two tabs of one browser", async () => {
    const browser = await signIn();
    const arrived = untilRequests(2);
    const outcomes = Promise.all([browser.outcome(), browser.outcome()]);
    await arrived;
    await respondOnPhone("approve");
    expect((await outcomes).toSorted()).toEqual(["ended", "signed-in"]);
    expect(await browser.outcome()).toBe("ended");
  });

  it("lets a user have five open logins at a time", async () => {
    const browsers = Array.from({ length: 6 }, () => openBrowser(url));
    const statuses = [];
    for (const browser of browsers) statuses.push((await browser.signIn()).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
    expect(await readQuestions(url)).toHaveLength(5);
    await browsers[0]?.post("/login/cancel");
    expect((await browsers[5]?.signIn())?.status).toBe(201);
  });

  it("is not signed in by the approval of an attempt that was cancelled", async () => {
    const browser = await signIn();
    const arrived = untilRequests(1);
    const outcome = browser.outcome();
    await arrived;
    expect((await browser.post("/login/cancel")).status).toBe(204);
    // The wait of each tab ends at once.
    expect(await outcome).toBe("ended");
    expect(await readQuestions(url)).toEqual([]);
    expect((await respondOnPhone("approve")).status).toBe(404);
    app.emulator.approveChallenge(app.challengeSids.at(-1) ?? "");
    await app.emulator.settled();
    expect(await browser.outcome()).toBe("ended");
    expect(await browser.state()).toBe("signed-out");
  });

  async function sendApproval(overrides: Record<string, string> = {}) {
    const { accountSid: account_sid, authToken, serviceSid: service_sid } = app.emulator;
    const challenge_sid = app.challengeSids.at(-1) ?? "";
    const fields = { account_sid, service_sid, challenge_sid, entity_identity: ADA, ...overrides };
    const settings = { authToken, publicUrl: app.push.publicUrl };
    return sendAgain(signedRequest(settings, "challenge.approved", fields));
  }

  async function sendAgain({ headers, body = "" }: Pick<WebhookRequest, "headers" | "body">) {
    return (await fetch(app.push.publicUrl, { method: "POST", headers, body })).status;
  }

  it.each<[string, Record<string, string>, string]>([
    ["that the phone did not give", {}, "NOT_CONFIRMED"],
    ["of another account", { account_sid: `AC${"9".repeat(32)}` }, "ACCOUNT_NOT_ALLOWED"],
  ])("goes on waiting after it rejected a signed approval %s", async (_what, overrides, code) => {
    const browser = await signIn();
    const outcome = browser.outcome();
    expect(await sendApproval(overrides)).toBe(403);
    expect(app.rejected).toEqual([code]);
    await respondOnPhone("deny");
    expect(await outcome).toBe("denied");
  });

  it.each([
    [401, { user: "eve", password: PASSWORD }],
    [400, { user: ["ada"], password: PASSWORD }],
    [400, {}],
  ])("responds %i to the login %j", async (status, body) => {
    expect(await openBrowser(url).post("/login", body)).toHaveProperty("status", status);
  });

  it("opens the admin router to staff only", async () => {
    const { get, signIn: logIn, outcome } = openBrowser(url);
    await get("/admin/push/webhooks").expect(403);
    await get("/staff?key=wrong").expect(403);
    await get(`/staff?key=${STAFF_KEY}`).expect(302);
    await get("/admin/push/webhooks").expect(200);
    // A login in another tab does not end it.
    await logIn();
    await respondOnPhone("approve");
    expect(await outcome()).toBe("signed-in");
    await get("/admin/push/webhooks").expect(200);
    const consoleUrl = `admin/push/#/requests?q=${app.challengeSids.at(-1)}%20${ADA}`;
    await get("/login").expect({ state: "signed-in", user: "ada", consoleUrl });
  });

  it("keeps staff signed in who opened the console while the login waited", async () => {
    const { get, signIn: logIn, outcome } = openBrowser(url);
    await logIn();
    const asked = untilRequests(1);
    const signedIn = outcome();
    await asked;
    await get(`/staff?key=${STAFF_KEY}`).expect(302);
    await respondOnPhone("approve");
    expect(await signedIn).toBe("signed-in");
    await get("/admin/push/webhooks").expect(200);
  });

  it("signs nobody in whose session was ended in another tab while the login waited", async () => {
    const { post, signIn: logIn, outcome, state } = openBrowser(url);
    await logIn();
    const asked = untilRequests(1);
    const ended = outcome();
    await asked;
    await post("/logout");
    await respondOnPhone("approve");
    expect(await ended).toBe("ended");
    expect(await state()).toBe("signed-out");
  });
});

describeNeeds("process groups")("npm start", () => {
  const FACTOR_TYPES = ["created", "created", "deleted", "verified", "verified"].map(
    (type) => `factor.${type}`,
  );

  it("names the variable that is missing, without a stack", () => {
    const args = ["--import", "tsx", "examples/push-login/start.ts"];
    const env = { PATH: process.env.PATH, PUSH_SERVICE_SID: "VA", PUSH_ACCOUNT_SID: "AC" };
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "PUSH_AUTH_TOKEN is not set.\n" });
  });

  async function startExample(env = {}) {
    // Without prestart: the page is built, and other tests read it.
    const command = npm("start", "--ignore-scripts").flat();
    const settings = { PORT: "0", ...env };
    const { printed, ...started } = await startGroup(command, "Ctrl-C", settings);
    const read = (pattern: RegExp) => pattern.exec(printed.stdout)?.[1] ?? "";
    const login = read(/^The login: +(\S+)/m);
    const password = read(/ password (\w+)\)/);
    const staff = read(/^The admin console: +(\S+)/m);
    const pid = Number(read(/"kill (\d+)"/));
    const handled = () => printed.stdout.match(/^handled: .*$/gm) ?? [];
    return { ...started, pid, login, password, staff, handled };
  }

  it("serves all five types of events at the addresses that it prints until Ctrl-C", async () => {
    // Those of the README are of its own example: without the others they are ignored.
    const env = { PUSH_AUTH_TOKEN: "of the README", PUSH_PUBLIC_URL: "https://example.com/" };
    const { login, password, staff, handled, kill, isRunning } = await startExample(env);
    const served = await fetch(login);
    expect(served.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    const html = await served.text();
    expect(html).toContain("<title>Example Bank");
    expect(html).not.toMatch(/https?:|style=|<script>/);
    const { hostname, origin, port } = new URL(login);
    const asStaff = openBrowser(origin);
    const shown = await asStaff.get(staff.slice(origin.length)).redirects(1);
    expect(shown).toMatchObject({ status: 200, type: "text/html" });
    const { pathname } = new URL("console/webhooks", shown.redirects[0]);
    expect(await asStaff.get(pathname)).toHaveProperty("body.findings", []);

    for (const isApproved of [true, false]) {
      const browser = openBrowser(origin);
      const begun = await browser.post("/login", { user: "ada", password });
      const { number } = begun.body as { number: number };
      const [question] = await readQuestions(origin);
      const path = `/phone/challenges/${question?.sid}/${isApproved ? number : "deny"}`;
      expect(await browser.post(path)).toHaveProperty("body", { isApproved });
      expect(await browser.outcome()).toBe(isApproved ? "signed-in" : "denied");
    }
    await until(() => handled().some((line) => line.includes("challenge.denied")));
    // A connection that a browser opened ahead of its requests.
    connect(Number(port), hostname).on("error", () => {});
    kill("SIGINT");
    await until(() => !isRunning());
    expect(handled().toSorted()).toEqual(
      ["challenge.approved", "challenge.denied", ...FACTOR_TYPES].map((type) => `handled: ${type}`),
    );
  });

  it("ends with all its processes when the printed one is killed", async () => {
    const { pid, isRunning } = await startExample();
    process.kill(pid, "SIGTERM");
    await until(() => !isRunning());
  });
});
