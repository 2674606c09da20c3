import { describeProblem } from "./api";
import { announce, h } from "./dom";

/** A button that does something at once, is disabled meanwhile, and shows a failure beside it. */
export function actionButton(
  label: string,
  run: () => Promise<string | undefined>,
  { className = "", focus = "" }: { className?: string; focus?: string } = {},
): HTMLElement {
  const problem = h("span", { class: "problem", role: "alert", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: className,
      ...(focus !== "" && { "data-focus": focus }),
      click: () => void start(),
    },
    label,
  );

  async function start(): Promise<void> {
    if (button.getAttribute("aria-disabled") === "true") return;
    // Not `disabled`: the button would lose the focus.
    button.setAttribute("aria-disabled", "true");
    problem.hidden = true;
    try {
      const done = await run();
      if (done !== undefined) announce(done);
    } catch (error) {
      problem.textContent = describeProblem(error);
      problem.hidden = false;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }

  return h("span", { class: "action" }, button, problem);
}
