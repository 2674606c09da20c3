import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { announce } from "./announcer";

/**
 * Writes characters that are invisible, or that reverse the direction of what follows, as escapes.
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

/** A received text, whose direction is isolated. */
export function Received({ text, mono }: { text: string | null | undefined; mono?: boolean }) {
  if (text === null || text === undefined || text === "") return <span class="muted">none</span>;
  return <bdi class={mono === true ? "mono" : undefined}>{showInvisible(text)}</bdi>;
}

/** A name and what was received for it; without a value it is left out. */
export type Fact = readonly [name: string, value: string | undefined, canCopy?: boolean];

/** A list of facts; nothing when there are none. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== undefined);
  if (known.length === 0) return null;
  return (
    <dl class="facts">
      {known.map(([name, value, canCopy]) => [
        <dt>{name}</dt>,
        <dd>
          <Received text={value} />
          {canCopy === true && <CopyButton text={value ?? ""} what={name} />}
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
    <button type="button" class="copy" ref={button} onClick={() => void copy()}>
      {said === "" ? label : said}
      <span class="unseen"> {what}</span>
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

/** A block that stands where a list would: nothing is there, or it could not be read. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}
