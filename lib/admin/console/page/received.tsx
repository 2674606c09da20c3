import type { ComponentChildren } from "preact";
import { escapeControls } from "../../../kit/text";
import { Button } from "./action";
import { linkToRequests } from "./route";

/**
 * Writes characters that are invisible, or that reverse the direction of the following text, as escapes.
 * Joined emoji stay whole.
 */
function showInvisible(text: string): string {
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
const COPIED = new Set<unknown>(["uuid", "SID", "Account", "Factor", "Challenge", "Secret"]);

/** A name and its value in a `dl` of the class "facts"; without a value it is left out. */
export function Fact(props: { name: ComponentChildren; children?: ComponentChildren }) {
  const { name, children } = props;
  if (children === undefined || children === false) return null;
  const isText = typeof children === "string";
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {isText ? <Received text={children} /> : children}{" "}
        {isText && COPIED.has(name) && <CopyButton text={children} what={name as string} />}
      </dd>
    </>
  );
}

/** A button that copies a text. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  async function copy(): Promise<string> {
    try {
      // Without HTTPS, there is no clipboard.
      await navigator.clipboard.writeText(text);
      return `Copied: ${what}.`;
    } catch {
      return `Select and copy it yourself: ${what}.`;
    }
  }
  return <Button class="pill off" label="Copy" aria-label={`Copy ${what}`} run={copy} />;
}

/** The link to the requests with a text, such as a SID. */
export const RequestsLink = ({ q }: { q: string }) => <a href={linkToRequests({ q })}>{q}</a>;

/** A URL above the publicUrl of the receiver; the part that differs is marked. */
export function UrlDifference(props: { label: string; url: string; to: string }) {
  const { label, url, to: publicUrl } = props;
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
    <dl class="facts mono">
      <Fact name={label}>{mark(url)}</Fact>
      <Fact name="publicUrl">{mark(publicUrl)}</Fact>
    </dl>
  );
}
