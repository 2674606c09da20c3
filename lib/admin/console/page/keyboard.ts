import { place, replacePlace } from "./route";

/** Goes to the search by `/`, moves through the rows by the arrows, and closes the open one by Escape. */
export function onKey(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog") !== null)
    return;
  const isTyping =
    target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea");
  if (key === "Escape" && !isTyping && place.value.id !== undefined) {
    const toggle = document.getElementById(`request-${place.value.id}`);
    replacePlace({ id: undefined });
    toggle?.focus();
  }
  // A list has its own keys, except this one.
  const isList = target instanceof HTMLSelectElement;
  if (isTyping || (isList && key !== "/")) return;
  if (key === "/") document.querySelector<HTMLElement>("main .search")?.focus();
  else if (key !== "ArrowDown" && key !== "ArrowUp") return;
  else if (!moveFocus(key === "ArrowDown" ? 1 : -1)) return;
  event.preventDefault();
}

/** Moves the focus from row to row; returns false where there are none: the page scrolls. */
function moveFocus(step: number): boolean {
  const rows = [
    ...document.querySelectorAll<HTMLElement>("main .toggle, main .dead-letter summary"),
  ];
  const index = rows.indexOf(document.activeElement as HTMLElement);
  rows[index === -1 ? 0 : Math.min(Math.max(index + step, 0), rows.length - 1)]?.focus();
  return rows.length > 0;
}
