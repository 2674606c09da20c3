import { announce, h } from "./dom";

/** A button that copies a text, and says so. */
export function copyButton(text: string, what: string): HTMLElement {
  const label = document.createTextNode("Copy");
  const button = h("button", { type: "button", click: () => void copy() });
  button.append(label, h("span", { class: "unseen" }, ` ${what}`));

  async function copy(): Promise<void> {
    const isCopied = await writeClipboard(text, button);
    label.data = isCopied ? "Copied" : "Select it and copy";
    announce(isCopied ? `Copied ${what}.` : "Copying failed: select the text and copy it.");
    setTimeout(() => (label.data = "Copy"), 3_000);
  }

  return button;
}

async function writeClipboard(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard without HTTPS: an old command copies the selection.
    const area = h("textarea", { class: "unseen", readonly: true }, text);
    button.after(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    button.focus();
    return isCopied;
  }
}
