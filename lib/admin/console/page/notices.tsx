import type { Rejections, RequestRow } from "../console-view";
import { Fold, Notice, Time, type Tone } from "./blocks";
import { formatCount, plural } from "./format";
import { Fact, Facts, Received } from "./received";
import { linkTo } from "./route";

interface Problem {
  tone: Tone;
  title: string;
  text: string;
  row: RequestRow;
}

/** What is proven comes first, and what is not explained last. */
const rank = ({ explanation }: RequestRow) => (explanation ? (explanation.isProven ? 0 : 1) : 2);

/** Notices above the list, folded into one line: mismatches by cause, and conflicts. */
export function Notices({ rows }: { rows: readonly RequestRow[] }) {
  const mismatches = Map.groupBy(
    rows.filter(({ code }) => code === "SIGNATURE_MISMATCH").toSorted((a, b) => rank(a) - rank(b)),
    ({ explanation }) => explanation && `${explanation.cause} ${explanation.subject}`,
  );
  const problems: Problem[] = [...mismatches.values()].flatMap((group) =>
    group.slice(0, 1).map((row) => ({
      tone: "bad",
      title: `${plural(group.length, "request")} of the last ${rows.length} had a wrong signature.`,
      text: row.explanation?.cause ?? "Open the request to find the cause.",
      row,
    })),
  );
  const conflicts = rows.filter(({ result }) => result === "conflict");
  if (conflicts[0] !== undefined) {
    problems.push({
      tone: "warn",
      title: `${plural(conflicts.length, "request")} reused a uuid with other content.`,
      text: "Only the first was handled.",
      row: conflicts[0],
    });
  }
  const [first] = problems;
  if (first === undefined) return null;
  if (problems.length === 1) return <ProblemNotice {...first} />;
  return (
    <Fold title={[<b>{plural(problems.length, "problem")}</b>, " ", first.title]}>
      {problems.map((problem) => (
        <ProblemNotice key={problem.text} {...problem} />
      ))}
    </Fold>
  );
}

function ProblemNotice({ tone, title, text, row }: Problem) {
  const more = <span class="unseen"> of: {text}</span>;
  const link = <a href={linkTo("requests", row.id)}>Show the request{more}</a>;
  return <Notice tone={tone} title={title} button={link} children={text} />;
}

/** The rejected requests by code, with their last senders: they tell an attack from a mistake. */
export function RejectedRequests({ rejections }: { rejections: readonly Rejections[] }) {
  if (rejections.length === 0) return null;
  return (
    <Fold title="Rejected requests by sender">
      {rejections.map(({ code, count, firstAtMs, lastAtMs, sources }) => (
        <Facts class="wide" key={code}>
          <Fact name={code}>
            {formatCount(count)}, the first <Time atMs={firstAtMs} />, the last{" "}
            <Time atMs={lastAtMs} />
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
