import type { Rejections } from "../console-view";
import { Time } from "./blocks";
import { plural } from "./format";
import { type Fact, Facts, Received } from "./received";

/** The rejected requests by code, with their last senders: they tell an attack from a mistake. */
export function RejectedRequests({ rejections }: { rejections: readonly Rejections[] }) {
  if (rejections.length === 0) return null;
  return (
    <details class="panel">
      <summary>Rejected requests by sender</summary>
      {rejections.map(({ code, count, firstAtMs, lastAtMs, sources }) => (
        <Facts
          key={code}
          facts={[
            [
              code,
              [
                count,
                ", the first ",
                <Time atMs={firstAtMs} />,
                ", the last ",
                <Time atMs={lastAtMs} />,
              ],
            ],
            ...sources.map(({ address, forwardedFor, userAgent, ...sent }): Fact => [
              address ?? "unknown",
              [
                plural(sent.count, "request"),
                ", the last ",
                <Time atMs={sent.lastAtMs} />,
                ...[forwardedFor, userAgent].flatMap((text) =>
                  text === undefined ? [] : [", ", <Received text={text} />],
                ),
              ],
            ]),
          ]}
        />
      ))}
    </details>
  );
}
