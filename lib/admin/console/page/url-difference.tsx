import { Facts, showInvisible } from "./received";

/** Two URLs one below the other; the part that differs is marked. */
export function UrlDifference({
  urls,
}: {
  urls: readonly (readonly [label: string, url: string])[];
}) {
  const [a = "", b = ""] = urls.map(([, url]) => url);
  const start = countCommon(a, b);
  const end = countCommon(reverse(a.slice(start)), reverse(b.slice(start)));
  return (
    <Facts
      class="mono"
      facts={urls.map(([label, url]) => [
        label,
        <bdi>
          {showInvisible(url.slice(0, start))}
          {url.length > start + end && (
            <mark>{showInvisible(url.slice(start, url.length - end))}</mark>
          )}
          {showInvisible(url.slice(url.length - end))}
        </bdi>,
      ])}
    />
  );
}

function countCommon(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

function reverse(text: string): string {
  // By UTF-16 unit, as countCommon compares.
  return text.split("").toReversed().join("");
}
