// @ts-check

/** The text of the heading and of the announcement to screen readers, by state. */
const TITLES = {
  "signed-out": "Sign in",
  waiting: "Approve on your phone",
  denied: "Denied",
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
let waiting = new AbortController();

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
      return login.state === "ended" ? await refresh() : show(login);
    } catch {
      if (signal.aborted) return;
      element("waiting-text").textContent = "Connection lost, trying again";
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      element("waiting-text").textContent = "Waiting for your response";
    }
  }
}

async function refresh() {
  const response = await fetch("login", { headers: { Accept: "application/json" } });
  show(await response.json());
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

await refresh();
