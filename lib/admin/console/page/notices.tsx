import type { ShownHistory } from "../shown-history";
import { Notice, Time } from "./blocks";
import { formatCount, formatDate, plural } from "./format";
import { queue } from "./queue-page";
import { Fact, Received } from "./received";
import { linkTo, linkToRequests } from "./route";

interface Problem {
  title: string;
  text: string;
  href: string;
}

/** Lists mismatches by cause, and attempts that fail. */
function listProblems({ causes, rows }: ShownHistory): Problem[] {
  const problems = causes.map(
    ({ explanation, count, alike, id, firstAtMs, firstBuild }): Problem => {
      const more = alike > 0 ? ` and ${formatCount(alike)} alike` : "";
      const build = firstBuild === undefined ? "" : ` in build ${firstBuild}`;
      return {
        title: `${plural(count, "request")}${more} had a wrong signature, the first at ${formatDate(firstAtMs)}${build}.`,
        text: explanation?.cause ?? "Too many arrived at once to be explained.",
        href: linkTo("requests", id),
      };
    },
  );
  const { delayed = 0 } = queue.value ?? {};
  if (delayed > 0) {
    problems.push({
      title: `${plural(delayed, "event")} failed, and will run again.`,
      text: rows.find(({ state }) => state === "failing")?.failure ?? "",
      href: linkToRequests({ state: "failing" }),
    });
  }
  return problems;
}

/** Notices above the list, folded into one line. */
export function Notices({ shown }: { shown: ShownHistory }) {
  const problems = listProblems(shown);
  const [first] = problems;
  if (first === undefined) return null;
  const notices = problems.map(({ title, text, href }) => {
    const more = <span class="unseen"> of: {text}</span>;
    const link = <a href={href}>Show the request{more}</a>;
    return (
      <Notice key={text} tone="bad" title={title} button={link}>
        <Received text={text} />
      </Notice>
    );
  });
  if (notices.length === 1) return notices;
  return (
    <details class="panel">
      <summary>
        <b>{plural(notices.length, "problem")}</b> {first.title} {first.text}
      </summary>
      {notices}
    </details>
  );
}

/** The rejected requests by code, with their last senders: they tell an attack from a mistake. */
export function RejectedRequests({ rejections }: ShownHistory["totals"]) {
  if (rejections.length === 0) return null;
  const sum = (name: "count" | "lately") => rejections.reduce((all, one) => all + one[name], 0);
  return (
    <details class="panel">
      <summary>
        {plural(sum("count"), "rejected request")} by sender, {formatCount(sum("lately"))} in the
        last 5 minutes
      </summary>
      {rejections.map(({ code, count, lately, firstAtMs, lastAtMs, sources }) => (
        <dl class="facts wide" key={code}>
          <Fact name={code}>
            {formatCount(count)}, {formatCount(lately)} in the last 5 minutes, the first{" "}
            <Time atMs={firstAtMs} />, the last <Time atMs={lastAtMs} />
          </Fact>
          {sources.map(({ address = "unknown", forwardedFor, userAgent, ...sent }) => (
            <Fact name={address}>
              {plural(sent.count, "request")}, the last <Time atMs={sent.lastAtMs} />
              {[forwardedFor, userAgent].map((text) => text && [", ", <Received text={text} />])}
            </Fact>
          ))}
        </dl>
      ))}
    </details>
  );
}
