import { h, newId } from "./dom";

/** A labelled field of a form. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  const hintId = newId();
  control.id ||= newId();
  if (hint !== undefined) control.setAttribute("aria-describedby", hintId);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint !== undefined && h("p", { class: "hint", id: hintId }, hint),
  );
}

/** Radio buttons under a legend; the first is chosen unless another is given. */
export function choices(
  legend: string,
  name: string,
  options: readonly (readonly [value: string, label: string, hint?: string])[],
  chosen = options[0]?.[0],
): HTMLElement {
  return h(
    "fieldset",
    {},
    h("legend", {}, legend),
    options.map(([value, label, hint]) =>
      h(
        "label",
        { class: "choice" },
        h("input", { type: "radio", name, value, checked: value === chosen }),
        h("span", {}, label, hint !== undefined && h("small", {}, hint)),
      ),
    ),
  );
}
