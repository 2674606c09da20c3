import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { escapeControls } from "../../../kit/text";
import { announce } from "./action";
import { readPublicUrl } from "./api";
import { linkToRequests } from "./route";

/**
 * Writes characters that are invisible, or that reverse the direction of the following text, as escapes.
 * Joined emoji stay whole.
 */
export function showInvisible(text: string): string {
  return text
    .replace(/[\n\t]/g, " ")
    .split("\u200d")
    .map(escapeControls)
    .join("\u200d");
}

/** A received text, whose direction is isolated. */
export function Received(props: { text: string | null | undefined; id?: string; class?: string }) {
  const { text, ...attributes } = props;
  if (!text) return <span class="muted">none</span>;
  return <bdi {...attributes}>{showInvisible(text)}</bdi>;
}

/** The facts that people paste elsewhere: each has a button that copies it. */
const COPIED = new Set(["uuid", "SID", "Account", "Factor", "Challenge", "Secret"]);

/** A list of facts: `of` has the values by their names, and `children` are more of them. */
export function Facts(props: {
  of?: Readonly<Record<string, ComponentChildren>>;
  class?: string;
  children?: ComponentChildren;
}) {
  return (
    <dl class={`facts ${props.class ?? ""}`}>
      {Object.entries(props.of ?? {}).map(([name, value]) => (
        <Fact name={name}>{value}</Fact>
      ))}
      {props.children}
    </dl>
  );
}

/** A name and its value; without a value it is left out. */
export function Fact(props: { name: ComponentChildren; children?: ComponentChildren }) {
  const { name, children } = props;
  if (children === undefined || children === false) return null;
  const isText = typeof children === "string";
  const isCopied = isText && typeof name === "string" && COPIED.has(name);
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {isText ? <Received text={children} /> : children}{" "}
        {isCopied && <CopyButton text={children} what={name} />}
      </dd>
    </>
  );
}

/** A button that copies a text, and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState("Copy");
  async function copy(): Promise<void> {
    // There is no clipboard without HTTPS.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    const isCopied = await clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    const done = isCopied ? "Copied" : "Select it and copy";
    setSaid(done);
    announce(`${done}: ${what}.`);
    setTimeout(() => setSaid("Copy"), 3_000);
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {said}
      <span class="unseen"> {what}</span>
    </button>
  );
}

/** The link to the requests with a text, such as a SID. */
export const RequestsLink = ({ q }: { q: string }) => <a href={linkToRequests({ q })}>{q}</a>;

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
  return <Facts class="mono" of={{ [label]: mark(url), publicUrl: mark(publicUrl) }} />;
}
