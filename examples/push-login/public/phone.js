// @ts-check
// The simulated phone: its questions arrive as server-sent events.

const RESPONSES = [
  { text: "Deny", response: "deny", className: "deny" },
  { text: "Approve", response: "approve", className: "primary" },
];

/** @typedef {{ sid: string, details: { message: string, fields?: { label: string, value: string }[] } }} Question */

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
function createQuestion({ sid, details }) {
  const item = create("li", "", "question");
  item.append(create("p", "Example Bank", "app"), create("h2", details.message));
  const fields = document.createElement("dl");
  for (const { label, value } of details.fields ?? []) {
    fields.append(create("dt", label), create("dd", value));
  }
  const buttons = create("div", "", "buttons");
  for (const { text, response, className } of RESPONSES) {
    const button = create("button", text, className);
    button.addEventListener("click", () => void respond(item, sid, response));
    buttons.append(button);
  }
  item.append(fields, buttons);
  return item;
}

/**
 * @param {HTMLElement} item
 * @param {string} sid
 * @param {string} response
 */
async function respond(item, sid, response) {
  for (const button of item.querySelectorAll("button")) button.disabled = true;
  const { ok } = await fetch(`phone/challenges/${sid}/${response}`, { method: "POST" });
  const decision = response === "approve" ? "You approved the request." : "You denied the request.";
  element("phone-status").textContent = ok ? decision : "The request is no longer open.";
}

/** @param {number} count */
function countRequests(count) {
  return count === 1 ? "1 request" : `${count} requests`;
}

function showTime() {
  const now = new Date();
  element("clock").textContent = now.toLocaleTimeString("en-GB", { timeStyle: "short" });
}

const events = new EventSource("phone/events");
events.addEventListener("message", ({ data }) => {
  /** @type {{ name: string, questions: Question[] }} */
  const { name, questions } = JSON.parse(data);
  element("phone").hidden = false;
  element("phone-owner").textContent = name;
  element("questions").replaceChildren(...questions.map(createQuestion));
  if (questions.length > 0) element("phone-status").textContent = countRequests(questions.length);
  // The decision on the last request stays, once it is made.
  else if (!element("phone-status").textContent.startsWith("You ")) {
    element("phone-status").textContent = "No requests";
  }
});
showTime();
setInterval(showTime, 1_000);
