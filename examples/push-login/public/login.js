// @ts-check

/** The text of the heading and of the announcement to screen readers, by state. */
const TITLES = {
  "signed-out": "Sign in",
  waiting: "Approve on your phone",
  denied: "Not approved",
  expired: "No response",
  unknown: "No outcome",
  "signed-in": "Welcome",
};
const RETRY_PAUSE_MS = 1_000;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const form = /** @type {HTMLFormElement} */ (element("signed-out"));

/** @typedef {{ state: string, user?: string, phoneName?: string, device?: string, number?: number, leftMs?: number, consoleUrl?: string }} LoginState */

let expiresAtMs = 0;
/** @type {ReturnType<typeof setInterval> | undefined} */
let countdown;
/** Another tab may have asked for its state just before this one was signed in. */
const tabs = new BroadcastChannel("login");
let isWaiting = false;
let waiting = new AbortController();

const pause = () => new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));

/**
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 */
function post(path, body = {}, signal) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** @param {LoginState} login */
function show(login) {
  const state = login.state in TITLES ? login.state : "signed-out";
  clearInterval(countdown);
  isWaiting = false;
  waiting.abort();
  for (const id of Object.keys(TITLES)) element(id).hidden = id !== state;
  const title = TITLES[/** @type {keyof typeof TITLES} */ (state)];
  element("title").textContent = title;
  element("status").textContent = title;
  document.title = `Example Bank: ${title.toLowerCase()}`;
  element("user").textContent = login.user ?? "";
  element("console").hidden = login.consoleUrl === undefined;
  element("console")
    .querySelector("a")
    ?.setAttribute("href", login.consoleUrl ?? "");
  if (state === "waiting") showWaiting(login);
  if (state === "signed-out") form.querySelector("input")?.focus();
  else element("title").focus();
}

/** @param {LoginState} login */
function showWaiting({ phoneName = "", device = "", number = 0, leftMs = 0 }) {
  element("phone-name").textContent = phoneName;
  element("number").textContent = String(number);
  element("device").textContent = `Sign-in with ${device}`;
  element("waiting-text").textContent = "Waiting for your response";
  expiresAtMs = Date.now() + leftMs;
  showTimeLeft();
  countdown = setInterval(showTimeLeft, 1_000);
  isWaiting = true;
  wait();
}

/** Waits for the outcome while the page is visible: browsers open six connections to an origin. */
function wait() {
  waiting.abort();
  if (!isWaiting || document.hidden) return;
  waiting = new AbortController();
  void awaitOutcome(waiting.signal);
}

function showTimeLeft() {
  const seconds = Math.max(Math.round((expiresAtMs - Date.now()) / 1_000), 0);
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  element("left").textContent = `${clock} left`;
}

/**
 * Waits until the server knows the outcome; sends the request again for each 202, and when the
 * connection is lost.
 *
 * @param {AbortSignal} signal
 */
async function awaitOutcome(signal) {
  for (;;) {
    try {
      const response = await post("login/outcome", {}, signal);
      if (response.status === 202) continue;
      if (!response.ok) throw new Error(String(response.status));
      const login = /** @type {LoginState} */ (await response.json());
      // Ended in another tab: this browser may be signed in.
      if (login.state === "ended") return await refresh();
      show(login);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no origin
      if (login.state === "signed-in") tabs.postMessage(login.state);
      return;
    } catch {
      if (signal.aborted) return;
      element("waiting-text").textContent = "Connection lost, trying again";
      await pause();
      element("waiting-text").textContent = "Waiting for your response";
    }
  }
}

/** Shows the state of this browser, as soon as the server responds with it. */
async function refresh() {
  for (;;) {
    const response = await fetch("login").catch(() => undefined);
    if (response?.ok) return show(await response.json());
    await pause();
  }
}

const FORM_ERRORS = new Map([
  [401, "User or password is wrong."],
  [409, "No phone is registered for this user."],
  [429, "Too many sign-ins wait for your phone. Answer one there, or try again in five minutes."],
]);

async function signIn() {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const error = element("form-error");
  error.textContent = "";
  button.disabled = true;
  try {
    const response = await post("login", Object.fromEntries(new FormData(form)));
    if (response.ok) {
      form.reset();
      show(await response.json());
    } else {
      error.textContent = FORM_ERRORS.get(response.status) ?? "This did not work. Try again.";
    }
  } catch {
    error.textContent = "The server cannot be reached. Try again.";
  } finally {
    button.disabled = false;
  }
}

/** @param {string} path */
async function leave(path) {
  await post(path);
  show({ state: "signed-out" });
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void signIn();
});
element("cancel").addEventListener("click", () => void leave("login/cancel"));
element("logout").addEventListener("click", () => void leave("logout"));
for (const button of document.querySelectorAll(".again")) {
  button.addEventListener("click", () => show({ state: "signed-out" }));
}

document.addEventListener("visibilitychange", wait);
tabs.addEventListener("message", () => void refresh());
void refresh();
