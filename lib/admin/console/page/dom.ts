/** What an element may contain. */
export type Child = Node | string | number | false | undefined | readonly Child[];

type Listener = (event: never) => unknown;
type Attribute = string | number | boolean | undefined | Listener;

/**
 * Creates an element. A function becomes a listener, `true` an empty attribute, and false or
 * undefined none. Texts become text nodes: nothing that was received is ever parsed as HTML.
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(key, value as EventListener);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  appendChildren(element, children);
  return element;
}

function appendChildren(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === false || child === undefined) continue;
    if (typeof child === "string" || typeof child === "number") {
      parent.appendChild(document.createTextNode(String(child)));
    } else if (child instanceof Node) parent.appendChild(child);
    else appendChildren(parent, child);
  }
}

/**
 * Replaces the content of an element. The focus stays at the element with the same `data-focus`,
 * and details with the same `data-key` stay open.
 */
export function replaceContent(parent: HTMLElement, ...children: Child[]): void {
  const { activeElement } = document;
  const focused =
    activeElement instanceof HTMLElement && parent.contains(activeElement)
      ? activeElement.dataset.focus
      : undefined;
  const open = new Set(
    [...parent.querySelectorAll<HTMLElement>("details[open]")].map(({ dataset }) => dataset.key),
  );
  const fragment = document.createDocumentFragment();
  appendChildren(fragment, children);
  parent.replaceChildren(fragment);
  for (const details of parent.querySelectorAll("details")) {
    if (open.has(details.dataset.key)) details.open = true;
  }
  if (focused === undefined) return;
  const same = [...parent.querySelectorAll<HTMLElement>("[data-focus]")];
  same.find(({ dataset }) => dataset.focus === focused)?.focus();
}

/** Finds an element of page.html. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`page.html has no #${id}`);
  return element;
}

/** Tells a screen reader what has happened. */
export function announce(text: string): void {
  const announcer = byId("announcer");
  announcer.textContent = "";
  // A text that is set in the same turn as it is emptied is not read again.
  requestAnimationFrame(() => (announcer.textContent = text));
}

/**
 * Shows a received text: characters that are invisible, or that reverse the direction of what
 * follows, are written as escapes. Joined emoji stay whole.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\u200d" || character === "\ufe0f") return character;
    if (character === "\n" || character === "\t") return " ";
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** A received text in an element that isolates its direction. */
export function received(text: string | null | undefined, className = ""): HTMLElement {
  if (text === null || text === undefined || text === "") {
    return h("span", { class: "none" }, "none");
  }
  return h("bdi", { class: className }, visible(text));
}

let lastId = 0;

/** Creates an id for a label or a description. */
export function newId(): string {
  return `id-${++lastId}`;
}
