import type { RequestRow } from "../console-view";
import { Notice, type Tone } from "./blocks";
import { plural } from "./format";
import { linkTo } from "./route";

/** Some requests with one problem. */
interface Problem {
  tone: Tone;
  title: string;
  text: string;
  /** The newest of them. */
  row: RequestRow;
}

/** Notices above the list, folded into one line: mismatches by cause, and conflicts. */
export function Notices({ rows }: { rows: readonly RequestRow[] }) {
  const mismatches = Map.groupBy(
    rows.filter(({ code }) => code === "SIGNATURE_MISMATCH"),
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
    <details class="panel">
      <summary>
        <b>{plural(problems.length, "problem")}</b> {first.title}
      </summary>
      {problems.map((problem) => (
        <ProblemNotice key={problem.text} {...problem} />
      ))}
    </details>
  );
}

function ProblemNotice({ tone, title, text, row }: Problem) {
  const link = (
    <a href={linkTo("requests", row.id)}>
      Show the request<span class="unseen"> of: {text}</span>
    </a>
  );
  return (
    <Notice tone={tone} title={title} button={link}>
      {text}
    </Notice>
  );
}
