import type { Rejections, ShownHistory } from "../console-view";
import { Fold, Notice, Time, type Tone } from "./blocks";
import { formatCount, formatDate, plural } from "./format";
import { queue } from "./queue-page";
import { Fact, Facts, Received } from "./received";
import { linkTo, linkToRequests } from "./route";

interface Problem {
  tone: Tone;
  title: string;
  text: string;
  href: string;
}

/** Notices above the list, folded into one line: mismatches by cause, attempts that fail, conflicts. */
export function Notices({ shown: { causes, totals, rows } }: { shown: ShownHistory }) {
  const problems: Problem[] = causes.map(
    ({ explanation, count, alike, id, firstAtMs, firstBuild }) => ({
      tone: "bad",
      title: `${plural(count, "request")}${alike > 0 ? ` and ${formatCount(alike)} alike` : ""} had a wrong signature, the first at ${formatDate(firstAtMs)}${firstBuild ? ` in build ${firstBuild}` : ""}.`,
      text: explanation?.cause ?? "Too many arrived at once to be explained.",
      href: linkTo("requests", id),
    }),
  );
  const { delayed = 0 } = queue.value ?? {};
  if (delayed > 0) {
    problems.push({
      tone: "bad",
      title: `${plural(delayed, "event")} failed, and will run again.`,
      text: rows.find(({ state }) => state === "failing")?.failure ?? "",
      href: linkToRequests({ state: "failing" }),
    });
  }
  const conflicts = totals.byResult.conflict;
  if (conflicts > 0) {
    problems.push({
      tone: "warn",
      title: `${plural(conflicts, "request")} reused a uuid with other content.`,
      text: "Only the first was handled.",
      href: linkToRequests({ state: "conflict" }),
    });
  }
  const [first] = problems;
  if (first === undefined) return null;
  if (problems.length === 1) return <ProblemNotice {...first} />;
  return (
    <Fold title={[<b>{plural(problems.length, "problem")}</b>, ` ${first.title} ${first.text}`]}>
      {problems.map((problem) => (
        <ProblemNotice key={problem.text} {...problem} />
      ))}
    </Fold>
  );
}

function ProblemNotice({ tone, title, text, href }: Problem) {
  const more = <span class="unseen"> of: {text}</span>;
  return (
    <Notice tone={tone} title={title} button={<a href={href}>Show the request{more}</a>}>
      <Received text={text} />
    </Notice>
  );
}

/** The rejected requests by code, with their last senders: they tell an attack from a mistake. */
export function RejectedRequests({ rejections }: { rejections: readonly Rejections[] }) {
  if (rejections.length === 0) return null;
  const sum = (name: "count" | "lately") => rejections.reduce((all, one) => all + one[name], 0);
  const title = `${plural(sum("count"), "rejected request")} by sender, ${formatCount(sum("lately"))} in the last 5 minutes`;
  return (
    <Fold title={title}>
      {rejections.map(({ code, count, lately, firstAtMs, lastAtMs, sources }) => (
        <Facts class="wide" key={code}>
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
        </Facts>
      ))}
    </Fold>
  );
}
