import { h, replaceContent } from "./dom";
import { formatCount } from "./format";

/** A count in the navigation; it is hidden while there is nothing to count. */
export interface Badge {
  element: HTMLElement;
  show(count: number, one: string, many: string): void;
}

/** Creates a hidden badge. */
export function createBadge(): Badge {
  const element = h("span", { class: "badge", hidden: true });
  return {
    element,
    show(count, one, many) {
      element.hidden = count === 0;
      const word = h("span", { class: "word" }, ` ${count === 1 ? one : many}`);
      replaceContent(element, formatCount(count), word);
    },
  };
}
