import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { announce } from "./action";
import { readPublicUrl } from "./api";

/**
 * Writes characters that are invisible, or that reverse the direction of the following text, as escapes.
 * Joined emoji stay whole.
 */
export function showInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\u200d" || character === "\ufe0f") return character;
    if (character === "\n" || character === "\t") return " ";
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

type Text = string | null | undefined;

/** A received text, whose direction is isolated. */
export function Received({ text, ...attributes }: { text: Text; id?: string; class?: string }) {
  return (text ?? "") === "" ? (
    <span class="muted">none</span>
  ) : (
    <bdi {...attributes}>{showInvisible(text ?? "")}</bdi>
  );
}

/** A name and its value; without a value it is left out. */
export type Fact = readonly [name: string, value: ComponentChildren, canCopy?: boolean];

/** A list of facts; nothing when there are none. */
export function Facts({ facts, class: more = "" }: { facts: readonly Fact[]; class?: string }) {
  const known = facts.filter(([, value]) => value !== undefined && value !== false);
  if (known.length === 0) return null;
  return (
    <dl class={`facts ${more}`}>
      {known.map(([name, value, canCopy = false]) => [
        <dt>{name}</dt>,
        <dd>
          {typeof value === "string" ? <Received text={value} /> : value}{" "}
          {canCopy && typeof value === "string" && <CopyButton text={value} what={name} />}
        </dd>,
      ])}
    </dl>
  );
}

/** A button that copies a text, and says so. */
export function CopyButton({
  text,
  what,
  label = "Copy",
}: Record<"text" | "what", string> & { label?: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const [said, setSaid] = useState("");
  async function copy(): Promise<void> {
    const isCopied = await writeClipboard(text, button.current);
    setSaid(isCopied ? "Copied" : "Select it and copy");
    announce(isCopied ? `Copied ${what}.` : "Copying failed: select the text and copy it.");
    setTimeout(() => setSaid(""), 3_000);
  }
  return (
    <button
      type="button"
      class={label === "Copy" ? "copy" : ""}
      ref={button}
      onClick={() => void copy()}
    >
      {said === "" ? label : said}
      {label === "Copy" && <span class="unseen"> {what}</span>}
    </button>
  );
}

async function writeClipboard(text: string, button: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard without HTTPS: an old command copies the selection.
    const area = document.createElement("textarea");
    area.value = text;
    button?.after(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    button?.focus();
    return isCopied;
  }
}

/** A URL above the publicUrl; the part that differs is marked. */
export function UrlDifference({ label, url }: { label: string; url: string }) {
  const publicUrl = readPublicUrl();
  const shorter = Math.min(url.length, publicUrl.length);
  let start = 0;
  while (start < shorter && url[start] === publicUrl[start]) start++;
  let end = 0;
  while (end < shorter - start && url.at(-1 - end) === publicUrl.at(-1 - end)) end++;
  const mark = (text: string) => (
    <bdi>
      {showInvisible(text.slice(0, start))}
      {text.length > start + end && (
        <mark>{showInvisible(text.slice(start, text.length - end))}</mark>
      )}
      {showInvisible(text.slice(text.length - end))}
    </bdi>
  );
  return (
    <Facts
      class="mono"
      facts={[
        [label, mark(url)],
        ["publicUrl", mark(publicUrl)],
      ]}
    />
  );
}
