// @ts-check
// The simulated phone: it asks for its questions every second, while its page is visible.

const REFRESH_MS = 1_000;

/** @typedef {{ sid: string, details: { message: string, fields?: { label: string, value: string }[] }, numbers: number[] }} Question */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * @param {string} name
 * @param {string} text
 * @param {string} [className]
 */
function create(name, text, className) {
  const created = document.createElement(name);
  created.textContent = text;
  if (className !== undefined) created.className = className;
  return created;
}

/** @param {Question} question */
function createQuestion({ sid, details, numbers }) {
  const item = create("li", "", "question");
  item.append(create("p", "Example Bank", "app"), create("h2", details.message));
  const fields = document.createElement("dl");
  for (const { label, value } of details.fields ?? []) {
    fields.append(create("dt", label), create("dd", value));
  }
  const buttons = create("div", "", "buttons");
  for (const response of [...numbers.map(String), "deny"]) {
    const isNumber = response !== "deny";
    const button = create("button", isNumber ? response : "Deny", isNumber ? "primary" : "deny");
    button.addEventListener("click", () => void respond(item, sid, response));
    buttons.append(button);
  }
  item.append(fields, create("p", "To sign in, choose the number on the page:"), buttons);
  return item;
}

/**
 * @param {HTMLElement} item
 * @param {string} sid
 * @param {string} response
 */
async function respond(item, sid, response) {
  for (const button of item.querySelectorAll("button")) button.disabled = true;
  const sent = await fetch(`phone/challenges/${sid}/${response}`, { method: "POST" });
  element("phone-status").textContent = sent.ok
    ? describeDecision(response, await sent.json())
    : "The request is no longer open.";
}

/**
 * @param {string} response
 * @param {{ isApproved: boolean }} decision
 */
function describeDecision(response, { isApproved }) {
  if (isApproved) return "You approved the request.";
  return response === "deny" ? "You denied the request." : "You chose another number: denied.";
}

/** @param {number} count */
function countRequests(count) {
  return count === 1 ? "1 request" : `${count} requests`;
}

function showTime() {
  const now = new Date();
  element("clock").textContent = now.toLocaleTimeString("en-GB", { timeStyle: "short" });
}

/** What is shown: buttons that somebody may be pressing are not drawn again. */
let shown = "";

async function showQuestions() {
  const response = await fetch("phone/questions");
  const text = await response.text();
  if (!response.ok || text === shown) return;
  shown = text;
  /** @type {{ name: string, questions: Question[] }} */
  const { name, questions } = JSON.parse(text);
  element("phone").hidden = false;
  element("phone-owner").textContent = name;
  element("questions").replaceChildren(...questions.map(createQuestion));
  if (questions.length > 0) element("phone-status").textContent = countRequests(questions.length);
  // The decision on the last request stays, once it is made.
  else if (!element("phone-status").textContent.startsWith("You ")) {
    element("phone-status").textContent = "No requests";
  }
}

async function run() {
  for (;;) {
    showTime();
    // With the real service there is no phone here; a failure is tried again.
    if (!document.hidden) await showQuestions().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
}

void run();
